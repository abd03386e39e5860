//! `bourse record`: what a program does with SQLite, as a trace.

mod folder;
mod mask;
mod show;

use crate::args::{RecordArgs, RecordCommand};
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::output::{free_path, print, wrapped};
use crate::progress::note;
use bourse_engine::open_named;
use bourse_preload::{Library, RECORD_TO, SQLITE_CALLS, SQLITE_EXTENSION};
use bourse_verdict::units::{counted, printable};
use folder::traces;
use rustix::process::{Pid, Signal, kill_process};
use show::ShownTrace;
use signal_hook::consts::{SIGHUP, SIGINT};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io::Read as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

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

/// Runs a program with the recording library, and says where the trace is.
fn record(program: &OsStr, arguments: &[OsString], options: &RecordArgs) -> Result<ExitCode> {
    let (path, library) = make(options.output.as_deref(), SQLITE_CALLS, "record.so")?;
    let mut preloaded = library.clone().into_os_string();
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
    let traces = traces(path).map_err(failed)?;
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
    if mask {
        mask::mask(path, &traces)?;
    }
    let mut counts = [0; 5];
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
        let of_process = [found.opened.len() as u64, found.executions, found.transactions, found.rows, found.errors];
        counts.iter_mut().zip(of_process).for_each(|(sum, count)| *sum += count);
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
    note(&format!("hint: bourse record show {}", path.display()));
    Ok(())
}

/// Makes the extension, and shows the lines that load it.
fn attach(database: &Path, output: Option<&Path>) -> Result<()> {
    let mut header = Vec::new();
    let read = open_named(database).and_then(|file| file.take(16).read_to_end(&mut header));
    read.map_err(|error| {
        Failure::usage("the database cannot be read")
            .detail("database", printable(&database.display().to_string()))
            .detail("cause", error.to_string())
    })?;
    if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
        return Err(Failure::usage("this is no database of SQLite, or it is encrypted")
            .detail("database", printable(&database.display().to_string())));
    }
    let (folder, library) = make(output, SQLITE_EXTENSION, "bourse_record.so")?;
    let library = printable(&library.with_extension("").display().to_string());
    let folder = printable(&folder.display().to_string());
    let database = printable(&database.display().to_string());
    let what = format!(
        "Load the extension in the program's first connection to {database}, before its first statement. That connection \
         and each one opened after it in the same process are recorded in {folder}."
    );
    print(&format!(
        "{}\n\
         SQL          SELECT load_extension('{library}')\n\
         sqlite3      sqlite3 -cmd '.load {library}' {database}\n\
         Python       db.enable_load_extension(True); db.load_extension('{library}')\n\
         Go (mattn)   sql.Register(\"recorded\", &sqlite3.SQLiteDriver{{Extensions: []string{{\"{library}\"}}}})\n\
         Rust         unsafe {{ let _guard = rusqlite::LoadExtensionGuard::new(&db)?; db.load_extension(\"{library}\", None::<&str>)?; }}\n\
         Node         db.loadExtension('{library}')\n\n\
         bourse record show {folder}\n",
        wrapped(&what)
    ))
}
