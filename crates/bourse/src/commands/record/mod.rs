//! `bourse record`: what a program does with SQLite, as a trace.

mod folder;
mod mask;
mod show;

use crate::args::{RecordArgs, RecordCommand};
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::output::{free_path, print, wrapped};
use crate::progress::note;
use crate::work_folder::WorkFolder;
use bourse_engine::{one_line, open_named, shortened};
use bourse_preload::{Library, RECORD_TO, SQLITE_CALLS, SQLITE_EXTENSION};
use bourse_trace::{TraceBase, UNMASKED};
use bourse_verdict::units::{command_line, counted, printable};
use folder::traces;
use rustix::process::{Pid, Signal, kill_process};
use show::ShownTrace;
use signal_hook::consts::{SIGHUP, SIGINT};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Name of the preloaded library, and of a link to it.
const LINK: &str = "record.so";

/// Records a program, makes the extension, or shows a trace.
pub(crate) fn run(arguments: &RecordArgs) -> Result<ExitCode> {
    match (&arguments.command, &arguments.attach, arguments.program.split_first()) {
        (Some(RecordCommand::Show { trace, statements, verbose, json }), ..) => {
            let shown = ShownTrace::read(trace)?;
            let text = || shown.text((!*verbose).then_some(*statements));
            print(&if *json { format!("{:#}\n", serde_json::json!(shown)) } else { text() })?;
            Ok(ExitCode::SUCCESS)
        }
        (None, Some(database), _) => attach(database, arguments.output.as_deref()).map(|()| ExitCode::SUCCESS),
        (None, None, Some((program, rest))) => record(program, rest, arguments),
        (None, None, None) => Err(Failure::usage("no program to record").hint("bourse record -- PROGRAM")),
    }
}

/// Makes the folder of a trace, with a library in it; its absolute path, and the library's.
fn make(output: Option<&Path>, library: Library, name: &str) -> Result<(PathBuf, PathBuf)> {
    let bytes =
        library.bytes().map_err(|why| Failure::new(Exit::Target, format!("nothing can be recorded here: {why}")))?;
    let folder = output.map_or_else(
        || free_path(Path::new(&jiff::Zoned::now().strftime("bourse-trace-%Y%m%d-%H%M%S").to_string())),
        Path::to_owned,
    );
    let made = || {
        DirBuilder::new().mode(0o700).create(&folder)?;
        std::fs::create_dir(folder.join("databases"))?;
        let folder = folder.canonicalize()?;
        let library = folder.join(name);
        std::fs::write(&library, bytes)?;
        Ok((folder, library))
    };
    made().map_err(|error: std::io::Error| {
        Failure::usage("cannot make the folder of the trace")
            .detail("folder", printable(&folder.display().to_string()))
            .detail("cause", error.to_string())
            .hint("-o chooses another folder, which must not exist")
    })
}

/// Link to the library in a folder of the system's for temporary files, if its own path cannot be preloaded: the loader splits
/// `LD_PRELOAD` at spaces and colons, and replaces what follows a `$`. `None` if it can.
fn preloadable(library: &Path) -> Result<Option<WorkFolder>> {
    let is_whole = |path: &Path| !path.as_os_str().as_bytes().iter().any(|byte| b" :$".contains(byte));
    if is_whole(library) {
        return Ok(None);
    }
    let below = std::env::temp_dir();
    let refused = |why: String| {
        Failure::usage("nothing can be recorded in a folder whose path has a space, a colon or a dollar sign")
            .detail("folder", printable(&library.parent().unwrap_or(library).display().to_string()))
            .detail("cause", why)
            .hint("-o chooses another folder, which must not exist")
    };
    if !is_whole(&below) {
        let below = printable(&below.display().to_string());
        return Err(refused(format!(
            "the loader of programs splits such a path, and the temporary folder {below} has one too"
        )));
    }
    let linked = WorkFolder::new("bourse-record-", &below)
        .and_then(|folder| symlink(library, folder.path().join(LINK)).map(|()| folder));
    linked
        .map(Some)
        .map_err(|error| refused(format!("no link to the library can be made in {}: {error}", below.display())))
}

