//! Answers to a browser or a scraper: a few pages, one request after the other, from one thread that mostly sleeps.

use super::follow::Follower;
use super::metrics;
use crate::failure::{Failure, Result};
use bourse_report::{LIVE_SCRIPT, LIVE_STYLE, live_fragment, live_page};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Content security policy of the pages: resources of this server alone, and no inline script that a name could inject.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Longest request that is read.
const MAX_REQUEST_BYTES: usize = 8 << 10;
/// Longest time for a request to arrive.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval between looks for a connection.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time for which a page is served after the end, so that it shows it.
const SERVED_AFTER_END: Duration = Duration::from_secs(3);

/// Content that is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServedContent {
    /// Figures alone.
    Metrics,
    /// The page, and the figures too.
    Page,
}

/// Listens at an address; `what` names the content in messages.
pub(crate) fn listen(address: SocketAddr, what: &str) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| {
        Failure::usage(format!("cannot serve --{what} at {address}"))
            .detail("cause", error.to_string())
            .hint("port 0 takes one that is free, and says which")
    })
}

/// Serves until it is dropped.
pub(crate) struct MetricsServer {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    pub(crate) address: SocketAddr,
}

impl MetricsServer {
    /// Serves the figures of the run of that folder.
    pub(crate) fn of_metrics(listener: TcpListener, folder: &Path) -> Result<Self> {
        let this = Self::start(listener, folder, ServedContent::Metrics)?;
        crate::progress::note(&format!("metrics: http://{}/metrics", this.address));
        Ok(this)
    }

    /// Serves the page that follows it.
    pub(crate) fn of_page(listener: TcpListener, folder: &Path) -> Result<Self> {
        let this = Self::start(listener, folder, ServedContent::Page)?;
        crate::progress::note(&format!("page: http://{}/", this.address));
        Ok(this)
    }

    fn start(listener: TcpListener, folder: &Path, served: ServedContent) -> Result<Self> {
        let failed = |error: io::Error| Failure::usage("cannot serve the run").detail("cause", error.to_string());
        let address = listener.local_addr().map_err(failed)?;
        let mut follower = Follower::open(folder).map_err(failed)?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let work = move || {
            let mut last = None;
            while !is_over.load(Ordering::Relaxed) {
                // Once a second, with or without requests: an hour's lines at a time would be felt.
                if last.is_none_or(|at: Instant| at.elapsed() >= Duration::from_secs(1)) {
                    let _ = follower.poll();
                    last = Some(Instant::now());
                }
                match listener.accept() {
                    // A client without an answer retries.
                    Ok((stream, _)) => {
                        let _ = follower.poll();
                        let _ = answer(stream, served, &follower, address.ip());
                    }
                    Err(_) => std::thread::sleep(POLL_INTERVAL),
                }
            }
        };
        let thread = std::thread::Builder::new().name("live server".to_owned()).spawn(work).map_err(failed)?;
        Ok(Self { over, thread: Some(thread), address })
    }

    /// Serves for a moment after the end.
    pub(crate) fn linger(self) {
        std::thread::sleep(SERVED_AFTER_END);
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panic has been reported.
            let _ = thread.join();
        }
    }
}

/// Answers one request and closes.
fn answer(mut stream: TcpStream, served: ServedContent, follower: &Follower, at: IpAddr) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let begun = Instant::now();
    let mut request = Vec::new();
    let response = loop {
        if let Some(response) = response_to(&request, served, follower, at) {
            break response;
        }
        let mut part = [0; 1024];
        match stream.read(&mut part)? {
            0 => return Ok(()),
            count => request.extend(part.iter().take(count)),
        }
        if request.len() > MAX_REQUEST_BYTES || begun.elapsed() > REQUEST_TIMEOUT {
            break Response::refusal("431 Request Header Fields Too Large", "the request is too long");
        }
    };
    stream.write_all(&response.bytes())
}

/// An answer.
struct Response {
    status: &'static str,
    kind: &'static str,
    body: String,
    has_body: bool,
}

impl Response {
    fn of(kind: &'static str, body: String) -> Self {
        Self { status: "200 OK", kind, body, has_body: true }
    }

    fn refusal(status: &'static str, why: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{why}\n"), has_body: true }
    }

    fn bytes(&self) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        let body = if self.has_body { self.body.as_str() } else { "" };
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

/// The response to a request; `None` until it is complete.
fn response_to(request: &[u8], served: ServedContent, follower: &Follower, at: IpAddr) -> Option<Response> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(request) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(_)) => {}
        Err(_) => return Some(Response::refusal("400 Bad Request", "malformed request")),
    }
    let host = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"));
    let host = host.and_then(|host| std::str::from_utf8(host.value).ok()).unwrap_or_default();
    if at.is_loopback() && !is_loopback(host) {
        // A foreign name that resolves to this address: the request would come from a foreign page (DNS rebinding).
        return Some(Response::refusal("403 Forbidden", "only this machine's own names are answered to"));
    }
    let method = parsed.method.unwrap_or_default();
    if !["GET", "HEAD"].contains(&method) {
        return Some(Response::refusal("405 Method Not Allowed", "only GET and HEAD are answered to"));
    }
    let path = parsed.path.unwrap_or_default().split('?').next().unwrap_or_default();
    let response = body(path, served, follower).unwrap_or_else(|| {
        let known = match served {
            ServedContent::Metrics => "/metrics is served here",
            ServedContent::Page => "/ and /metrics are served here",
        };
        Response::refusal("404 Not Found", known)
    });
    Some(Response { has_body: method == "GET", ..response })
}

