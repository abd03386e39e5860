//! Databases of earlier runs in a folder, each a file or a folder of its own: listed and removed, if Bourse made them.

use super::runs::is_absent;
use crate::args::DataCommand;
use crate::engines;
use crate::failure::{Failure, Result};
use crate::oltp::database::{engine_failure, refuse_foreign};
use crate::output::{has_color, line_width, print, refusal_to_replace, wrapped};
use crate::progress::note;
use crate::work_folder::WorkFolder;
use crate::{hold, interrupt};
use bourse_engine::server_wait::check_interruption;
use bourse_engine::{
    DatabaseFiles, Engine, EngineError, EngineKind, ErrorKind, FileOwner, Interface, Inventory, Location,
    foreign_among, listed, refuse_others, target_with_path,
};
use bourse_micro::foreign_tables;
use bourse_report::{Sheet, TableCell};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Carries out `bourse data`.
pub(crate) fn data(command: &DataCommand) -> Result<()> {
    match command {
        DataCommand::Ls { directory, json } => {
            refuse_server(directory)?;
            // Before the first run there is no such folder.
            let found = if is_absent(directory) { Vec::new() } else { databases(directory)? };
            if *json {
                return print(&format!("{:#}\n", serde_json::json!(found)));
            }
            if is_absent(directory) {
                let other = "`bourse data ls DIR` lists the databases in another folder, as `bourse data ls .`";
                return print(&wrapped(&format!("none: {} does not exist; {other}", directory.display())));
            }
            print(&sheet(&found, directory).terminal(line_width(), has_color(), false))
        }
        DataCommand::Rm { files } => {
            files.iter().try_for_each(|file| refuse_server(file))?;
            let found = files.iter().map(|file| made(file)).collect::<Result<Vec<_>, _>>()?;
            let _held = hold::for_reading(found.iter().map(|it| it.target.as_str()))?;
            // Now that no other command uses them; all are checked before the first is removed.
            let found = files.iter().map(|file| removable(file)).collect::<Result<Vec<_>, _>>()?;
            found.iter().try_for_each(DatabaseInFile::remove)
        }
        DataCommand::Adopt { targets } => targets.iter().try_for_each(|target| adopt(target)),
    }
}

/// Marks a database that was copied or moved, if it lists what Bourse made and holds nothing else.
fn adopt(target: &str) -> Result<()> {
    let location = engines::location(target)?;
    let cannot = |why: &str| Failure::usage(format!("cannot adopt {target}")).detail("cause", why);
    let failed = |error: EngineError| engine_failure(target, &error);
    let Some(files) = location.database_files() else { return Err(cannot("it is in no file")) };
    match files.owner().map_err(failed)? {
        FileOwner::Bourse => {
            note(&format!("{target} has Bourse's mark already"));
            return Ok(());
        }
        FileOwner::Nobody => return Err(cannot("nothing is there")),
        FileOwner::Foreign(_) => {}
    }
    // Its copies then end with an interruption, and are removed.
    interrupt::flag()?;
    let has_form = if files.format().is_folder { files.path().is_dir() } else { files.path().is_file() };
    if !has_form {
        return Err(cannot("this is not the form of the engine's databases"));
    }
    let _held = hold::without_mark(target, files.path())?;
    // A copy is read: opening a database may change it.
    let beside = location.folder().unwrap_or_else(|| PathBuf::from("."));
    let folder = WorkFolder::new(".bourse-adopt-", &beside).map_err(|error| cannot(&error.to_string()))?;
    let copy = files.copy_to(&folder.path().join("copy")).map_err(failed)?;
    let found = contents(engines::open(&target_with_path(target, copy.path()))?.as_ref());
    drop(folder);
    check_interruption("nothing was adopted").map_err(failed)?;
    let left = |why: &str| cannot(why).hint("it is left as it is; load it again at another path");
    let found = found.map_err(|error| left(error.message()))?;
    files.mark().map_err(failed)?;
    note(&format!("adopted: {target}, which lists as made by bourse: {}", listed(&found)));
    Ok(())
}

/// Objects that Bourse made in a database, by the database's own list.
///
/// # Errors
/// [`Refused`](ErrorKind::Refused) if it has no list, or holds anything else; the engine's.
fn contents(engine: &dyn Engine) -> bourse_engine::Result<Vec<String>> {
    let (made, others) = match engine.interface() {
        Interface::Sql(_) => {
            let inventory = Inventory::of(engine)?.unwrap_or_default();
            (inventory.made(), inventory.foreign())
        }
        Interface::Keys(keys) => {
            let tables = if engine.exists()? { keys.tables()? } else { Vec::new() };
            (tables.iter().map(|name| format!("table {name}")).collect(), foreign_tables(engine)?)
        }
    };
    match others {
        Some(why) => Err(EngineError::refused(why)),
        None if made.is_empty() => Err(EngineError::refused("it has no list of what bourse made")),
        None => Ok(made),
    }
}

