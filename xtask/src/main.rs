//! Commands for developers and CI.
//!
//! ```text
//! cargo xtask ci       format, clippy, tests, documentation, packages, tidy: everything a change must pass
//! cargo xtask test     the tests alone
//! cargo xtask full     the engines that only builds with the feature `full` include: clippy and tests, also on clusters
//! cargo xtask features each feature of the program alone, and none of them: clippy
//! cargo xtask differential  the same 20,000 transactions on every available engine: [TRANSACTIONS]
//! cargo xtask planted  plant each bug and run each detector, at full length: writes docs/planted-bugs.md
//! cargo xtask docs     write the generated pages below docs/
//! cargo xtask results  check the stored results, and draw docs/results.md from them
//! cargo xtask site     the documentation as a site, by mdBook: target/site/book
//! cargo xtask tidy     conventions that no other tool checks
//! cargo xtask size     limits of the sources (also part of ci) and of the release binary, which it builds
//! cargo xtask scaling  coordinated drivers on Galera clusters of this machine: [SECONDS [CUSTOMERS [NODES]]], default 20 and 3,000
//! cargo xtask isolation  a million recorded transactions at each level of every available engine, each for at most so many
//!                        seconds, or of those with a word: writes docs/isolation.json and its tables: [SECONDS [WORD…]]
//! cargo xtask fuzz     each fuzz target for a minute: [SECONDS [TARGET…]]
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to the terminal")]

mod compiler;
mod differential;
mod docs;
mod features;
mod fuzz;
mod isolation;
mod links;
mod retried;
mod scaling;
mod site;
mod size;
mod skipped;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(compiled) = compiler::compile(&arguments) {
        return compiled;
    }
    let task = arguments.into_iter().next().unwrap_or_default();
    let outcome =
        match task.as_str() {
            "ci" => skipped::with_list(ci),
            "test" => skipped::with_list(|| tests(&[]).and_then(|()| cargo(&WITH_BUGS))),
            "full" => skipped::with_list(full),
            "features" => features::alone(&root()),
            "differential" => differential::compare(&root(), std::env::args().nth(2).as_deref()),
            "planted" => planted(),
            "docs" => docs::write(&root()).and_then(|()| pages("pages::")).and_then(|()| pages("results::")),
            "results" => pages("results::"),
            "site" => site::build(&root()),
            "tidy" => tidy::tidy(&root()),
            "size" => size::size(&root()),
            "scaling" => scaling::print(&root(), &std::env::args().skip(2).collect::<Vec<_>>()),
            "isolation" => isolation::run(&root(), &std::env::args().skip(2).collect::<Vec<_>>()),
            "fuzz" => fuzz::fuzz(&root(), &std::env::args().skip(2).collect::<Vec<_>>()),
            _ => Err("usage: cargo xtask ci | test | full | features | differential [TRANSACTIONS] | planted [BUG…] | docs | results | site | tidy | size | scaling [SECONDS [CUSTOMERS [NODES]]] | isolation [SECONDS [WORD…]] | fuzz [SECONDS [TARGET…]]"
                .to_owned()),
        };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Arguments of the tests with bugs on purpose. --workspace, since a choice of packages would have other features, and compile
/// their dependencies once more.
const WITH_BUGS: [&str; 6] =
    ["test", "--workspace", "--test", "planted", "--features", "bourse-acid/planted-bug,bourse-driver/planted-bug"];

/// The workspace's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

fn ci() -> Result<(), String> {
    optional_component("fmt", &["fmt", "--all", "--check"])?;
    let compiler = compiler::environment(has_component("clippy"))?;
    let lints: Vec<_> = compiler.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let folder = root().join("target/doc");
    let folder = folder.to_str().ok_or("the workspace's path is no text")?;
    cargo_with(&["test", "--workspace", "--no-run"], &[&lints[..], &[(compiler::DOCUMENTED_IN, folder)]].concat())?;
    std::thread::scope(|scope| {
        let compiled = scope.spawn(|| compile_beside_tests(&lints));
        let tested = tests(&lints);
        tested.and(compiled.join().expect("a failure is returned"))
    })?;
    // A separate run, so that no other test meets a build with bugs.
    cargo_with(&WITH_BUGS, &lints)?;
    features::least(&lints)?;
    step("docs", || docs::check(&root()))?;
    step("cargo package", packaged)?;
    step("tidy", || tidy::tidy(&root()))?;
    step("size", || size::sources(&root()))
}

/// Compiles what the tests do not need: benchmarks for their lints, the tests with bugs. At the lowest priority, since
/// tests leave processors idle while they wait, but must not wait for this.
fn compile_beside_tests(lints: &[(&str, &str)]) -> Result<(), String> {
    // One cargo at a time compiles: the tests' finds within this time that it need not.
    std::thread::sleep(Duration::from_secs(10));
    let low = |arguments: &[&str], environment| run(low_priority(), arguments, environment);
    low(&["test", "--workspace", "--no-run", "--benches", "--quiet"], lints)?;
    low(&[&WITH_BUGS[..], &["--no-run", "--quiet"]].concat(), lints)
}

