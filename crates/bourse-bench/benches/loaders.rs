//! Loading into a server by Bourse, compared with the server's own loader that reads ready files: interleaved rounds (A
//! B B A), seconds of each, and the ratio of each pair.
//!
//! `cargo bench -p bourse-bench --bench loaders [PAIRS] [CUSTOMERS] [DAYS] [ENGINE…]`. Both sides make the same tables,
//! keys and indexes and gather the same statistics. Bourse makes the rows too, and reads them back: that part is shown
//! separately. Processor time is that of this process and of the server; it is more reliable than seconds on a machine
//! that is busy with other work.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints what it measured")]

use bourse_egen::{Inputs, Part};
use bourse_engine::{Access, Engine, Isolation, Session};
use bourse_schema::{Dialect, Table, Value, create_index, create_table, load_order, tables, without_foreign_keys};
use bourse_server::private::processes;
use bourse_tpce::load::{LoadOptions, LoadPhase, load};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// An engine, and the use of its own loader.
struct Contest {
    name: &'static str,
    open: fn(&Path) -> Result<Box<dyn Engine>>,
    /// Form of the ready files.
    form: Form,
    /// Statements before the tables are created.
    before: &'static [&'static str],
    /// Statement that loads a file into a table with these columns.
    load: fn(&str, &str, &str) -> String,
    /// Whether all is one transaction, and foreign keys are added after all rows.
    is_one_transaction: bool,
    /// Statements at the end; `{tables}` is replaced by all tables.
    after: &'static [&'static str],
}

/// Form of a value in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// Fields end with a tab; a backslash escapes.
    Mysql,
    /// Form of [`Form::Mysql`], with bytes in hexadecimal digits.
    Postgres,
    /// Fields in quotation marks.
    Csv,
}

const CONTESTS: [Contest; 4] = [
    Contest {
        name: "postgres+private",
        open: |_| Ok(Box::new(bourse_engine_postgres::open(&format!("postgres+private:?{}", ram()))?)),
        form: Form::Postgres,
        before: &["SET LOCAL maintenance_work_mem = '256MB'"],
        load: |table, columns, file| format!("COPY {table} ({columns}) FROM '{file}' (FREEZE)"),
        is_one_transaction: true,
        after: &["ANALYZE {tables}", "CHECKPOINT"],
    },
    mysql("mariadb+private"),
    mysql("mysql+private"),
    Contest {
        name: "duckdb",
        open: |folder| Ok(Box::new(bourse_engine_duckdb::open(&format!("duckdb:{}", folder.join("d.db").display()))?)),
        form: Form::Csv,
        before: &[],
        load: |table, columns, file| {
            format!("COPY {table} ({columns}) FROM '{file}' (FORMAT csv, HEADER false, NULLSTR '\\N')")
        },
        is_one_transaction: false,
        after: &["CHECKPOINT"],
    },
];

const fn mysql(name: &'static str) -> Contest {
    Contest {
        name,
        open: if name.len() == "mariadb+private".len() {
            |_| Ok(Box::new(bourse_engine_mysql::open(&format!("mariadb+private:?{}", ram()))?))
        } else {
            |_| Ok(Box::new(bourse_engine_mysql::open(&format!("mysql+private:?{}", ram()))?))
        },
        form: Form::Mysql,
        before: &["SET SESSION foreign_key_checks = 0, SESSION unique_checks = 0"],
        load: |table, columns, file| {
            format!(
                "LOAD DATA INFILE '{file}' INTO TABLE {table} CHARACTER SET binary
                    FIELDS TERMINATED BY x'09' ESCAPED BY x'5c' LINES TERMINATED BY x'0a' ({columns})"
            )
        },
        is_one_transaction: false,
        after: &["ANALYZE TABLE {tables}"],
    }
}

