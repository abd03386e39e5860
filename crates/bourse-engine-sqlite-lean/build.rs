//! Compiles SQLite a second time, from the source in `libsqlite3-sys`, with the options that its authors recommend for
//! speed (<https://sqlite.org/compile.html>, "Recommended Compile-time Options").
//!
//! One program contains both copies, so every public name of this one gets a prefix, by macros before the source.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
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
    // It selects this copy of the library: see `ffi.rs`.
    println!("cargo:rustc-cfg=lean");
    println!("cargo:rerun-if-changed=build.rs");
    // Where `libsqlite3-sys` has its source.
    let folder = PathBuf::from(env::var("DEP_SQLITE3_INCLUDE")?);
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