/// A database in a file, or in a folder of its own.
#[derive(Debug, Serialize)]
struct DatabaseInFile {
    /// Target that opens it.
    target: String,
    /// Engine.
    engine: &'static str,
    /// Its files, the main one first.
    files: Vec<PathBuf>,
    /// Files with the mark of Bourse.
    #[serde(skip)]
    marked: DatabaseFiles,
    /// Bytes of all its files.
    bytes: u64,
    /// Time of the last change: RFC 3339, in UTC.
    changed_at: Option<String>,
    /// Files beside it that a process which did not end has left; its next load removes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leftovers: Vec<PathBuf>,
}

/// Every database of Bourse in a folder, the largest first.
fn databases(directory: &Path) -> Result<Vec<DatabaseInFile>> {
    let refused = |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", directory.display()));
    let mut paths = BTreeSet::new();
    for entry in std::fs::read_dir(directory).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let kind = entry.file_type().map_err(refused)?;
        if kind.is_file() || kind.is_dir() {
            // A killed load or removal leaves files beside a database that is not there.
            paths.insert(DatabaseFiles::database_of(&entry.path()));
        }
    }
    let mut found: Vec<_> = paths.iter().filter_map(|path| database(path).ok()).collect();
    found.sort_by(|one, other| (other.bytes, &one.target).cmp(&(one.bytes, &other.target)));
    Ok(found)
}

/// Refuses the target of a server, whose databases are not files.
fn refuse_server(name: &Path) -> Result<()> {
    let target = name.to_str().filter(|_| !name.exists());
    let location = target.and_then(|target| engines::location(target).ok());
    let has_keys = |target| engines::open(target).is_ok_and(|engine| matches!(engine.interface(), Interface::Keys(_)));
    let hint = if target.is_some_and(has_keys) {
        "in the server's own client, INFO keyspace lists the databases that have keys, and FLUSHDB empties the one that SELECT chose"
    } else {
        "the server's own client lists and drops its databases: DROP DATABASE NAME"
    };
    match location {
        Some(Location::RunningServer) => Err(Failure::usage(format!(
            "{} is a server's, and `bourse data` is for databases in files",
            name.display()
        ))
        .hint(hint)),
        _ => Ok(()),
    }
}

/// Target that a person wrote instead of a path, with the path; `None` for a path.
fn written_target(name: &Path) -> Option<(String, PathBuf)> {
    let target = name.to_str().filter(|_| !name.exists() && !name.is_symlink())?;
    let location = engines::location(target).ok()?;
    Some((target.to_owned(), location.file()?.to_owned()))
}

/// Database that Bourse made in a file or a folder, or at a target; a failure if there is no such database.
fn database(name: &Path) -> Result<DatabaseInFile> {
    let target = written_target(name);
    let file = target.as_ref().map_or(name, |(_, path)| path.as_path());
    let shown = name.display();
    // A target's path has its links followed.
    let is_link = |(target, _): &(String, PathBuf)| {
        let place = target.split_once(':').map_or("", |(_, place)| place);
        Path::new(place.split('?').next().unwrap_or_default()).is_symlink()
    };
    if file.is_symlink() || target.as_ref().is_some_and(is_link) {
        return Err(Failure::usage(format!("{shown} is a link"))
            .hint("it is left as it is; name the database itself, as `bourse data ls` lists it"));
    }
    let ending = file.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let mut last = None;
    let of_file = |kind: &EngineKind| (kind.scheme, format!("{}:{}", kind.scheme, bourse_engine::path_in_target(file)));
    let candidates: Vec<(&'static str, String)> = match &target {
        Some((target, _)) => engines::kind_of(target).map(|kind| (kind.scheme, target.clone())).into_iter().collect(),
        None => engines::kinds().filter(|kind| kind.has_files_of(ending)).map(of_file).collect(),
    };
    for (scheme, target) in candidates {
        let Ok(engine) = engines::open(&target) else { continue };
        match refuse_foreign(&target, engine.as_ref()) {
            Err(why) => last = Some(why),
            Ok(()) => {
                let Location::Files(marked) = engine.location() else { continue };
                let leftovers = marked.leftover_files();
                let has_bytes = all_files(file).iter().any(|it| it.len() > 0);
                if !has_bytes && !is_in_its_log(engine.as_ref()) && leftovers.is_empty() {
                    // What a killed removal has left may hold a person's file by now.
                    if let Err(why) = marked.being_removed() {
                        let cannot = Failure::usage(format!("cannot remove {shown}"));
                        last = Some(cannot.detail("cause", why.message()).hint("it is left as it is"));
                    }
                    continue;
                }
                let files: Vec<PathBuf> = marked.all().filter(|path| path.exists()).collect();
                let of_each: Vec<Metadata> = files.iter().chain(&leftovers).flat_map(|path| all_files(path)).collect();
                let bytes = of_each.iter().map(Metadata::len).sum();
                let changed = of_each.iter().filter_map(|it| it.modified().ok()).max();
                let changed_at = changed.map(time);
                return Ok(DatabaseInFile { target, engine: scheme, files, marked, bytes, changed_at, leftovers });
            }
        }
    }
    if last.is_none() && !file.is_file() && !file.is_dir() {
        return Err(Failure::usage(format!("{shown} does not exist")).hint("`bourse data ls` lists the databases"));
    }
    Err(last.unwrap_or_else(|| {
        Failure::usage(format!("{shown} is no database that Bourse made"))
            .hint("it is left as it is; `bourse data ls` lists the databases")
    }))
}

