//! Cases: settings of an engine on a device, with an activity that power losses interrupt.

use super::check::DATABASE;
use bourse_crash::{Device, PROFILES, Promise};
use bourse_engine::target_with_path;
use bourse_engine_sqlite::{SqliteJournal, SqliteSync};
use bourse_record::crash::Guarantee;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Activity that power losses interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// Transactions, with the checkpoints of a log.
    Work,
    /// Load of a new database.
    Load,
    /// Load that replaces a database.
    Reload,
}

/// Settings of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CaseSettings {
    /// SQLite of this build.
    Sqlite { journal: SqliteJournal, sync: SqliteSync },
    /// Target of any engine with its options, without a path.
    Target(String),
}

/// Case of the enumeration. Its name describes it completely: `wal-full`, `delete-extra@no-powersafe-overwrite`,
/// `load-wal-full` or `lmdb:?sync=full@ext4-ordered`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StateCase {
    pub(super) activity: Activity,
    pub(super) settings: CaseSettings,
    pub(super) device: Device,
}

/// Options of small databases, with small pages, caches and buffers: many states of few bytes, logs that are often replaced.
const SMALL: [(&str, &str); 7] = [
    ("sqlite", "page_size=1024&cache=64KiB&foreign_keys=off&autocheckpoint=64"),
    ("lmdb", "map_size=16MiB"),
    ("rocksdb", "write_buffer=256KiB"),
    ("duckdb", "checkpoint_threshold=64KiB"),
    // Writes through a memory map are not recorded.
    ("jdbc+hsqldb", "nio=off"),
    ("mariadb+private", "log_file=8MiB&innodb_buffer_pool=16MiB&flush_method=fsync"),
    ("postgres+private", "shared_buffers=1MiB&max_connections=10"),
];
const JOURNALS: [SqliteJournal; 6] = [
    SqliteJournal::Delete,
    SqliteJournal::Truncate,
    SqliteJournal::Persist,
    SqliteJournal::Wal,
    SqliteJournal::Memory,
    SqliteJournal::Off,
];
const SYNCS: [SqliteSync; 4] = [SqliteSync::Extra, SqliteSync::Full, SqliteSync::Normal, SqliteSync::Off];

impl fmt::Display for StateCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.activity {
            Activity::Work => {}
            Activity::Load => f.write_str("load-")?,
            Activity::Reload => f.write_str("reload-")?,
        }
        match &self.settings {
            CaseSettings::Sqlite { journal, sync } => write!(f, "{}-{}", journal.word(), sync.word())?,
            CaseSettings::Target(target) => f.write_str(target)?,
        }
        if self.device == Device::POWERSAFE { Ok(()) } else { write!(f, "@{}", self.device.name) }
    }
}

impl FromStr for StateCase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (settings, device) = match text.rsplit_once('@') {
            Some((settings, name)) => (settings, PROFILES.into_iter().find(|device| device.name == name)),
            None => (text, Some(Device::POWERSAFE)),
        };
        let named = |device: Device| {
            if settings.contains(':') {
                let settings = CaseSettings::Target(settings.to_owned());
                return Some(Self { activity: Activity::Work, settings, device });
            }
            all(&[device]).into_iter().find(|case| case.to_string() == text)
        };
        device.and_then(named).ok_or_else(|| {
            format!("`{text}` is no case of the enumeration: expected JOURNAL-SYNC[@PROFILE], as wal-full or delete-extra@no-powersafe-overwrite, or load-wal-full, or TARGET[@PROFILE], as lmdb:?sync=full")
        })
    }
}

/// All cases on these devices.
fn all(devices: &[Device]) -> Vec<StateCase> {
    let mut cases = Vec::new();
    for device in devices {
        for journal in JOURNALS {
            for sync in SYNCS {
                let settings = CaseSettings::Sqlite { journal, sync };
                cases.push(StateCase { activity: Activity::Work, settings, device: *device });
            }
        }
        for activity in [Activity::Load, Activity::Reload] {
            for journal in [SqliteJournal::Delete, SqliteJournal::Wal] {
                let settings = CaseSettings::Sqlite { journal, sync: SqliteSync::Full };
                cases.push(StateCase { activity, settings, device: *device });
            }
        }
    }
    cases
}

