//! Compiles the libraries. The crate includes them as bytes: separate artifacts would be missing when only the program is built
//! or installed.
//!
//! For a target without such libraries the files are empty, and `BOURSE_PRELOAD_NONE` has the reason.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// Libraries with their sources.
const LIBRARIES: [(&str, &[&str]); 3] = [
    ("files.so", &["files/calls.c", "files/image.c", "files/record.c"]),
    // These include the parts that they share.
    ("sqlite.so", &["sqlite/calls.c"]),
    ("extension.so", &["sqlite/extension.c"]),
];

fn main() -> Result<(), Box<dyn Error>> {
    for changed in ["files", "sqlite", "build.rs"] {
        println!("cargo:rerun-if-changed={changed}");
    }
    let folder = env::var("OUT_DIR")?;
    let mut why = unfit().unwrap_or_default().to_owned();
    for (name, sources) in LIBRARIES {
        let library = Path::new(&folder).join(name);
        if why.is_empty() {
            why = compile(&library, sources)
                .err()
                .map_or_else(String::new, |error| format!("the C compiler makes no shared library: {error}"));
        }
        if !why.is_empty() {
            fs::write(&library, [])?;
        }
    }
    println!("cargo:rustc-env=BOURSE_PRELOAD_NONE={}", why.lines().next().unwrap_or_default());
    Ok(())
}

/// Reason that the target has no such libraries; `None` if it has them.
fn unfit() -> Option<&'static str> {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_POINTER_WIDTH", "64") {
        return Some("libraries that are preloaded are made for 64-bit Linux");
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        return Some("this program is linked statically, so that nothing can be preloaded");
    }
    (!is("CARGO_CFG_TARGET_ENV", "gnu")).then_some("libraries that are preloaded are made for glibc")
}

fn compile(library: &Path, sources: &[&str]) -> Result<(), Box<dyn Error>> {
    let compiler = cc::Build::new().opt_level(2).pic(true).warnings(true).extra_warnings(true).try_get_compiler()?;
    let output = compiler
        .to_command()
        .args(["-std=gnu11", "-shared", "-fvisibility=hidden", "-U_FORTIFY_SOURCE", "-pthread"])
        .arg("-o")
        .arg(library)
        .args(sources)
        .arg("-ldl")
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().find(|line| line.contains("error:")).unwrap_or(&said).into())
}
