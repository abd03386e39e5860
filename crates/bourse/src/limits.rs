//! Limits of the process that many users meet.

/// Allows as many open files as the system lets this process have: a thousand sessions with two files each need more than the
/// usual 1,024. Where it cannot be raised, sessions that do not fit are refused with the number that does.
#[cfg(unix)]
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // Refused, the limit stays as it was: what does not fit is told when sessions are made.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(not(unix))]
pub(crate) fn raise_open_files() {}