/// Selection of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cases {
    /// Settings in common use, each on the device SQLite assumes, some on stricter ones, and two that guarantee nothing.
    Usual,
    /// Each journal mode with each sync setting.
    All,
    /// No settings of SQLite.
    None,
}

impl Cases {
    /// Selected cases, in order, on these devices; without any on those that SQLite has a setting for.
    pub(super) fn list(self, devices: &[Device]) -> Vec<StateCase> {
        const DECLARED: [Device; 3] = [Device::POWERSAFE, Device::garbling(512), Device::garbling(4_096)];
        let everything = all(if devices.is_empty() { &DECLARED } else { devices });
        match self {
            Self::None => Vec::new(),
            Self::All => everything,
            Self::Usual if !devices.is_empty() => {
                let usual = Self::Usual.list(&[]);
                let is_usual =
                    |case: &StateCase| usual.contains(&StateCase { device: Device::POWERSAFE, ..case.clone() });
                everything.into_iter().filter(is_usual).collect()
            }
            Self::Usual => {
                let is_usual = |case: &StateCase| match (case.activity, case.journal(), case.sync()) {
                    (Activity::Work, SqliteJournal::Memory, sync) => {
                        sync == SqliteSync::Full && case.device == Device::POWERSAFE
                    }
                    (Activity::Work, SqliteJournal::Off, _) => false,
                    (Activity::Work, SqliteJournal::Delete | SqliteJournal::Wal, _)
                        if case.device == Device::POWERSAFE =>
                    {
                        true
                    }
                    (Activity::Work, _, sync) if case.device == Device::POWERSAFE => sync == SqliteSync::Full,
                    (Activity::Work, SqliteJournal::Delete, sync) => sync == SqliteSync::Extra,
                    (Activity::Work, SqliteJournal::Wal, sync) => sync == SqliteSync::Full,
                    (Activity::Work, ..) => false,
                    (Activity::Load | Activity::Reload, ..) => case.device == Device::POWERSAFE,
                };
                everything.into_iter().filter(is_usual).collect()
            }
        }
    }
}

impl StateCase {
    fn journal(&self) -> SqliteJournal {
        match self.settings {
            CaseSettings::Sqlite { journal, .. } => journal,
            CaseSettings::Target(_) => SqliteJournal::Off,
        }
    }

    fn sync(&self) -> SqliteSync {
        match self.settings {
            CaseSettings::Sqlite { sync, .. } => sync,
            CaseSettings::Target(_) => SqliteSync::Off,
        }
    }

    /// Cases of a target, one for each device; on the strictest without any.
    pub(super) fn of_target(target: &str, devices: &[Device]) -> Vec<Self> {
        let devices = if devices.is_empty() { &[Device::POWERSAFE] } else { devices };
        let settings = CaseSettings::Target(target.to_owned());
        let on = |device: &Device| Self { activity: Activity::Work, settings: settings.clone(), device: *device };
        devices.iter().map(on).collect()
    }

    /// Whether the engine is a server that Bourse starts.
    pub(super) fn is_server(&self) -> bool {
        matches!(&self.settings, CaseSettings::Target(target) if target.split(':').next().is_some_and(|it| it.ends_with("+private")))
    }

    /// Case with the same settings that works.
    pub(super) fn work(&self) -> Self {
        Self { activity: Activity::Work, ..self.clone() }
    }

