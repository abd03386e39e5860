//! `cargo xtask fuzz [SECONDS [TARGET…]]`: each fuzz target for a minute, from the seeds, under libFuzzer.
//!
//! libFuzzer comes as a crate, and the coverage it needs from flags that every toolchain has: neither cargo-fuzz nor a nightly
//! compiler is needed. libFuzzer itself needs a C++ compiler.

use std::path::Path;
use std::process::Command;

/// Flags to count edges and compare operands, as `cargo fuzz` sets them without a sanitizer.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Clink-dead-code";

/// Builds the targets and runs each for a time; fails if one finds a fault.
pub(crate) fn fuzz(root: &Path, arguments: &[String]) -> Result<(), String> {
    let seconds: u32 = match arguments.first() {
        None => 60,
        Some(text) => text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?,
    };
    let only = arguments.get(1..).unwrap_or_default();
    let names = names(root)?;
    if let Some(unknown) = only.iter().find(|name| !names.contains(name)) {
        return Err(format!("no fuzz target is called {unknown}; known: {}", names.join(", ")));
    }
    let triple = triple()?;
    build(root, &triple)?;
    let mut found = Vec::new();
    for name in names.iter().filter(|name| only.is_empty() || only.contains(name)) {
        println!("xtask: fuzz {name}, {seconds} s");
        let program = root.join("fuzz/target").join(&triple).join("release/fuzz");
        let kept = root.join("fuzz/artifacts").join(name);
        // The fuzzer adds its findings to the first folder.
        let corpus = root.join("fuzz/corpus").join(name);
        for folder in [&kept, &corpus] {
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let status = Command::new(program)
            .env("BOURSE_FUZZ", name)
            .arg(&corpus)
            .arg(root.join("fuzz/seeds").join(name))
            .args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={}/", kept.display())])
            .args(["-print_final_stats=1", "-timeout=25", "-rss_limit_mb=4096", "-max_len=100000", "-verbosity=0"])
            .status()
            .map_err(|error| format!("{name} could not be started: {error}"))?;
        if !status.success() {
            found.push(format!("{name}: {status}; what shows it is in {}", kept.display()));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n  ")) }
}

/// The targets, by their folders of seeds.
fn names(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/seeds");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// The machine's own target triple: passed explicitly, so that the flags do not apply to build scripts.
fn triple() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what machine this is".to_owned())
}

fn build(root: &Path, triple: &str) -> Result<(), String> {
    println!("xtask: building the fuzz targets");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--package", "bourse-fuzz", "--features", "libfuzzer", "--bin", "fuzz", "--release", "--quiet"])
        .args(["--target", triple, "--target-dir", "fuzz/target"])
        .current_dir(root)
        .env("RUSTFLAGS", FLAGS)
        // An overflow is a finding.
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .status()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let compiler = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
    let lacking = if compiler { "" } else { ": libFuzzer needs a C++ compiler (c++), and none was found" };
    Err(format!("the fuzz targets could not be built{lacking}"))
}
