//! Pages in a browser: moving parts, the state in the address, copying and saving; and that no network request is made.
//!
//! Chromium is driven over a pipe by its DevTools protocol. Where there is none the tests are skipped by name.

use crate::fixture;
use crate::html::{pages, ten_cases};
use bourse_report::html;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longest wait for an answer, on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Program of a browser: the one in `BOURSE_CHROMIUM`, or one with a usual name.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("BOURSE_CHROMIUM").map(PathBuf::from);
    let usual = || {
        let folders = std::env::var_os("PATH")?;
        let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
        std::env::split_paths(&folders)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.exists())
    };
    named.or_else(usual)
}

/// A page in a browser of its own.
struct Browser {
    process: Child,
    input: File,
    output: Receiver<Value>,
    session: Option<String>,
    sent: u64,
    events: Vec<Value>,
    folder: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Browser {
    /// Starts a browser; `None` if there is none, and reports the test as skipped.
    fn start(test: &str) -> Option<Self> {
        let Some(program) = program() else {
            bourse_testkit::skipped(test, "there is no Chromium; BOURSE_CHROMIUM may name one");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder can be made");
        let [input, output] = ["in", "out"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args([&input, &output]).status().expect("mkfifo can be started");
        assert!(made.success(), "pipes can be made");
        let process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<in 4>out"#])
            .arg(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--user-data-dir=profile"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be started");
        // Opened for both directions, so that neither waits for the other end.
        let open = |path: &Path| OpenOptions::new().read(true).write(true).open(path).expect("a pipe can be opened");
        let (input, from) = (open(&input), open(&output));
        let (sender, output) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(from).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self { process, input, output, session: None, sent: 0, events: Vec::new(), folder };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(1280, 2400);
        Some(browser)
    }

    fn receive(&mut self) -> Value {
        self.output.recv_timeout(ANSWER_TIMEOUT).expect("the browser answers")
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.receive();
            if answer["id"] == json!(self.sent) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Loads a page at a fragment.
    fn open(&mut self, page: &str, fragment: &str) {
        let path = self.folder.path().join("page.html");
        std::fs::write(&path, page).expect("a page can be written");
        let address = format!("file://{}", path.display());
        // Another fragment alone would not load it anew.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("{address}{fragment}") }));
        self.wait_for("location.protocol === 'file:' && document.readyState === 'complete'");
        // The browser drops input that arrives before the page's first frame, which is late where the browser starts cold.
        self.value("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))");
    }

    /// The value of an expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn wait_for(&mut self, condition: &str) {
        let began = Instant::now();
        while self.value(condition) != json!(true) {
            let errors = self.complaints();
            assert!(began.elapsed() < ANSWER_TIMEOUT && errors.is_empty(), "{condition}: {errors:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A point of an element, by parts of its width and height.
    fn point(&mut self, element: &str, (across, down): (f64, f64)) -> (f64, f64) {
        let place = self.value(&format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{ block: 'center', behavior: 'instant' }}); const b = e.getBoundingClientRect(); \
             return [b.left + b.width * {across}, b.top + b.height * {down}]; }})()"
        ));
        (place[0].as_f64().expect("a place"), place[1].as_f64().expect("a place"))
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), clicks: u32) {
        let (button, buttons) = if kind == "mouseMoved" && clicks == 0 { ("none", 0) } else { ("left", 1) };
        let params =
            json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", params);
    }

    fn click(&mut self, element: &str) {
        let place = self.point(element, (0.5, 0.5));
        self.mouse("mousePressed", place, 1);
        self.mouse("mouseReleased", place, 1);
    }

    fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// Errors of the browser, and every request but that for the page.
    fn complaints(&mut self) -> Vec<String> {
        let page = format!("file://{}", self.folder.path().join("page.html").display());
        let is_complaint = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Log.entryAdded" => true,
            "Runtime.consoleAPICalled" => true,
            "Network.requestWillBeSent" => {
                let address = event["params"]["request"]["url"].as_str().unwrap_or_default();
                !address.starts_with(&page) && address != "about:blank"
            }
            _ => false,
        };
        self.events.iter().filter(is_complaint).map(Value::to_string).collect()
    }
}

/// The live chart of a key.
fn chart(key: &str) -> String {
    format!("document.querySelector('.is-live[data-chart=\"{key}\"]')")
}

