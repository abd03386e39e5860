//! Compiles the library that is preloaded. The crate includes it as bytes: a separate artifact would be missing when only the
//! program is built or installed.
//!
//! For a target without such a library the file is empty, and `BOURSE_PRELOAD_NONE` has the reason.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=preload");
    println!("cargo:rerun-if-changed=build.rs");
    let library = Path::new(&env::var("OUT_DIR")?).join("preload.so");
    let none = match unfit() {
        Some(why) => Some(why.to_owned()),
        None => compile(&library).err().map(|error| format!("the C compiler makes no shared library: {error}")),
    };
    if none.is_some() {
        fs::write(&library, [])?;
    }
    let why = none.unwrap_or_default();
    println!("cargo:rustc-env=BOURSE_PRELOAD_NONE={}", why.lines().next().unwrap_or_default());
    Ok(())
}

/// Reason that the target has no such library; `None` if it has one.
fn unfit() -> Option<&'static str> {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_POINTER_WIDTH", "64") {
        return Some("the library that is preloaded is made for 64-bit Linux");
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        return Some("this program is linked statically, so that nothing can be preloaded");
    }
    (!is("CARGO_CFG_TARGET_ENV", "gnu")).then_some("the library that is preloaded is made for glibc")
}

fn compile(library: &Path) -> Result<(), Box<dyn Error>> {
    let compiler = cc::Build::new().opt_level(2).pic(true).warnings(true).extra_warnings(true).try_get_compiler()?;
    let output = compiler
        .to_command()
        .args(["-std=gnu11", "-shared", "-fvisibility=hidden", "-U_FORTIFY_SOURCE", "-pthread"])
        .arg("-o")
        .arg(library)
        .args(["preload/calls.c", "preload/image.c", "preload/record.c"])
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
}
