//! Reports, the server that shows them, figures, and glTF.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::record::{Recording, Table};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SIGNORINI: &str = env!("CARGO_BIN_EXE_signorini");

const SCENE: &str = r#"title = "A ball <b>that</b> falls"
gravity = [0.0, 0.0, -9.81]

[time]
end = 0.5
step = 0.005

[[body]]
name = "ground"
shape = [{ kind = "half-space" }]

[[body]]
name = "ball"
mass = 2.0
position = [1.0, 2.0, 0.6]
shape = [{ kind = "sphere", radius = 0.5 }]
"#;

struct Scratch(PathBuf);

impl Scratch {
    /// With a scene that has been run.
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("signorini-report-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("ball.toml"), SCENE).unwrap();
        let scratch = Self(path);
        expect(&scratch.signorini(&["run", "ball.toml", "--quiet", "--no-plot"]), 0, "");
        scratch
    }

    fn signorini(&self, arguments: &[&str]) -> Output {
        Command::new(SIGNORINI).args(arguments).current_dir(&self.0).output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn expect(output: &Output, code: i32, message: &str) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    let flat = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(flat.contains(message), "no `{message}` in:\n{text}");
}

#[test]
fn a_run_leaves_a_page() {
    let scratch = Scratch::new();
    let page = fs::read_to_string(scratch.path("out/ball/report.html")).unwrap();
    assert!(page.contains("A ball &lt;b&gt;that&lt;/b&gt; falls") && !page.contains("<b>that"));
    assert!(page.contains("signorini run ball.toml --quiet --no-plot"), "the line that made it");
    assert!(page.contains("Certificate"));
    // Either the viewer with its numbers, or a word about how to get it.
    assert!(page.contains("id=\"pack\">U0lHTlZJRVcB") || page.contains("3D replay is not in this file"));
    assert!(!page.contains("http://") || page.contains("id=\"pack\""), "nothing is fetched");

    expect(&scratch.signorini(&["run", "ball.toml", "--out", "quiet", "--quiet", "--no-report"]), 0, "");
    assert!(!scratch.path("quiet/report.html").exists());
    expect(&scratch.signorini(&["report", "quiet", "--out", "page.html"]), 0, "written to page.html");
    assert!(scratch.path("page.html").is_file());
}

#[test]
fn what_cannot_be_read_is_named() {
    let scratch = Scratch::new();
    expect(&scratch.signorini(&["report", "nowhere"]), 2, "nowhere is not a folder");
    fs::create_dir(scratch.path("empty")).unwrap();
    expect(&scratch.signorini(&["report", "empty"]), 3, "trajectory.parquet");
    let folder = scratch.path("out/ball");
    for name in ["trajectory.parquet", "steps.parquet", "contacts.parquet", "summary.json", "scene.toml"] {
        let whole = fs::read(folder.join(name)).unwrap();
        fs::write(folder.join(name), &whole[..whole.len() / 2]).unwrap();
        let output = scratch.signorini(&["report", "out/ball"]);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{name}: {output:?}");
        assert!(!output.stderr.is_empty(), "{name}");
        fs::write(folder.join(name), whole).unwrap();
    }
    expect(&scratch.signorini(&["report", "out/ball"]), 0, "written");
}

struct Served(Child, u16);

impl Served {
    fn start(scratch: &Scratch, what: &str) -> Option<Self> {
        let mut child = Command::new(SIGNORINI)
            .args(["view", what, "--no-browser", "--for", "60"])
            .current_dir(&scratch.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            assert!(said.contains("built without the viewer"), "{said}");
            eprintln!("SKIPPED: the command was built without the viewer");
            let _ = child.wait();
            return None;
        }
        let port = line.trim().trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        Some(Self(child, port))
    }

