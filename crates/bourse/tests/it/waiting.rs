//! Waits for the actions of other processes.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Waits until `found` returns a value, for two minutes at most: the machine may be busy.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "waited in vain for {what}");
        sleep(Duration::from_millis(5));
    }
}

/// The folder of the one run.
pub(crate) fn run_folder(folder: &Path) -> Option<PathBuf> {
    Some(folder.join("bourse-runs").read_dir().ok()?.next()?.ok()?.path())
}

/// The folder of the only run, once it has reported a second of a measurement interval: its users work, on any machine.
pub(crate) fn measuring(folder: &Path) -> PathBuf {
    wait_for("a second of a measurement interval", || {
        let run = run_folder(folder)?;
        let told = std::fs::read_to_string(run.join("live.ndjson")).ok()?;
        told.lines().any(|line| line.contains("\"second\":") && line.contains("\"measurement\"")).then_some(run)
    })
}

/// Whether this process, and what it starts, was told to outlive its terminal, as by `nohup`.
pub(crate) fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored & 1 != 0)
}
