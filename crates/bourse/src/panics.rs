//! Panics: a defect of Bourse ends the run with its results written, one clear message and exit code 2, never with 101.
//!
//! [`catch_panic`] wraps each round, so that the rounds before it are published as after any other failure, and the whole
//! command. Panics of a round's threads become the round's fault in `bourse-driver`.

use crate::failure::{Exit, Failure, Result};
use crate::progress::note;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Message and place of the first panic not yet reported.
static UNREPORTED: Mutex<Option<Panic>> = Mutex::new(None);

struct Panic {
    message: String,
    place: String,
}

/// Installs a hook that records panics instead of printing them; those of threads other than the main one are reported
/// immediately, in one line.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        if bourse_engine::server_wait::is_in_client_library() {
            return;
        }
        let payload = info.payload();
        let words =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = words.unwrap_or("without a message").to_owned();
        let place = info.location().map_or_else(|| "unknown place".to_owned(), ToString::to_string);
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("without a name");
        if name != "main" {
            note(&format!("internal error in thread {name}, {place}: {message}"));
        }
        let trace = std::backtrace::Backtrace::capture();
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            note(&trace.to_string());
        }
        UNREPORTED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(Panic { message, place });
    }));
}

/// Runs `work`; a panic in it is a failure of the command with exit code 2.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // State after a panic is only written out or dropped: nothing is computed from it.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(unreported().unwrap_or_else(|| failure(None))))
}

/// Failure of a panic that has not become one yet, as of a thread that was never joined.
pub(crate) fn unreported() -> Option<Failure> {
    let panic = UNREPORTED.lock().unwrap_or_else(PoisonError::into_inner).take();
    panic.map(|panic| failure(Some(panic)))
}

fn failure(panic: Option<Panic>) -> Failure {
    let failure = match panic {
        Some(Panic { message, place }) => {
            Failure::new(Exit::Target, format!("internal error: {message}")).detail("place", place)
        }
        None => Failure::new(Exit::Target, "internal error"),
    };
    failure.detail("program", format!("bourse {}", env!("CARGO_PKG_VERSION"))).hint(
        "this is a defect of bourse; please report it with this message and the command. RUST_BACKTRACE=1 shows more",
    )
}

/// Panics if a test requests it: `BOURSE_TEST_PANIC` names the place. Only in debug builds.
pub(crate) fn panic_if_requested(place: &str) {
    #[cfg(debug_assertions)]
    if std::env::var("BOURSE_TEST_PANIC").is_ok_and(|wanted| wanted == place) {
        panic!("asked for at {place}");
    }
    #[cfg(not(debug_assertions))]
    let _ = place;
}