fn tests(environment: &[(&str, &str)]) -> Result<(), String> {
    for name in ["BOURSE_FLAT_IN", "BOURSE_GOLDEN"] {
        match std::env::var(name) {
            Ok(folder) => println!("xtask: {name} is {folder}"),
            Err(_) => println!("xtask: {name} is not set: tests against the official data are skipped by name"),
        }
    }
    // Tests in parallel: four for each core, since most of the long ones wait, for a round's time or for another process.
    let threads = 4 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = threads.to_string();
    let all = [environment, &[("RUST_TEST_THREADS", threads.as_str())]].concat();
    let cargo = || {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.env(skipped::VARIABLE, skipped::file()).envs(all.iter().copied()).current_dir(root());
        cargo
    };
    let arguments = ["test", "--workspace", "--no-fail-fast"];
    step(&format!("cargo {}", arguments.join(" ")), || retried::test(cargo, &arguments))
}

/// Packages each crate, without building the package: crates of Bourse are not published, so a build would find none of
/// them in a registry.
fn packaged() -> Result<(), String> {
    let arguments = ["package", "--workspace", "--no-verify", "--exclude-lockfile", "--allow-dirty"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output();
    let output = output.map_err(|error| format!("cargo could not be started: {error}"))?;
    // Cargo warns of fields that only published crates need, such as a homepage.
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Writes the pages that are generated by the program, through their tests of that name.
fn pages(tests: &str) -> Result<(), String> {
    let test = ["test", "--package", "bourse", "--test", "it", "--", tests];
    cargo_with(&test, &[("BOURSE_WRITE_DOCS", "1")])
}

/// Checks and tests the program with every engine. Not part of `cargo xtask ci`: the dependencies of these engines take
/// minutes to compile.
fn full() -> Result<(), String> {
    let program = ["--package", "bourse", "--features", "full"];
    optional_component(
        "clippy",
        &[&["clippy", "--all-targets"][..], &program, &["--", "--deny", "warnings"]].concat(),
    )?;
    cargo(&[&["test", "--bin", "bourse", "--test", "full"][..], &program].concat())?;
    // The view on a terminal is no part of the default build, and drivers that share a server take half a minute.
    let it = [&["test", "--test", "it"][..], &program, &["--", "live::", "coordinated::"]].concat();
    cargo_with(&it, &[("BOURSE_LONG_TESTS", "1")])?;
    // Encrypted connections, by the engines' own tests.
    for engine in ["bourse-client", "bourse-engine-mysql", "bourse-engine-postgres"] {
        cargo(&["test", "--package", engine, "--features", "tls", "--", "tls::"])?;
    }
    // Simulations of the tables in docs/comparing.md take minutes.
    cargo_with(&["test", "--package", "bourse-stats", "sessions::"], &[("BOURSE_LONG_TESTS", "1")])?;
    // Their libraries and jars are loaded at run time: `cargo xtask ci` skips their tests where there are none.
    cargo(&["test", "--package", "bourse-engine-duckdb", "--package", "bourse-engine-jdbc"])?;
    // Their crates are empty without the feature: nothing else tests them.
    for engine in ["firebird", "turso"] {
        let package = format!("bourse-engine-{engine}");
        let engine = ["--package", &package, "--features", engine];
        optional_component(
            "clippy",
            &[&["clippy", "--all-targets"][..], &engine, &["--", "--deny", "warnings"]].concat(),
        )?;
        cargo(&[&["test"][..], &engine].concat())?;
    }
    // Clusters take seconds to start, and a minute to be killed and to join again.
    let clusters = ["test", "--package", "bourse-engine-mysql", "--test", "cluster", "--", "--test-threads", "1"];
    cargo_with(&clusters, &[("BOURSE_LONG_TESTS", "1")])
}

/// Plants each bug, or those of these names, and runs each detector; a run of all bugs writes the page of the documentation.
fn planted() -> Result<(), String> {
    let bugs: Vec<String> = std::env::args().skip(2).collect();
    let test = ["test", "--package", "bourse-acid", "--features", "planted-bug", "--test", "planted", "--", "--full"];
    let page = root().join("docs/planted-bugs.md");
    let mut arguments = test.to_vec();
    if bugs.is_empty() {
        arguments.extend(["--page", page.to_str().ok_or("the workspace's path is no text")?]);
    }
    arguments.extend(bugs.iter().map(String::as_str));
    cargo(&arguments)
}

/// Runs a cargo command whose component a bare toolchain may lack; a missing component is reported.
fn optional_component(name: &str, arguments: &[&str]) -> Result<(), String> {
    if has_component(name) { cargo(arguments) } else { Ok(()) }
}

/// Whether the toolchain has a component; prints that it is skipped if not.
fn has_component(name: &str) -> bool {
    let present =
        Command::new(env!("CARGO")).args([name, "--version"]).output().is_ok_and(|output| output.status.success());
    if !present {
        println!("xtask: skipped {name}: this toolchain has no such component (rustup component add)");
    }
    present
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    cargo_with(arguments, &[])
}

fn cargo_with(arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    run(Command::new(env!("CARGO")), arguments, environment)
}

/// Cargo at the lowest priority, where the system has a program for that.
fn low_priority() -> Command {
    if !cfg!(unix) {
        return Command::new(env!("CARGO"));
    }
    let mut nice = Command::new("nice");
    nice.args(["-n", "19", env!("CARGO")]);
    nice
}

/// Runs a command of cargo; tests list their skips.
fn run(mut cargo: Command, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    step(&format!("cargo {}", arguments.join(" ")), || {
        let cargo = cargo.args(arguments).env(skipped::VARIABLE, skipped::file()).envs(environment.iter().copied());
        let status = cargo.current_dir(root()).status();
        let status = status.map_err(|error| format!("cargo could not be started: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" "))) }
    })
}

fn step(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let start = Instant::now();
    println!("xtask: {name}");
    work()?;
    println!("xtask: {name}: fine, {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
