//! Number of sessions that fit the limit of open files, estimated from the first two.

use crate::Fault;

/// Files reserved for later: journals, sorting, reports.
const RESERVED_FILES: u64 = 32;

/// Counter of the files that sessions open.
#[derive(Debug)]
pub(crate) struct SessionFiles {
    sessions: u64,
    limit: Option<u64>,
    made: u64,
    /// Open files after the first session.
    first: Option<u64>,
}

impl SessionFiles {
    /// Counts the open files before the first of `sessions` sessions.
    pub(crate) fn of(sessions: usize) -> Self {
        Self { sessions: sessions as u64, limit: limit(), made: 0, first: None }
    }

    /// Counts the files after a session was opened. The second session shows the need of each further one.
    ///
    /// # Errors
    /// [`Fault::OpenFiles`] if not all sessions will fit.
    pub(crate) fn made(&mut self) -> Result<(), Fault> {
        self.made += 1;
        match (self.made, self.limit) {
            (1, Some(_)) => self.first = open(),
            (2, Some(limit)) => {
                if let (Some(first), Some(now)) = (self.first, open()) {
                    return fit(self.sessions, first, now, limit);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Checks that `sessions` fit; `first` and `second` are the open files after the first and the second session.
fn fit(sessions: u64, first: u64, second: u64, limit: u64) -> Result<(), Fault> {
    let each = second.saturating_sub(first);
    let needed = second + each * sessions.saturating_sub(2) + RESERVED_FILES;
    if each == 0 || needed <= limit {
        return Ok(());
    }
    let fit = (limit.saturating_sub(second + RESERVED_FILES) / each + 2).min(sessions);
    Err(Fault::OpenFiles { sessions, needed, limit, fit })
}

/// Limit of this process's open files; `None` if there is none, or the system does not report it.
#[cfg(unix)]
fn limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn limit() -> Option<u64> {
    None
}

/// Number of files that this process has open, if the system reports it.
fn open() -> Option<u64> {
    // The folder that is read is one of them, and closed again.
    let listed = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    Some(listed.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_number_that_does() {
        assert_eq!(fit(1_000, 10, 10, 20), Ok(()), "sessions without files of their own");
        assert_eq!(fit(100, 10, 12, 12 + 2 * 98 + 32), Ok(()));
        let refused = fit(1_000, 10, 12, 1_024).unwrap_err();
        assert_eq!(refused, Fault::OpenFiles { sessions: 1_000, needed: 2_040, limit: 1_024, fit: 492 });
        assert_eq!(fit(492, 10, 12, 1_024), Ok(()));
        assert!(refused.to_string().contains("at most 492 sessions"), "{refused}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_are_counted() {
        let before = open().unwrap();
        let files: Vec<_> = (0..500).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        // Other tests of this process open files, too, but not so many.
        assert!(open().unwrap() > before + 400);
        drop(files);
        assert!(limit().is_none_or(|limit| limit > before));
    }
}