    /// Target of a database in a folder, with the options of small databases that are not given.
    pub(super) fn target(&self, folder: &Path) -> String {
        let target = match &self.settings {
            CaseSettings::Sqlite { journal, sync } => {
                format!("sqlite:?journal={}&sync={}", journal.word(), sync.word())
            }
            CaseSettings::Target(target) => target.clone(),
        };
        let small = SMALL.iter().find(|(scheme, _)| target.split(':').next() == Some(scheme));
        // A server is given its data, not their place.
        let mut target = if self.is_server() { target } else { target_with_path(&target, &folder.join(DATABASE)) };
        for option in small.iter().flat_map(|(_, options)| options.split('&')) {
            let name = option.split('=').next().unwrap_or_default();
            // A log alone is checkpointed.
            let has_it = name != "autocheckpoint" || self.journal() == SqliteJournal::Wal;
            if has_it && !target.contains(&format!("?{name}=")) && !target.contains(&format!("&{name}=")) {
                target.push(if target.contains('?') { '&' } else { '?' });
                target.push_str(option);
            }
        }
        target
    }

    /// Guarantee that must hold after a power loss, of the one that the settings give.
    pub(super) fn promise(&self, of_settings: Guarantee) -> Promise {
        let is_declared = matches!(self.settings, CaseSettings::Sqlite { .. });
        match (self.activity, of_settings) {
            _ if !self.device.can_be_trusted(is_declared) => Promise::Nothing,
            // A load is synced, renamed over the old database, and the folder synced, whatever the settings.
            (Activity::Load | Activity::Reload, _) | (_, Guarantee::Everything) => Promise::Everything,
            (_, Guarantee::Whole) => Promise::Whole,
            (_, Guarantee::Nothing) => Promise::Nothing,
        }
    }

    /// Number of commits of the workload: enough for 10,000 states of most engines, and of SQLite for more than 1,000 syncs, so that one lost
    /// sync in 300 is several, of which some change what a power loss leaves. A log is synced once per commit, a journal four
    /// times.
    pub(super) fn commits(&self) -> u64 {
        match (&self.settings, self.sync()) {
            (CaseSettings::Sqlite { journal: SqliteJournal::Wal, .. }, SqliteSync::Full | SqliteSync::Extra) => 1_000,
            (CaseSettings::Sqlite { .. }, _) => 300,
            // A commit of fjall is one short write.
            (CaseSettings::Target(target), _) if target.starts_with("fjall:") => 1_400,
            (CaseSettings::Target(_), _) => 400,
        }
    }

    /// Number of acknowledged commits in a database after that many transactions; `None` if it cannot have been.
    pub(super) fn commits_of(&self, progress: u64) -> Option<u64> {
        match self.activity {
            Activity::Work => (progress <= self.commits()).then_some(progress),
            Activity::Load | Activity::Reload if progress == 0 => Some(1),
            Activity::Reload if progress == self.commits() => Some(0),
            Activity::Load | Activity::Reload => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_s_name_is_read_back() {
        let cases = Cases::All.list(&PROFILES);
        for case in &cases {
            assert_eq!(case.to_string().parse(), Ok(case.clone()));
        }
        assert_eq!(cases.len(), 5 * (6 * 4 + 4));
        let target = "lmdb:?sync=full@ext4-ordered".parse::<StateCase>().expect("it is one");
        assert_eq!(target.to_string(), "lmdb:?sync=full@ext4-ordered");
        assert_eq!(target.target(Path::new("/x")), "lmdb:/x/db?sync=full&map_size=16MiB");
        assert!("wal-fully".parse::<StateCase>().unwrap_err().contains("as wal-full or"));
    }

    #[test]
    fn the_usual_cases_hold_each_journal_each_strict_device() {
        let usual = Cases::Usual.list(&[]);
        for journal in JOURNALS.into_iter().filter(|journal| *journal != SqliteJournal::Off) {
            assert!(usual.iter().any(|case| case.journal() == journal), "{journal:?}");
        }
        for device in [Device::POWERSAFE, Device::garbling(512), Device::garbling(4_096)] {
            assert!(usual.iter().any(|case| case.device == device), "{device:?}");
        }
    }
}