/// Runs a program with the recording library, and says where the trace is.
fn record(program: &OsStr, arguments: &[OsString], options: &RecordArgs) -> Result<ExitCode> {
    let (path, library) = make(options.output.as_deref(), SQLITE_CALLS, LINK)?;
    let link = preloadable(&library).inspect_err(|_| {
        // Nothing was recorded in it.
        let _ = std::fs::remove_dir_all(&path);
    })?;
    if options.mask {
        fs::write(path.join(UNMASKED), "").map_err(|error| {
            Failure::new(Exit::Target, "the recording cannot be marked as one whose values are not masked yet")
                .detail("folder", path.display().to_string())
                .detail("cause", error.to_string())
        })?;
    }
    let mut preloaded = link.as_ref().map_or(library, |folder| folder.path().join(LINK)).into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|it| !it.is_empty()) {
        preloaded.push(":");
        preloaded.push(others);
    }
    let mut signals = SignalsInfo::<WithOrigin>::new(interrupt::handled())
        .map_err(|error| Failure::usage(format!("cannot handle signals: {error}")))?;
    let started = Command::new(program).args(arguments).env("LD_PRELOAD", preloaded).env(RECORD_TO, &path).spawn();
    let mut child = started.map_err(|error| {
        // Nothing was recorded in it.
        let _ = std::fs::remove_dir_all(&path);
        Failure::new(Exit::Target, "the program cannot be started")
            .detail("program", printable(&program.to_string_lossy()))
            .detail("cause", error.to_string())
    })?;
    let id = Pid::from_child(&child);
    let handle = signals.handle();
    // Ctrl-C reaches the program from the terminal; what another process sends is passed on.
    std::thread::spawn(move || {
        for origin in signals.forever().filter(|it| it.signal != SIGINT || it.process.is_some()) {
            let signal = match origin.signal {
                SIGINT => Signal::INT,
                SIGHUP => Signal::HUP,
                _ => Signal::TERM,
            };
            // The program may have ended meanwhile.
            let _ = kill_process(id, signal);
        }
    });
    let status = child.wait().map_err(|error| Failure::new(Exit::Target, format!("the program is lost: {error}")))?;
    handle.close();
    let code = status.code().or_else(|| Some(status.signal()?.saturating_add(128))).unwrap_or(1);
    finish(&path, options.mask)?;
    Ok(ExitCode::from(u8::try_from(code & 0xFF).unwrap_or(1)))
}

/// Puts the folder in order once the program has ended, and says what is in it.
fn finish(path: &Path, mask: bool) -> Result<()> {
    let failed = |error: std::io::Error| {
        Failure::new(Exit::Target, "the trace cannot be finished")
            .detail("folder", path.display().to_string())
            .detail("cause", error.to_string())
    };
    let traces = traces(bourse_trace::files_to_mask(path)).map_err(failed)?;
    if traces.is_empty() {
        // Nothing is in it but the library.
        let _ = std::fs::remove_dir_all(path);
        note(
            "nothing was recorded: no call of SQLite passed the library that was preloaded\n\
             hint: a program that links SQLite statically is recorded by an extension: bourse record --attach DB\n\
             hint: a program that is linked statically as a whole, or has more rights than its user, loads no library",
        );
        return Ok(());
    }
    let mut unmasked = BTreeSet::new();
    if mask {
        unmasked = mask::mask(path, &traces)?;
        fs::remove_file(path.join(UNMASKED)).map_err(failed)?;
    }
    if let Some(first) = unmasked.first() {
        note(&format!(
            "{} with values in the text, which is not masked, as: {}",
            counted(unmasked.len() as u64, "statement", "statements"),
            shortened(&one_line(first), 120),
        ));
    }
    let (mut counts, mut replaced, mut missing) = ([0; 5], BTreeMap::new(), BTreeSet::new());
    for trace in &traces {
        let read = match trace.read(|_| ()) {
            Ok(read) => read,
            Err(error) => {
                note(&format!("{}: {error}", trace.name()));
                continue;
            }
        };
        if let Some(why) = read.incompleteness() {
            note(&format!("{}: {why}", trace.name()));
        }
        trace.cut_free_space(&read).map_err(failed)?;
        let found = &read.summary;
        for (connection, opened) in found.opened.iter().filter(|(_, it)| it.base.replacement().is_some()) {
            let (times, _) = replaced
                .entry(printable(&opened.path))
                .or_insert_with(|| (0, format!("before connection {connection} of process {}", read.head.process)));
            *times += 1_u64;
        }
        let not_copied = found.opened.iter().filter(|(_, it)| it.base == TraceBase::Missing);
        missing.extend(not_copied.map(|(_, it)| printable(&it.path)));
        let of_process = [found.opened.len() as u64, found.executions, found.transactions, found.rows, found.errors];
        counts.iter_mut().zip(of_process).for_each(|(sum, count)| *sum += count);
    }
    for (path, (times, first)) in replaced {
        let when = if times == 1 { first } else { format!("{times} times, first {first}") };
        note(&format!(
            "{path} was deleted, emptied or replaced by another file {when}: what follows was recorded on other data, and is another database in a replay"
        ));
    }
    for path in missing {
        note(&format!(
            "{path} could not be copied for some connections, which a replay leaves out: `bourse record show` has the reason"
        ));
    }
    let [connections, executions, transactions, rows, errors] = counts;
    note(&format!(
        "trace: {}: {}, {}, {}, {}, {}, {}",
        path.display(),
        counted(traces.len() as u64, "process", "processes"),
        counted(connections, "connection", "connections"),
        counted(executions, "execution", "executions"),
        counted(transactions, "transaction of several statements", "transactions of several statements"),
        counted(rows, "row", "rows"),
        counted(errors, "error", "errors"),
    ));
    note(&format!("hint: bourse record show {}", shell_word(&path.display().to_string())));
    Ok(())
}