/// Option for storage in memory, if possible: the disk's noise is not under test.
fn ram() -> &'static str {
    if Path::new("/dev/shm").is_dir() { "ram=on" } else { "" }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut number = |default: i64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (pairs, customers, days) = (number(3)?, number(1_000)?, number(1)?);
    let wanted: Vec<String> = arguments.collect();
    let (inputs, part) = (Inputs::builtin(), Part::whole(customers, days)?);
    let folder = open_folder()?;
    let mut made = Vec::new();
    for contest in CONTESTS.iter().filter(|it| wanted.is_empty() || wanted.iter().any(|name| name == it.name)) {
        let files = folder.path().join(format!("files-{}", contest.form as u8));
        if let Err(why) = (contest.open)(folder.path()).and_then(|engine| Ok(engine.description().map(drop)?)) {
            println!("{}: skipped ({why})", contest.name);
            continue;
        }
        if !made.contains(&contest.form) {
            made.push(contest.form);
            write_files(&inputs, part, contest.form, &files)?;
        }
        println!("{}: seconds to load {customers} customers and {days} days", contest.name);
        println!("{:>10} {:>10} {:>10} {:>10} {:>10}", "bourse", "checks", "its own", "ratio", "processor");
        let (mut ratios, mut processor) = (Vec::new(), Vec::new());
        for pair in 0..pairs {
            let place = folder.path().join(format!("{}-{pair}", contest.name));
            let places = [place.with_extension("a"), place.with_extension("b")];
            for place in &places {
                fs::create_dir(place)?;
            }
            let ours = || ours(&*(contest.open)(&places[0])?, &inputs, part);
            let theirs = || theirs(&*(contest.open)(&places[1])?, contest, &files);
            let (ours, theirs) = if pair % 2 == 0 {
                let ours = ours()?;
                (ours, theirs()?)
            } else {
                let theirs = theirs()?;
                (ours()?, theirs)
            };
            let (ratio, of_processor) = (ours.loaded / theirs.loaded, ours.processor / theirs.processor);
            println!(
                "{:>10.2} {:>10.2} {:>10.2} {ratio:>10.3} {of_processor:>10.3}",
                ours.loaded, ours.checked, theirs.loaded
            );
            ratios.push(ratio);
            processor.push(of_processor);
            for place in places {
                fs::remove_dir_all(place)?;
            }
        }
        for (name, mut ratios) in [("seconds", ratios), ("processor time", processor)] {
            ratios.sort_by(f64::total_cmp);
            if let (Some(least), Some(most)) = (ratios.first(), ratios.last()) {
                println!("{name}: median ratio {:.3}, from {least:.3} to {most:.3}", ratios[ratios.len() / 2]);
            }
        }
    }
    Ok(())
}

/// A folder that a server of another account can read.
fn open_folder() -> Result<tempfile::TempDir> {
    let folder = if ram().is_empty() { tempfile::tempdir()? } else { tempfile::tempdir_in("/dev/shm")? };
    #[cfg(unix)]
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(folder)
}

/// Duration of a load.
struct LoadDuration {
    /// Seconds without checks.
    loaded: f64,
    /// Seconds of checks.
    checked: f64,
    /// Seconds of processors, without checks.
    processor: f64,
}

/// Processor time until now, of this process and of the server, in seconds.
fn processor(engine: &dyn Engine) -> f64 {
    let own = processes::process_use(std::process::id(), false).map(|used| used.process);
    let server = engine.footprint().ok().and_then(|it| it.server);
    let used = own.into_iter().chain(server).map(|it| it.cpu_user_ns + it.cpu_system_ns);
    used.sum::<u64>() as f64 / 1e9
}