    /// The answer to a request, as bytes.
    fn ask(&self, method: &str, path: &str, host: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        String::from_utf8_lossy(&self.ask("GET", path, &format!("127.0.0.1:{}", self.1))).into_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_server_answers_its_own_host_and_four_addresses() {
    let scratch = Scratch::new();
    let Some(mut server) = Served::start(&scratch, "out/ball") else { return };
    let own = format!("localhost:{}", server.1);
    assert!(server.get("/").starts_with("HTTP/1.1 200") && server.get("/").contains("data-served"));
    assert!(server.get("/state").contains("\"error\":null"));
    assert!(server.get("/pack").contains("SIGNVIEW"));
    // Other hosts that were made to point here, and none at all.
    for host in ["evil.example", &format!("evil.example:{}", server.1), "127.0.0.1", "", "127.0.0.1:1"] {
        let answer = String::from_utf8_lossy(&server.ask("GET", "/pack", host)).into_owned();
        assert!(answer.starts_with("HTTP/1.1 403") && !answer.contains("SIGNVIEW"), "{host}: {answer}");
    }
    for path in [
        "/../summary.json",
        "/summary.json",
        "//etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/pack/../../x",
        "/scene.toml",
        "pack",
    ] {
        assert!(server.get(path).starts_with("HTTP/1.1 404"), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        assert!(String::from_utf8_lossy(&server.ask(method, "/pack", &own)).starts_with("HTTP/1.1 405"), "{method}");
    }
    // What is no request at all does no harm.
    for junk in [&b"\r\n\r\n"[..], b"\xff\xfe\0\0", b"GET"] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.1)).unwrap();
        stream.write_all(junk).unwrap();
        drop(stream);
    }
    assert!(server.get("/state").starts_with("HTTP/1.1 200"));
    #[cfg(unix)]
    {
        let asked = Command::new("kill").args(["-INT", &server.0.id().to_string()]).status().unwrap();
        assert!(asked.success());
        let until = Instant::now() + Duration::from_secs(20);
        while server.0.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it does not stop when it is asked to");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(server.0.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_scene_is_followed() {
    let scratch = Scratch::new();
    let Some(server) = Served::start(&scratch, "ball.toml") else { return };
    let before = server.get("/state");
    assert!(before.contains("\"error\":null"), "{before}");
    let wait_for = |word: &str| {
        let until = Instant::now() + Duration::from_secs(20);
        while !server.get("/state").contains(word) {
            assert!(Instant::now() < until, "never {word}: {}", server.get("/state"));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    fs::write(scratch.path("ball.toml"), "title = 3").unwrap();
    wait_for("title");
    fs::write(scratch.path("ball.toml"), SCENE.replace("0.6]", "0.4]")).unwrap();
    wait_for("\"error\":null");
    assert_ne!(server.get("/state"), before);
    expect(&scratch.signorini(&["view", "no-such-scene", "--no-browser"]), 2, "no bundled scene");
}

#[test]
fn figures_are_drawn() {
    let scratch = Scratch::new();
    let plot = |words: &[&str]| scratch.signorini(&[&["plot", "out/ball"], words].concat());
    expect(&plot(&["--y", "ball.?", "--y", "energy", "--out", "fig.svg"]), 0, "written to fig.svg");
    let svg = fs::read_to_string(scratch.path("fig.svg")).unwrap();
    assert!(
        svg.starts_with("<svg")
            && svg.contains("ball.z")
            && svg.contains("kinetic")
            && svg.contains("width=\"800\" height=\"560\"")
    );
    expect(&plot(&["--y", "ball.z", "--from", "0.1", "--to", "0.2", "--log", "--out", "log.svg"]), 0, "written");
    expect(&plot(&["--y", "bal.z", "--out", "fig.svg"]), 2, "did you mean `ball.z`");
    expect(&plot(&["--y", "*", "--out", "fig.svg"]), 2, "at most 12");
    expect(&plot(&["--y", "ball.z", "--out", "fig.pdf"]), 2, ".svg or .png");
    expect(&plot(&["--y", "ball.z", "--from", "7", "--out", "fig.svg"]), 2, "nothing was recorded");
    expect(&plot(&["--y", "ball.z", "--width", "5", "--out", "fig.svg"]), 2, "200 to 8000");
    expect(&plot(&["--y", "ball.z", "--out", "fig.png", "--font", "ball.toml"]), 2, "not a TrueType font");
    let output = plot(&["--y", "ball.z", "--out", "fig.png", "--width", "300", "--height", "200"]);
    if output.status.code() == Some(2) {
        expect(&output, 2, "a PNG needs a font");
        eprintln!("SKIPPED: no font on this machine");
        return;
    }
    expect(&output, 0, "written to fig.png");
    let png = fs::read(scratch.path("fig.png")).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!((&png[16..20], &png[20..24]), (&600u32.to_be_bytes()[..], &400u32.to_be_bytes()[..]));
}

/// Numbers of an accessor of a binary glTF file.
fn floats(words: &serde_json::Value, bytes: &[u8], accessor: usize) -> Vec<f32> {
    let accessor = &words["accessors"][accessor];
    let view = &words["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let begin = view["byteOffset"].as_u64().unwrap() as usize;
    let length = view["byteLength"].as_u64().unwrap() as usize;
    bytes[begin..begin + length].chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn gltf_has_the_recorded_motion() {
    let scratch = Scratch::new();
    expect(&scratch.signorini(&["report", "out/ball", "--gltf"]), 0, "motion.glb");
    let file = fs::read(scratch.path("out/ball/motion.glb")).unwrap();
    let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&file[..4], number(4), number(8)), (&b"glTF"[..], 2, file.len()));
    let length = number(12);
    let words: serde_json::Value = serde_json::from_slice(&file[20..20 + length]).unwrap();
    let bytes = &file[28 + length..];
    let nodes = words["nodes"].as_array().unwrap();
    let ball = nodes.iter().position(|node| node["name"] == "ball").unwrap();
    let animation = &words["animations"][0];
    let channels = animation["channels"].as_array().unwrap();
    let channel =
        channels.iter().find(|c| c["target"]["node"] == ball && c["target"]["path"] == "translation").unwrap();
    let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
    let at = |key: &str| floats(&words, bytes, sampler[key].as_u64().unwrap() as usize);
    let (times, places) = (at("input"), at("output"));
    let recording = Recording::open(Path::new(&scratch.path("out/ball"))).unwrap();
    let recorded = recording.columns(Table::Trajectory, &["t", "ball.x", "ball.y", "ball.z"]).unwrap();
    assert_eq!(times.len(), recorded[0].len());
    for row in 0..times.len() {
        assert_eq!(times[row], recorded[0][row] as f32);
        for axis in 0..3 {
            assert_eq!(places[3 * row + axis], recorded[axis + 1][row] as f32);
        }
    }
}