/// Database as [`database`] returns it, unless another command is making it.
fn made(name: &Path) -> Result<DatabaseInFile> {
    database(name).or_else(|failure| {
        let path = written_target(name).map_or_else(|| name.to_owned(), |(_, path)| path);
        if hold::await_other(&name.display().to_string(), &path)? { database(name) } else { Err(failure) }
    })
}

/// The database of a file or a folder, refused if it holds anything that Bourse did not make.
fn removable(file: &Path) -> Result<DatabaseInFile> {
    let found = database(file)?;
    let cannot = |why: &str| Failure::usage(format!("cannot remove {}: {why}", file.display()));
    let foreign = |why: &str| cannot(why).hint("it is left as it is; move what is yours elsewhere, and try again");
    for file in &found.files {
        let metadata = file.symlink_metadata().map_err(|error| cannot(&error.to_string()))?;
        if let Some(why) = refusal_to_replace(&metadata) {
            return Err(cannot(&format!("it {why}")).hint("it is left as it is"));
        }
    }
    let engine = engines::open(&found.target)?;
    if let Location::Files(files) = engine.location() {
        let others = files.others_and_overwritten().map_err(|error| cannot(&error.to_string()))?;
        foreign_among(&others).map_or(Ok(()), |why| Err(foreign(&why)))?;
    }
    let of_tables = foreign_tables(engine.as_ref()).map_err(|error| engine_failure(&found.target, &error))?;
    of_tables.map_or(Ok(()), |why| Err(foreign(&why)))?;
    refuse_others(engine.as_ref()).map_err(|error| match error.kind() {
        ErrorKind::Refused => foreign(error.message()),
        _ => engine_failure(&found.target, &error),
    })?;
    Ok(found)
}

/// Whether a file of Bourse is empty because a log beside it holds all there is.
fn is_in_its_log(engine: &dyn Engine) -> bool {
    engine.location().database_files().is_some_and(|files| matches!(files.owner(), Ok(FileOwner::Bourse)))
}

/// A file, or every file in a folder; links are not followed.
fn all_files(path: &Path) -> Vec<Metadata> {
    let Ok(metadata) = path.symlink_metadata() else { return Vec::new() };
    if !metadata.is_dir() {
        return vec![metadata];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    entries.flat_map(|entry| all_files(&entry.path())).collect()
}

fn time(changed: SystemTime) -> String {
    jiff::Timestamp::try_from(changed).map(|it| it.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default()
}

fn sheet(found: &[DatabaseInFile], directory: &Path) -> Sheet {
    let rows = found
        .iter()
        .map(|it| {
            vec![
                TableCell::code(&it.target),
                TableCell::text(&bourse_verdict::units::size(it.bytes)),
                TableCell::text(it.changed_at.as_deref().unwrap_or_default()),
            ]
        })
        .collect();
    let sum = bourse_verdict::units::size(found.iter().map(|it| it.bytes).sum());
    let count = if found.len() == 1 { "1 database".to_owned() } else { format!("{} databases", found.len()) };
    let sheet = Sheet::new("Databases", "")
        .table(&["target", "size", "changed"], rows)
        .paragraph(format!("{count} in {}, {sum}", directory.display()));
    found.iter().filter(|it| !it.leftovers.is_empty()).fold(sheet, |sheet, it| {
        let names: Vec<String> = it.leftovers.iter().map(|path| path.display().to_string()).collect();
        let why = "of a command that runs, or was killed: the next load removes it";
        sheet.paragraph(format!("beside {}: {} ({why})", it.target, names.join(", ")))
    })
}

impl DatabaseInFile {
    fn remove(&self) -> Result<()> {
        self.marked.remove().map_err(|error| Failure::usage(error.message().to_owned()))?;
        note(&format!("removed: {}, {}", self.target, bourse_verdict::units::size(self.bytes)));
        Ok(())
    }
}