fn body(path: &str, served: ServedContent, follower: &Follower) -> Option<Response> {
    let is_page = served == ServedContent::Page;
    Some(match path {
        "/metrics" => {
            let view = follower.view();
            Response::of(metrics::CONTENT_TYPE, metrics::text(&follower.state, view.running_s))
        }
        "/" if is_page => {
            Response::of("text/html; charset=utf-8", live_page(&follower.view(), env!("CARGO_PKG_VERSION")))
        }
        "/now" if is_page => Response::of("text/html; charset=utf-8", live_fragment(&follower.view())),
        "/live.js" if is_page => Response::of("text/javascript; charset=utf-8", LIVE_SCRIPT.to_owned()),
        "/live.css" if is_page => Response::of("text/css; charset=utf-8", LIVE_STYLE.to_owned()),
        _ => return None,
    })
}

/// Whether a request's host is a loopback name of this machine.
fn is_loopback(host: &str) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let name = host
        .rsplit_once(':')
        .map_or(host, |(name, port)| if port.chars().all(|digit| digit.is_ascii_digit()) { name } else { host });
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::line::{EventLine, FILE};
    use crate::live::state::tests::run;
    use std::net::Ipv4Addr;

    fn follower() -> Follower {
        let folder = tempfile::tempdir().unwrap();
        let line = serde_json::to_string(&EventLine { at_s: 1.0, event: run() }).unwrap();
        std::fs::write(folder.path().join(FILE), format!("{line}\n")).unwrap();
        let mut follower = Follower::open(folder.path()).unwrap();
        assert!(follower.poll().unwrap());
        follower
    }

    fn answered(request: &str, served: ServedContent) -> Option<(String, String)> {
        let response = response_to(request.as_bytes(), served, &follower(), IpAddr::V4(Ipv4Addr::LOCALHOST))?;
        let text = String::from_utf8(response.bytes()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Some((head.to_owned(), body.to_owned()))
    }

    fn get(path: &str, served: ServedContent) -> (String, String) {
        answered(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"), served).unwrap()
    }

    #[test]
    fn what_is_served_is_answered_and_nothing_else() {
        for (path, kind, said) in [
            ("/", "text/html", "<main id=\"now\">"),
            ("/now", "text/html", "micro-point-read"),
            ("/live.js?x", "text/javascript", "fetch"),
            ("/live.css", "text/css", "--paper"),
            ("/metrics", "text/plain; version=0.0.4", "bourse_info{"),
        ] {
            let (head, body) = get(path, ServedContent::Page);
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(kind), "{path}: {head}");
            assert!(head.contains("Content-Security-Policy: default-src 'none'; script-src 'self';"), "{head}");
            assert!(
                head.contains(&format!("Content-Length: {}\r\n", body.len())) && body.contains(said),
                "{path}: {body}"
            );
        }
        assert!(get("/metrics", ServedContent::Metrics).0.starts_with("HTTP/1.1 200 OK"));
        for path in ["/", "/now", "/live.js", "/../live.ndjson", "//metrics"] {
            let (head, body) = get(path, ServedContent::Metrics);
            assert!(
                head.starts_with("HTTP/1.1 404 Not Found") && body == "/metrics is served here\n",
                "{path}: {head}"
            );
        }
    }

    #[test]
    fn other_requests_are_refused() {
        let answer = |request: &str| answered(request, ServedContent::Page).map(|(head, _)| head[9..12].to_owned());
        assert_eq!(answer("GET / HTTP/1.1\r\nHost: localhost\r\n"), None, "it is not whole");
        assert_eq!(answer("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n").as_deref(), Some("405"));
        assert_eq!(answer("\u{1}\u{2}\r\n\r\n").as_deref(), Some("400"));
        assert_eq!(answer("GET / HTTP/1.1\r\nHost: elsewhere.example:80\r\n\r\n").as_deref(), Some("403"));
        assert_eq!(answer("GET / HTTP/1.0\r\n\r\n").as_deref(), Some("403"));
        let (head, body) = answered("HEAD /metrics HTTP/1.1\r\nhost: [::1]:9\r\n\r\n", ServedContent::Page).unwrap();
        assert!(head.starts_with("HTTP/1.1 200") && !head.contains("Content-Length: 0\r\n") && body.is_empty());
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:80"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "elsewhere", "localhost.elsewhere:80", "10.0.0.1", "10.0.0.1:80", "[::2]:80", "127.0.0.1.example"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