/// Loads by Bourse.
fn ours(engine: &dyn Engine, inputs: &Inputs, part: Part) -> Result<LoadDuration> {
    // A private server is started by the first call that needs it.
    engine.description()?;
    let (start, used) = (Instant::now(), processor(engine));
    let mut of_checks = [0.0; 2];
    let (mut checks_begin, mut checks_end) = (None, None);
    load(engine, inputs, part, &LoadOptions::default(), &mut |progress| {
        match progress.phase {
            LoadPhase::Counts | LoadPhase::Contents if checks_begin.is_none() => {
                checks_begin = Some(Instant::now());
                of_checks[0] = processor(engine);
            }
            LoadPhase::Finish if checks_end.is_none() => {
                checks_end = Some(Instant::now());
                of_checks[1] = processor(engine);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let all = start.elapsed().as_secs_f64();
    let used = processor(engine) - used;
    let checked = match (checks_begin, checks_end) {
        (Some(begin), Some(end)) => end.duration_since(begin).as_secs_f64(),
        _ => return Err("the load told of no checks".into()),
    };
    Ok(LoadDuration { loaded: all - checked, checked, processor: used - (of_checks[1] - of_checks[0]) })
}

/// Loads by the server's own loader.
fn theirs(engine: &dyn Engine, contest: &Contest, files: &Path) -> Result<LoadDuration> {
    engine.description()?;
    let dialect = engine.sql()?.dialect();
    let mut session = engine.session()?;
    let (start, used) = (Instant::now(), processor(engine));
    if contest.is_one_transaction {
        session.begin(Isolation::ReadCommitted, Access::Write)?;
    }
    for statement in contest.before {
        session.execute_text(statement, &[])?;
    }
    let tables = load_order(tables::all());
    let mut foreign_keys = Vec::new();
    for table in &tables {
        let mut create = create_table(table, dialect, true);
        if contest.is_one_transaction {
            let (made, mut keys) = without_foreign_keys(&create);
            create = made;
            foreign_keys.append(&mut keys);
        }
        session.execute_text(&create, &[])?;
    }
    for table in &tables {
        let file = file_of(files, table);
        if file.is_file() {
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            session.execute_text(&(contest.load)(table.name, &columns.join(", "), &file.display().to_string()), &[])?;
        }
    }
    finish(&mut *session, contest, dialect, &tables, &foreign_keys)?;
    Ok(LoadDuration { loaded: start.elapsed().as_secs_f64(), checked: 0.0, processor: processor(engine) - used })
}

/// Adds indexes, foreign keys, statistics.
fn finish(
    session: &mut dyn Session,
    contest: &Contest,
    dialect: &'static Dialect,
    tables: &[&'static Table],
    foreign_keys: &[String],
) -> Result<()> {
    for table in tables {
        for index in table.indexes {
            session.execute_text(&create_index(table, index, dialect), &[])?;
        }
    }
    for key in foreign_keys {
        session.execute_text(key, &[])?;
    }
    if contest.is_one_transaction {
        session.commit()?;
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    for statement in contest.after {
        session.execute_text(&statement.replace("{tables}", &names.join(", ")), &[])?;
    }
    Ok(())
}

fn file_of(folder: &Path, table: &Table) -> PathBuf {
    folder.join(table.name)
}

/// Writes the rows of each table as a file for the loader.
fn write_files(inputs: &Inputs, part: Part, form: Form, folder: &Path) -> Result<()> {
    fs::create_dir(folder)?;
    let mut files: BTreeMap<&str, BufWriter<File>> = BTreeMap::new();
    let mut line = Vec::new();
    bourse_egen::files::batches(inputs, part, &bourse_egen::files::BatchOptions::default(), |batch| {
        let name = batch.table().name;
        if !files.contains_key(name) {
            files.insert(name, BufWriter::new(File::create(file_of(folder, batch.table()))?));
        }
        let file = files.get_mut(name).expect("made just before");
        for index in 0..batch.len() {
            line.clear();
            batch.with_row(index, &mut |values| write_line(&mut line, values, form));
            file.write_all(&line)?;
        }
        Ok::<(), std::io::Error>(())
    })?;
    for file in files.values_mut() {
        file.flush()?;
    }
    Ok(())
}

fn write_line(line: &mut Vec<u8>, values: &[Value<'_>], form: Form) {
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            line.push(if form == Form::Csv { b',' } else { b'\t' });
        }
        match (*value, form) {
            (Value::Null, _) => line.extend_from_slice(b"\\N"),
            (Value::Bool(flag), _) => line.push(if flag { b'1' } else { b'0' }),
            (Value::Text(text), _) => write_bytes(line, text.as_bytes(), form),
            (Value::Blob(bytes), Form::Postgres) => {
                line.extend_from_slice(b"\\\\x");
                let mut digits = String::with_capacity(2 * bytes.len());
                for byte in bytes {
                    write!(digits, "{byte:02x}").expect("a String takes all");
                }
                line.extend_from_slice(digits.as_bytes());
            }
            // DuckDB reads bytes that are no ASCII text in digits; the news have none.
            (Value::Blob(bytes), _) => write_bytes(line, bytes, form),
            (other, _) => write!(line, "{other}").expect("a Vec takes all"),
        }
    }
    line.push(b'\n');
}

fn write_bytes(line: &mut Vec<u8>, bytes: &[u8], form: Form) {
    if form == Form::Csv {
        line.push(b'"');
        for &byte in bytes {
            if byte == b'"' {
                line.push(b'"');
            }
            line.push(byte);
        }
        return line.push(b'"');
    }
    for &byte in bytes {
        match byte {
            b'\t' => line.extend_from_slice(b"\\t"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\\' => line.extend_from_slice(b"\\\\"),
            _ => line.push(byte),
        }
    }
}
