//! One round in a process of its own, so that its memory and its engine are its own: told by a line of JSON on stdin,
//! answers with one on stdout.

use crate::failure::{Exit, Failure};
use crate::tpce::database::{engine_failure, refuse_foreign, refused};
use crate::{engines, interrupt, output};
use bourse_driver::RealClock;
use bourse_engine::{Engine, EngineError, ErrorKind};
use bourse_micro::{Timing, find, run_round};
use bourse_record::Round;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a round is to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) workload: String,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) target: String,
    pub(crate) warm_up_ns: u64,
    pub(crate) measure_ns: Option<u64>,
    pub(crate) count: Option<u64>,
    pub(crate) seed: u64,
}

/// What it came to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) round: Round,
    pub(crate) engine: bourse_record::Engine,
    /// What the engine's description warns of.
    pub(crate) warnings: Vec<String>,
    pub(crate) interrupted: bool,
    pub(crate) fault: Option<String>,
}

/// `bourse micro one-round`: reads an order, runs it, answers.
pub(crate) fn serve() -> Result<(), Failure> {
    let mut line = String::new();
    let order: Order = std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&line).map_err(|error| error.to_string()))
        .map_err(|error| Failure::usage(format!("this command is for `bourse micro run` alone: {error}")))?;
    // Whoever gave the order may be killed: nothing of ours is to go on running.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
        .map_err(|error| Failure::usage(format!("the system refuses a signal for the parent's end: {error}")))?;
    let interrupted = interrupt::flag()?;
    let engine = engines::open(&order.target)?;
    let case = find(&order.workload)
        .and_then(|spec| spec.plan(order.options.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let timing = Timing { warm_up_ns: order.warm_up_ns, measure_ns: order.measure_ns, count: order.count };
    let target = &order.target;
    let failed = |cause: String| {
        Failure::new(Exit::Target, format!("{} on {target} could not be run", order.workload)).detail("cause", cause)
    };
    let clock = RealClock::start();
    // This is what starts a server of ours. One that does not come up ends the round: asked again, it would be started
    // again.
    let stopped = |error: EngineError| match error.kind() {
        ErrorKind::Refused => engine_failure(target, &error),
        _ => failed(error.to_string()),
    };
    // Asked for its description, an engine would open what is not ours.
    refuse_foreign(target, engine.as_ref())?;
    let told = described(engine.as_ref()).map_err(stopped)?;
    let result =
        run_round(&case, engine.as_ref(), &timing, order.seed, &clock, &interrupted, &mut |_| {}).map_err(|error| {
            match error {
                bourse_micro::MicroError::Foreign => refused(target, &error.to_string()),
                bourse_micro::MicroError::Engine { error, .. } if error.kind() == ErrorKind::Refused => {
                    refused(target, error.message())
                }
                bourse_micro::MicroError::Fault(bourse_driver::Fault::Interrupted) => {
                    interrupt::interrupted("nothing was measured")
                }
                other => failed(other.to_string()),
            }
        })?;
    // An engine that was lost on the way tells nothing any more; what was measured is kept all the same.
    let (described, warnings) = described(engine.as_ref()).unwrap_or(told);
    let answer = Answer {
        round: result.round,
        engine: described,
        warnings,
        interrupted: result.interrupted,
        fault: result.fault.map(|fault| fault.to_string()),
    };
    let text = serde_json::to_string(&answer).map_err(|error| failed(error.to_string()))?;
    output::print(&format!("{text}\n"))
}

fn described(engine: &dyn Engine) -> Result<(bourse_record::Engine, Vec<String>), bourse_engine::EngineError> {
    let mut description = engine.description()?;
    let warnings = std::mem::take(&mut description.warnings);
    Ok((bourse_driver::described(description), warnings))
}

/// Has an order run by a process of its own, which tells of its troubles on our stderr.
pub(crate) fn run(order: &Order, interrupted: &AtomicBool) -> Result<Answer, Failure> {
    run_as(order, interrupted, false)
}

/// The same, with its troubles in the failure alone.
pub(crate) fn run_quietly(order: &Order, interrupted: &AtomicBool) -> Result<Answer, Failure> {
    run_as(order, interrupted, true)
}

fn run_as(order: &Order, interrupted: &AtomicBool, quietly: bool) -> Result<Answer, Failure> {
    let trouble = |cause: String| {
        Failure::new(Exit::Target, format!("a round of {} on {} was lost", order.workload, order.target))
            .detail("cause", cause)
    };
    let program = std::env::current_exe().map_err(|error| trouble(error.to_string()))?;
    let mut child = Command::new(program)
        .args(["micro", "one-round"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(if quietly { Stdio::piped() } else { Stdio::inherit() })
        .spawn()
        .map_err(|error| trouble(error.to_string()))?;
    let mut line = serde_json::to_string(order).map_err(|error| trouble(error.to_string()))?;
    line.push('\n');
    let mut stdin = child.stdin.take().expect("it was asked for");
    let told = stdin.write_all(line.as_bytes());
    drop(stdin);
    let mut stdout = child.stdout.take().expect("it was asked for");
    // The answer is read while the child runs: it may be longer than a pipe holds.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut text).map(|_| text)
    });
    let words = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut text = String::new();
            // What it said as far as it can be read is better than nothing.
            let _ = std::io::Read::read_to_string(&mut stderr, &mut text);
            text
        })
    });
    let status = wait(&mut child, interrupted).map_err(|error| trouble(error.to_string()))?;
    let text = reader.join().expect("reading does not panic").map_err(|error| trouble(error.to_string()))?;
    let words = words.map(|reader| reader.join().expect("reading does not panic")).unwrap_or_default();
    match status.code() {
        Some(0) => {
            told.map_err(|error| trouble(error.to_string()))?;
            serde_json::from_str(&text).map_err(|error| trouble(format!("its answer cannot be read: {error}")))
        }
        // It has said why.
        Some(code) => {
            let exit = match code {
                1 => Exit::Usage,
                3 => Exit::Check,
                130 => Exit::Interrupted,
                _ => Exit::Target,
            };
            let message = format!("the run ends here: {} on {}", order.workload, order.target);
            Err(Failure::new(exit, said(&words, &message)))
        }
        None => {
            // It could not take its server with it.
            engines::cleanup(&order.target);
            Err(trouble(format!("its process was ended from outside: {status}")))
        }
    }
}

/// The error in what a program said on its stderr, in one line without hints; or else `otherwise`.
pub(crate) fn said(words: &str, otherwise: &str) -> String {
    let Some(at) = words.find("error: ") else { return otherwise.to_owned() };
    let error = words[at + "error: ".len()..].lines().filter(|line| !line.starts_with("hint: ")).map(str::trim);
    error.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Waits for the child; an interruption that reached us alone is passed on to it.
pub(crate) fn wait(child: &mut Child, interrupted: &AtomicBool) -> std::io::Result<std::process::ExitStatus> {
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupted.load(Ordering::Relaxed) && !told {
            told = true;
            let id = rustix::process::Pid::from_child(child);
            // One that has just ended needs no telling.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
