//! What a run leaves behind: tables, certificate, checkpoint.
