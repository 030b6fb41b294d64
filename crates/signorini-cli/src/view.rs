//! `signorini view`: a recording, or a scene before it runs, in the browser.
//!
//! A small server for one page: on loopback only, for requests that name loopback as their host, of four addresses and nothing else. It
//! reads no path that a request names, so there is none that leads out of its folder. It stops when it is asked to: by an interrupt, or by
//! `--for` seconds.

use crate::engine;
use crate::failure::Failure;
use crate::progress::catch_interrupts;
use crate::report::fail;
use crate::source;
use crate::viewer;
use signorini::record::{CHECKPOINT, EVENTS, SUMMARY, Table, holds_run};
use signorini::report::{Report, Source, page};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// How often it is asked whether to stop.
const PAUSE: Duration = Duration::from_millis(20);
/// A browser that says nothing for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// A request for a page is shorter.
const MAX_REQUEST: u64 = 16 << 10;

/// Looks at a recording, or at a scene before it runs, in the browser.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, or a scene: a file, a folder with a scene.toml, or the name of a bundled scene.
    #[arg(value_name = "DIR|SCENE")]
    what: String,
    /// Follow a run that is being written.
    #[arg(long)]
    live: bool,
    /// Port on loopback; any free one unless given.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Do not open a browser, only say where the page is.
    #[arg(long)]
    no_browser: bool,
    /// Stop by itself after so many seconds.
    #[arg(long = "for", value_name = "SECONDS")]
    seconds: Option<f64>,
}

