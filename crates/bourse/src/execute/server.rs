//! The application server of a case that is served: a child process, ended with the round.

use super::child::{Request, reader, start, tell};
use crate::args::Database;
use crate::failure::{Exit, Failure};
use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A server that runs.
pub(super) struct Server {
    child: Child,
    /// Address of the server, as a target.
    pub(super) address: String,
}

impl Server {
    /// Starts a server of a database, which it loads if necessary.
    pub(super) fn start(target: &str, database: &Database, interrupted: &AtomicBool) -> Result<Self, Failure> {
        let lost = |why: String| Failure::new(Exit::Target, format!("the application server did not start: {why}"));
        let (mut child, mut stdin) = start().map_err(lost)?;
        let (stdout, stderr) = (child.stdout.take(), reader(child.stderr.take()));
        let mut server = Self { child, address: String::new() };
        let request = Request::Serve { target: target.to_owned(), database: database.clone() };
        tell(&mut stdin, &request).map_err(lost)?;
        drop(stdin);
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout.expect("it was asked for")).lines();
            while let Some(Ok(line)) = lines.next() {
                // The receiver is gone once the address is known.
                let _ = sender.send(line);
            }
        });
        // The address comes after the database is loaded, which may take minutes.
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => {
                    let answer: Result<String, Failure> =
                        serde_json::from_str(&line).map_err(|error| lost(format!("it says {line:?}: {error}")))?;
                    server.address = answer?;
                    return Ok(server);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if interrupted.load(Ordering::Relaxed) {
                        return Err(lost("interrupted".to_owned()));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    server.end();
                    let words = stderr.join().expect("reading does not panic");
                    let words = words.trim();
                    return Err(lost(if words.is_empty() { "it ended without a word" } else { words }.to_owned()));
                }
            }
        }
    }

    /// Requests its end, and kills it if it does not end.
    fn end(&mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        // A signal to a process that has ended does no harm.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