/// Makes the extension, and shows the lines that load it.
fn attach(database: &Path, output: Option<&Path>) -> Result<()> {
    let mut header = Vec::new();
    let read = open_named(database).and_then(|file| file.take(16).read_to_end(&mut header));
    let folder = database.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Err(error) = read {
        let database = printable(&database.display().to_string());
        if error.kind() != ErrorKind::NotFound || !folder.is_dir() {
            return Err(Failure::usage("the database cannot be read")
                .detail("database", database)
                .detail("cause", error.to_string()));
        }
        note(&format!("{database} does not exist yet"));
    }
    if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
        return Err(Failure::usage("this is no database of SQLite, or it is encrypted")
            .detail("database", printable(&database.display().to_string())));
    }
    let (folder, library) = make(output, SQLITE_EXTENSION, "bourse_record.so")?;
    let library = printable(&library.with_extension("").display().to_string());
    let folder = printable(&folder.display().to_string());
    let database = printable(&database.display().to_string());
    let command = shell_word(&format!(".load {}", dot_word(&library)));
    let [shell_folder, shell_database] = [&folder, &database].map(|it| shell_word(it));
    let sql = library.replace('\'', "''");
    let [single, double] = ['\'', '"'].map(|quote| escaped(&library, quote));
    let what = format!(
        "Load the extension in the program's first connection to {database}, before its first statement. That connection \
         and each one opened after it in the same process are recorded in {folder}."
    );
    print(&format!(
        "{}\n\
         SQL          SELECT load_extension('{sql}')\n\
         sqlite3      sqlite3 -cmd {command} {shell_database}\n\
         Python       db.enable_load_extension(True); db.load_extension('{single}')\n\
         Go (mattn)   sql.Register(\"recorded\", &sqlite3.SQLiteDriver{{Extensions: []string{{\"{double}\"}}}})\n\
         Rust         unsafe {{ let _guard = rusqlite::LoadExtensionGuard::new(&db)?; db.load_extension(\"{double}\", None::<&str>)?; }}\n\
         Node         db.loadExtension('{single}')\n\n\
         bourse record show {shell_folder}\n",
        wrapped(&what)
    ))
}

/// A text as one word of a shell's command line.
fn shell_word(text: &str) -> String {
    command_line(&[text.to_owned()])
}

/// A text as one word of a command of the `sqlite3` shell, as `.load`: what another shell takes as it is, this one does too.
fn dot_word(text: &str) -> String {
    if shell_word(text) == text {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// A text within such quotes of Python, Go, Rust or JavaScript.
fn escaped(text: &str, quote: char) -> String {
    text.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_splits_them() {
        for (text, in_shell, in_dot) in [
            ("/srv/t/bourse_record", "/srv/t/bourse_record", "/srv/t/bourse_record"),
            ("/srv/my dir", "'/srv/my dir'", "\"/srv/my dir\""),
            ("it's", "'it'\\''s'", "\"it's\""),
            ("a\"b", "'a\"b'", "\"a\\\"b\""),
            ("$HOME", "'$HOME'", "\"$HOME\""),
        ] {
            assert_eq!((&*shell_word(text), &*dot_word(text)), (in_shell, in_dot), "{text}");
        }
        assert_eq!(escaped("it's a \"b\"", '\''), "it\\'s a \"b\"");
    }
}
