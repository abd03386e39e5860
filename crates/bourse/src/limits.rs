//! Limits of the process that many users reach.

/// Makes a file that would exceed the process' limit of file sizes an error of its writer; otherwise the system ends the
/// program without a word.
#[cfg(unix)]
pub(crate) fn report_file_sizes() {
    // If refused, the signal ends the program as before. Nothing reads the flag.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

#[cfg(not(unix))]
pub(crate) fn report_file_sizes() {}

/// Raises the limit of open files to the most that the system permits: a thousand sessions with two files each need more
/// than the usual 1,024. If it cannot be raised, sessions that do not fit are refused with the number that does.
#[cfg(unix)]
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // If refused, the limit is unchanged: sessions that do not fit are reported when they are opened.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(not(unix))]
pub(crate) fn raise_open_files() {}