impl Args {
    /// Serves until it is told to stop.
    pub fn execute(self) -> Result<(), Failure> {
        if viewer::TEMPLATE.is_none() {
            let help = "install Node.js 20.19 or later, run `cargo clean -p signorini-cli` and build again";
            return Err(Failure::input("this command was built without the viewer", Some(help.to_owned())));
        }
        let folder = Path::new(&self.what);
        let subject = if folder.is_dir() && holds_run(folder) {
            Subject::Run { folder: folder.to_path_buf(), is_live: self.live }
        } else if self.live {
            return Err(Failure::input(format!("`{}` holds no run to follow", self.what), None));
        } else {
            // What cannot be found is an error; what is wrong in it is shown, because it may be mended while one looks.
            source::locate(&self.what)?;
            Subject::Scene { wanted: self.what.clone() }
        };
        let failed = |error: std::io::Error| Failure::Io(format!("cannot serve on loopback: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let address = format!("http://127.0.0.1:{port}/");
        crate::say!("{address}");
        std::io::stdout().flush().map_err(failed)?;
        if !self.no_browser {
            open_browser(&address);
        }
        let stop = catch_interrupts()?;
        let until = self
            .seconds
            .filter(|s| s.is_finite() && *s >= 0.0)
            .map(|s| Instant::now() + Duration::from_secs_f64(s.min(1e9)));
        serve(&listener, &Arc::new(Server { subject, port, kept: Mutex::new(None) }), &stop, until);
        Ok(())
    }
}

/// What is shown.
enum Subject {
    Run { folder: PathBuf, is_live: bool },
    Scene { wanted: String },
}

/// What was made of the subject when it was last looked at, and by what it is known that nothing has changed.
struct Kept {
    version: String,
    /// When it was made, and how long that took.
    made: (Instant, Duration),
    report: Result<Report, String>,
}

struct Server {
    subject: Subject,
    port: u16,
    kept: Mutex<Option<Kept>>,
}

/// Answers until it is time to stop.
fn serve(listener: &TcpListener, server: &Arc<Server>, stop: &AtomicBool, until: Option<Instant>) {
    while !stop.load(Ordering::Relaxed) && until.is_none_or(|until| Instant::now() < until) {
        match listener.accept() {
            Ok((stream, _)) => {
                let server = Arc::clone(server);
                // A browser opens several connections at once, and may leave one open without a word.
                std::thread::spawn(move || server.answer(stream));
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

impl Server {
    fn answer(&self, mut stream: TcpStream) {
        // A browser that has gone away needs no answer.
        let _ = stream.set_nonblocking(false);
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let Some(request) = Request::read(&stream) else { return };
        let (status, kind, body) = self.find(&request);
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes());
        if request.method != "HEAD" {
            let _ = stream.write_all(&body);
        }
        let _ = stream.flush();
    }

    /// Status, kind and body of an answer.
    fn find(&self, request: &Request) -> (&'static str, &'static str, Vec<u8>) {
        const TEXT: &str = "text/plain; charset=utf-8";
        let refuse = |status, words: &str| (status, TEXT, words.as_bytes().to_vec());
        // A page of another host that a name server was made to point here would name that host.
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{}", self.port));
        if !request.host.as_ref().is_some_and(|host| names.contains(host)) {
            return refuse("403 Forbidden", "This server answers pages of its own host only.\n");
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return refuse("405 Method Not Allowed", "This server only shows.\n");
        }
        match request.path.as_str() {
            "/" | "/index.html" => {
                let title = self
                    .with_report(|kept| kept.report.as_ref().map_or("signorini", |report| &report.title).to_owned());
                ("200 OK", "text/html; charset=utf-8", page(&Source::Served(&title), viewer::TEMPLATE).into_bytes())
            }
            "/state" => {
                let is_live = matches!(self.subject, Subject::Run { is_live: true, .. });
                let state = self.with_report(|kept| {
                    serde_json::json!({ "version": kept.version, "error": kept.report.as_ref().err(), "is_live": is_live })
                });
                ("200 OK", "application/json", state.to_string().into_bytes())
            }
            "/pack" => self.with_report(|kept| match &kept.report {
                Ok(report) => ("200 OK", "application/octet-stream", report.pack.clone()),
                Err(reason) => refuse("404 Not Found", reason),
            }),
            _ => refuse("404 Not Found", "There is nothing else here.\n"),
        }
    }

    /// What there is to show, made again where it has changed.
    fn with_report<T>(&self, take: impl FnOnce(&Kept) -> T) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.version();
        // A long run that is followed would be read all the time: most of the time belongs to the run.
        let is_old = |kept: &Kept| kept.version != version && kept.made.0.elapsed() > 4 * kept.made.1;
        let known = kept.take().filter(|kept| !is_old(kept));
        let now = known.unwrap_or_else(|| {
            let began = Instant::now();
            let report = self.make();
            Kept { version: version.clone(), made: (Instant::now(), began.elapsed()), report }
        });
        take(kept.insert(now))
    }

    /// Lengths and times of change of everything that is shown.
    fn version(&self) -> String {
        let files = match &self.subject {
            Subject::Run { folder, is_live: true } => watched(folder),
            Subject::Run { .. } => return "once".to_owned(),
            Subject::Scene { wanted } => source::locate(wanted).ok().flatten().into_iter().collect(),
        };
        let mut text = String::new();
        for file in files {
            let about = std::fs::metadata(&file).ok();
            let length = about.as_ref().map_or(0, std::fs::Metadata::len);
            let changed =
                about.and_then(|about| about.modified().ok()).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let _ = write!(text, "{length}@{};", changed.map_or(0, |time| time.as_nanos()));
        }
        text
    }

    fn make(&self) -> Result<Report, String> {
        match &self.subject {
            Subject::Run { folder, .. } => Report::read(folder, None).map_err(|error| words(&fail(folder, error))),
            Subject::Scene { wanted } => {
                let loaded = source::load(wanted).map_err(|failure| words(&failure))?;
                let (lines, troubles) = match engine::describe(&loaded.scene) {
                    Ok(lines) => (lines, Vec::new()),
                    Err(findings) => (Vec::new(), findings.iter().map(|finding| finding.message.clone()).collect()),
                };
                Report::of_scene(&loaded.name, &loaded.scene, &loaded.source, &lines, &troubles)
                    .map_err(|error| words(&fail(Path::new("."), error)))
            }
        }
    }
}

/// Files of a run that change while it goes on.
fn watched(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [SUMMARY, CHECKPOINT, EVENTS].iter().map(|name| folder.join(name)).collect();
    for table in Table::ALL {
        files.extend([table.stream(folder), table.parquet(folder)]);
    }
    files
}

/// A failure as text.
fn words(failure: &Failure) -> String {
    match failure {
        Failure::Input(reports) => reports.iter().map(|report| format!("{report:?}\n")).collect(),
        Failure::Unsolved(message) | Failure::Damaged(message) | Failure::Io(message) => message.clone(),
        Failure::Interrupted => "interrupted".to_owned(),
    }
}

/// The first line of a request, and the host that it names.
struct Request {
    method: String,
    path: String,
    host: Option<String>,
}

impl Request {
    /// None where it is none.
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut lines = BufReader::new(stream.take(MAX_REQUEST));
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let mut words = line.split_ascii_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
        let mut host = None;
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).ok()? == 0 || line.trim().is_empty() {
                return Some(Self { method, path, host });
            }
            if let Some((_, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("host")) {
                // Named twice, it is not clear which is meant.
                host = if host.is_none() { Some(value.trim().to_ascii_lowercase()) } else { Some(String::new()) };
            }
        }
    }
}

/// Opens the browser of the system, where there is one; the address is on the screen in any case.
fn open_browser(address: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/c", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(arguments)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
}
