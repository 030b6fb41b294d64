//! The page: a template, the numbers, and the certificate in words for those who cannot run the viewer.

use super::Report;
use super::certificate::{Certificate, Verdict};
use super::pack::base64;
use std::fmt::Write;

/// Where the template has its title.
const TITLE: &str = "<!--signorini:title-->";
/// Where it has what is said in words.
const WORDS: &str = "<!--signorini:words-->";
/// Where it has the numbers.
const PACK: &str = "<!--signorini:pack-->";

/// Where a page finds its numbers.
pub enum Source<'a> {
    /// In itself.
    Inside(&'a Report),
    /// On the server that it came from, under the title given here.
    Served(&'a str),
}

/// The page of a report. Without a template there is no viewer: the page then has the certificate and the plot sheet, and says what
/// is missing.
pub fn page(source: &Source, template: Option<&str>) -> String {
    let (title, words, pack) = match source {
        Source::Inside(report) => {
            let pack = base64(&report.pack);
            (
                report.title.as_str(),
                words(report),
                format!("<script type=\"application/octet-stream\" id=\"pack\">{pack}</script>"),
            )
        }
        Source::Served(title) => {
            let pack = "<script type=\"application/octet-stream\" id=\"pack\" data-served=\"yes\"></script>";
            (*title, String::new(), pack.to_owned())
        }
    };
    match template {
        Some(template) => {
            // Each once, and nothing that is put in is looked at again.
            let mut page = String::with_capacity(template.len() + words.len() + pack.len());
            let mut rest = template;
            for (place, text) in [(TITLE, escape(title)), (WORDS, words), (PACK, pack)] {
                if let Some((before, after)) = rest.split_once(place) {
                    page.push_str(before);
                    page.push_str(&text);
                    rest = after;
                }
            }
            page.push_str(rest);
            page
        }
        None => plain(title, &words, source),
    }
}

/// A page without a viewer.
fn plain(title: &str, words: &str, source: &Source) -> String {
    let sheet = match source {
        Source::Inside(Report { sheet: Some(sheet), .. }) => sheet.as_str(),
        _ => "",
    };
    // An SVG in a page has no declaration of its own.
    let sheet = sheet.find("<svg").map_or("", |start| &sheet[start..]);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <style>body{{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color-scheme:light dark}}\
         td,th{{text-align:left;vertical-align:top;padding:.2em .8em .2em 0}}svg{{max-width:100%;height:auto;background:#fff}}</style></head>\n\
         <body><p><strong>The 3D replay is not in this file:</strong> the command that made it was built without the viewer. Install \
         Node.js 20.19 or later, run <code>cargo clean -p signorini-cli</code>, build again, and make the report again with \
         <code>signorini report</code>.</p>\n{words}\n{sheet}\n</body></html>\n",
        escape(title)
    )
}

/// Title and certificate, as text that needs nothing to run.
fn words(report: &Report) -> String {
    let Certificate { lines, settings } = &report.certificate;
    let mut text = format!(
        "<h1>{}</h1>\n<h2>Certificate: {}</h2>\n<table>",
        escape(&report.title),
        name(report.certificate.verdict())
    );
    // Writing to a string cannot fail.
    for line in lines {
        let cells = [&line.what, &line.value, &name(line.verdict).to_owned(), &line.reason, &line.rule];
        let cells: String = cells.into_iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        let _ = writeln!(text, "<tr>{cells}</tr>");
    }
    text.push_str("</table>\n<h2>How it was made</h2>\n<table>");
    for (what, value) in settings {
        let _ = writeln!(text, "<tr><th>{}</th><td>{}</td></tr>", escape(what), escape(value));
    }
    text.push_str("</table>");
    text
}

/// A judgement in a word.
fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Note => "",
        Verdict::Fine => "fine",
        Verdict::Look => "look closer",
        Verdict::Wrong => "wrong",
    }
}

/// Text as text, whatever is in it.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters have no meaning in a page.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Line;

    fn report(title: &str) -> Report {
        let line = Line {
            what: "finding".into(),
            value: String::new(),
            verdict: Verdict::Look,
            reason: "body <b>x</b>".into(),
            rule: String::new(),
        };
        let certificate = Certificate { lines: vec![line], settings: Vec::new() };
        Report { title: title.into(), pack: b"foo".to_vec(), certificate, sheet: None }
    }

    #[test]
    fn markup_in_names_is_text() {
        let report = report("<script>alert(1)</script><!--signorini:pack-->");
        let template = "<title><!--signorini:title--></title><!--signorini:words--><!--signorini:pack-->";
        for page in [page(&Source::Inside(&report), Some(template)), page(&Source::Inside(&report), None)] {
            assert!(!page.contains("<script>alert") && !page.contains("<b>x"), "{page}");
            assert!(page.contains("&lt;script&gt;alert") && page.contains("&lt;b&gt;x"), "{page}");
        }
        let whole = page(&Source::Inside(&report), Some(template));
        assert_eq!(whole.matches("id=\"pack\"").count(), 1);
        assert!(whole.ends_with("id=\"pack\">Zm9v</script>"));
    }

    #[test]
    fn without_a_viewer_the_page_says_so() {
        let page = page(&Source::Inside(&report("a")), None);
        assert!(page.contains("3D replay is not in this file") && page.contains("look closer"));
    }
}
