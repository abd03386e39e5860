//! Passes the engine's version to the crate: the engine does not report it, but the lock file has it.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // In the workspace; a packaged crate has its own, which does not change.
    if Path::new("../../Cargo.lock").exists() {
        println!("cargo:rerun-if-changed=../../Cargo.lock");
    }
    // The crate is named for its engine.
    let package = env::var("CARGO_PKG_NAME").expect("Cargo runs build scripts");
    let engine = package.strip_prefix("bourse-engine-").expect("a crate of an engine");
    // The shortest way to ask Cargo for an entry of the lock file; it needs no network.
    let asked = Command::new(env::var_os("CARGO").expect("Cargo runs build scripts"))
        .args(["pkgid", "--offline", engine])
        .current_dir(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo runs build scripts"))
        .output()
        .expect("Cargo can be run again");
    let answer = String::from_utf8_lossy(&asked.stdout);
    let version = answer.trim().rsplit_once(['@', '#']).map(|(_, version)| version);
    let version = version.filter(|_| asked.status.success()).unwrap_or_else(|| {
        panic!("cargo pkgid {engine} tells no version: {}", String::from_utf8_lossy(&asked.stderr));
    });
    println!("cargo:rustc-env=ENGINE_VERSION={version}");
}
