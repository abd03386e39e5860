//! Compiles SQLite a second time, from the source in `libsqlite3-sys`, with the options that its authors recommend for
//! speed (<https://sqlite.org/compile.html>, "Recommended Compile-time Options").
//!
//! The source is taken from Cargo's own folders. A dependency on `libsqlite3-sys` would give its path too, but Cargo
//! would then wait for that crate's compilation: the two C builds, the longest steps of a first build, would run one
//! after the other.
//!
//! One program contains both copies, so every public name of this one gets a prefix, by macros before the source.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Prefix of every public name.
const PREFIX: &str = "bourse_lean_";

/// Options that make it lean. `DEFAULT_WAL_SYNCHRONOUS` of the recommendation is left out, since targets set how they
/// sync.
const LEAN: [(&str, Option<&str>); 13] = [
    // "Text" in double quotes is an identifier, and nothing else.
    ("SQLITE_DQS", Some("0")),
    // Several threads, each with connections of its own: no mutex in each connection.
    ("SQLITE_THREADSAFE", Some("2")),
    // No count of the memory that is allocated.
    ("SQLITE_DEFAULT_MEMSTATUS", Some("0")),
    ("SQLITE_LIKE_DOESNT_MATCH_BLOBS", None),
    // No limit, and so no measuring of an expression's depth while a statement is parsed.
    ("SQLITE_MAX_EXPR_DEPTH", Some("0")),
    ("SQLITE_OMIT_DECLTYPE", None),
    ("SQLITE_OMIT_DEPRECATED", None),
    ("SQLITE_OMIT_PROGRESS_CALLBACK", None),
    ("SQLITE_OMIT_SHARED_CACHE", None),
    ("SQLITE_USE_ALLOCA", None),
    // Calls do not look whether the library was started; the crate starts it.
    ("SQLITE_OMIT_AUTOINIT", None),
    ("SQLITE_STRICT_SUBTYPE", Some("1")),
    ("SQLITE_OMIT_LOAD_EXTENSION", None),
];

/// Options of the stock build that this one needs too, so that only `LEAN` differs: the planner's statistics, and
/// functions of the system.
const ALIKE: [(&str, Option<&str>); 4] = [
    ("SQLITE_ENABLE_STAT4", None),
    ("HAVE_USLEEP", Some("1")),
    ("HAVE_ISNAN", None),
    ("_POSIX_THREAD_SAFE_FUNCTIONS", None),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    // In the workspace; a packaged crate has its own, which does not change.
    if Path::new("../../Cargo.lock").exists() {
        println!("cargo:rerun-if-changed=../../Cargo.lock");
    }
    let folder = sqlite_source()?;
    let renamed = Path::new(&env::var("OUT_DIR")?).join("lean.c");
    fs::write(&renamed, with_prefix(&fs::read_to_string(folder.join("sqlite3.h"))?))?;

    let mut build = cc::Build::new();
    build.file(&renamed).include(&folder).warnings(false);
    for (name, value) in LEAN.into_iter().chain(ALIKE) {
        build.define(name, value);
    }
    if env::var_os("CARGO_CFG_WINDOWS").is_none() {
        build.define("HAVE_LOCALTIME_R", None);
    }
    // Of a dependency from outside, as the stock build is, the development profile asks for 2; of our own crates for less.
    let level = env::var("OPT_LEVEL").ok().and_then(|level| level.parse::<u32>().ok());
    if let Some(level) = level {
        build.opt_level(level.max(2));
    }
    build.compile("bourse_lean_sqlite3");
    Ok(())
}

/// Folder with `sqlite3.c` of the `libsqlite3-sys` that the workspace is built with.
fn sqlite_source() -> Result<PathBuf, Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed={SOURCE_VARIABLE}");
    if let Some(folder) = env::var_os(SOURCE_VARIABLE) {
        return with_source(folder.into());
    }
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).ok_or("neither CARGO_HOME nor a home folder")?;
    let package = format!("libsqlite3-sys-{}", locked_version()?);
    let registries = home.join("registry/src");
    let found = fs::read_dir(&registries)
        .map_err(|error| format!("{}: {error}", registries.display()))?
        .filter_map(|registry| Some(registry.ok()?.path().join(&package)))
        .find(|folder| folder.exists());
    let folder = found.ok_or_else(|| {
        let registries = registries.display();
        format!("no {package} in {registries}; {SOURCE_VARIABLE}=FOLDER names a folder with its sqlite3.c")
    })?;
    with_source(folder.join("sqlite3"))
}

/// Variable that names the folder of the source if Cargo's own folders do not contain it, as with vendored packages.
const SOURCE_VARIABLE: &str = "BOURSE_SQLITE_SOURCE";

fn with_source(folder: PathBuf) -> Result<PathBuf, Box<dyn Error>> {
    if folder.join("sqlite3.c").exists() {
        Ok(folder)
    } else {
        Err(format!("{} holds no sqlite3.c", folder.display()).into())
    }
}

/// Version of `libsqlite3-sys` in the lock file. `cargo pkgid` reads nothing else, so it works without a network.
fn locked_version() -> Result<String, Box<dyn Error>> {
    let asked = Command::new(env::var_os("CARGO").ok_or("CARGO is not set")?)
        .args(["pkgid", "--offline", "libsqlite3-sys"])
        .current_dir(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?)
        .output()?;
    let answer = String::from_utf8(asked.stdout)?;
    match answer.trim().rsplit_once(['@', '#']) {
        Some((_, version)) if asked.status.success() => Ok(version.to_owned()),
        _ => Err(format!("cargo pkgid libsqlite3-sys: {}", String::from_utf8_lossy(&asked.stderr)).into()),
    }
}

/// The source, with a prefix to every public name that `header` declares.
fn with_prefix(header: &str) -> String {
    let mut text = String::new();
    for declaration in header.split("SQLITE_API ").skip(1) {
        if let Some(name) = declared(declaration) {
            writeln!(text, "#define {name} {PREFIX}{name}").expect("a String takes all");
        }
    }
    text.push_str("#include \"sqlite3.c\"\n");
    text
}

/// Name that a declaration declares: its first word of SQLite's own that arguments, a bound or the end follow.
fn declared(declaration: &str) -> Option<&str> {
    let end = declaration.find(['(', '[', ';'])?;
    let before = declaration[..end].trim_end();
    let start = before.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
    Some(&before[start..]).filter(|name| name.starts_with("sqlite3"))
}