#[test]
fn charts_move_and_the_address_keeps_how() {
    let Some(mut browser) = Browser::start("charts_move_and_the_address_keeps_how") else { return };
    let page = html(&fixture::normal());
    browser.open(&page, "");
    let response = chart("response");
    browser.wait_for(&format!("!!{} && !!{response}", chart("throughput")));

    // The crosshair is at the same second in every chart over time.
    let plot = format!("{response}.querySelector('.panel-head + svg')");
    let middle = browser.point(&plot, (0.5, 0.5));
    browser.mouse("mouseMoved", middle, 0);
    browser.wait_for(&format!("{response}.querySelector('.at').textContent.startsWith('at ')"));
    let at = browser.text(&format!("{response}.querySelector('.at').textContent"));
    assert_eq!(browser.text(&format!("{}.querySelector('.at').textContent", chart("throughput"))), at);
    let value = browser.text(&format!("{response}.querySelector('[data-curve$=\".0.3\"] .value').textContent"));
    assert!(value.ends_with(" µs"), "the median is shown with its unit: {value}");

    // A zoom applies to all of them, and is stored in the address.
    let ticks = |of: &str| format!("[...{of}.querySelectorAll('.tick')].map((tick) => tick.textContent).join()");
    let whole = browser.text(&ticks(&chart("throughput")));
    let [from, to] = [0.4, 0.6].map(|across| browser.point(&plot, (across, 0.5)));
    browser.mouse("mouseMoved", from, 0);
    browser.mouse("mousePressed", from, 1);
    browser.mouse("mouseMoved", to, 1);
    browser.mouse("mouseReleased", to, 1);
    browser.wait_for("location.hash.includes('zoom=')");
    assert_ne!(browser.text(&ticks(&chart("throughput"))), whole);
    let zoomed = browser.text("location.hash");

    // A curve is left out, and another axis taken.
    let paths = format!("{response}.querySelectorAll('.live path.curve').length");
    assert_eq!(browser.value(&paths), json!(4));
    browser.click(&format!("{response}.querySelector('.key')"));
    browser.wait_for(&format!("{paths} === 3 && location.hash.includes('off=')"));
    browser.click(&format!("{response}.querySelector('.flip')"));
    browser.wait_for(&format!(
        "{response}.querySelector('.flip').textContent === 'Log axis' && location.hash.includes('axis=')"
    ));

    // The address brings all of it back.
    let fragment = browser.text("location.hash");
    assert!(fragment.starts_with(&zoomed), "{fragment} {zoomed}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.open(&page, &fragment);
    browser.wait_for(&format!("!!{response} && {paths} === 3"));
    assert_eq!(browser.text(&format!("{response}.querySelector('.flip').textContent")), "Log axis");
    assert_ne!(browser.text(&ticks(&chart("throughput"))), whole);
    browser.click(&format!("{response}.querySelector('.all')"));
    browser.wait_for("!location.hash.includes('zoom=')");
    assert_eq!(browser.text(&ticks(&chart("throughput"))), whole);

    // Keys alone.
    browser.value(&format!("{plot}.focus()"));
    browser.key("ArrowRight");
    let first = browser.text(&format!("{response}.querySelector('.at').textContent"));
    browser.key("ArrowRight");
    browser.key("ArrowRight");
    let second = browser.text(&format!("{response}.querySelector('.at').textContent"));
    assert!(first.starts_with("at ") && second.starts_with("at ") && first != second, "{first} {second}");
    browser.key("+");
    browser.wait_for("location.hash.includes('zoom=')");
    browser.key("0");
    browser.wait_for("!location.hash.includes('zoom=')");

    // The data behind a chart: a row for each second.
    browser.click(&format!("{response}.querySelector('.data')"));
    assert_eq!(browser.value(&format!("{response}.querySelectorAll('.behind tbody tr').length")), json!(42));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_page_gives_its_run_its_command_and_its_answer() {
    let Some(mut browser) = Browser::start("a_page_gives_its_run_its_command_and_its_answer") else { return };
    let file = fixture::normal();
    browser.open(&html(&file), "");
    browser.value(
        "(() => { globalThis.taken = []; \
         Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { taken.push(text); } } }); \
         const make = URL.createObjectURL; \
         URL.createObjectURL = (blob) => { blob.text().then((text) => taken.push(text)); return '#'; }; \
         HTMLAnchorElement.prototype.click = function () { taken.push(this.download); }; })()",
    );
    for (words, count) in [("Copy as Markdown", 1), ("Copy command", 2), ("Download run.json", 4)] {
        browser.click(&format!("[...document.querySelectorAll('button')].find((it) => it.textContent === '{words}')"));
        browser.wait_for(&format!("taken.length === {count}"));
    }
    let taken = browser.value("taken");
    let taken: Vec<&str> = taken.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(taken[0].starts_with("# Bourse: tpce") && taken[0].contains("| Trade-Result |"), "{}", taken[0]);
    assert_eq!(taken[1], "bourse tpce run 'sqlite:bourse-data/tpce.db?journal=wal&sync=full' --users 2");
    assert!(taken.contains(&"run.json"));
    let run = taken[2..].iter().find(|text| text.starts_with('{')).expect("the run is saved");
    assert_eq!(serde_json::from_str::<Value>(run).expect("it is JSON"), json!(file));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Opens every page in a window of that width.
fn open_every_page(test: &str, width: u32) {
    let Some(mut browser) = Browser::start(test) else { return };
    browser.size(width, 2400);
    let ten_cases = ("ten cases".to_owned(), html(&ten_cases()));
    for (name, page) in pages().iter().chain([&ten_cases]) {
        browser.open(page, "#again");
        if page.contains("class=\"plot\"") {
            browser.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
            browser.value("document.querySelector('script.plot').parentElement.scrollIntoView()");
            browser.wait_for("!!document.querySelector('.is-live path.curve, .is-live circle.dot')");
        }
        // Nothing but a table that can be moved is wider than the window.
        let wide = browser.value("document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(wide, json!(true), "{name} at {width}");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{name} at {width}");
    }
}

#[test]
fn every_page_opens_in_a_wide_window_without_a_complaint() {
    open_every_page("every_page_opens_in_a_wide_window_without_a_complaint", 1280);
}

#[test]
fn every_page_opens_in_a_narrow_window_without_a_complaint() {
    open_every_page("every_page_opens_in_a_narrow_window_without_a_complaint", 400);
}
