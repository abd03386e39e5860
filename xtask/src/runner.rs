//! Tests of the workspace: compiled by cargo, which runs one program after the other. The longest ones run two at a time, since
//! the last tests of each leave cores idle.

use crate::{cargo_command, root, skipped, step};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// Packages whose tests run two programs at a time: each takes ten seconds or more, mostly with load of its own. The others have
/// tests of short times, or end soon.
const PAIRED: [&str; 10] = [
    "bourse",
    "bourse-acid",
    "bourse-egen",
    "bourse-engine-mysql",
    "bourse-engine-postgres",
    "bourse-engine-sqlite-lib",
    "bourse-micro",
    "bourse-report",
    "bourse-serve",
    "bourse-tpce",
];

/// Features of the crates that hold bugs on purpose.
const WITH_BUGS: &str = "bourse-acid/planted-bug,bourse-driver/planted-bug";

/// Compiles and runs every test; `environment` is cargo's.
pub(crate) fn run(environment: &[(&str, &str)]) -> Result<(), String> {
    for name in ["BOURSE_FLAT_IN", "BOURSE_GOLDEN"] {
        match std::env::var(name) {
            Ok(folder) => println!("xtask: {name} is {folder}"),
            Err(_) => println!("xtask: {name} is not set: tests against the official data are skipped by name"),
        }
    }
    let mut programs = compiled(&[], environment)?;
    // Programs of their own, so that no other test meets a build with bugs. --workspace, since a choice of packages would have
    // other features, and compile their dependencies once more.
    programs.extend(compiled(&["--test", "planted", "--features", WITH_BUGS], environment)?);
    let documentation = ("documentation".to_owned(), cargo_command(&["test", "--workspace", "--doc"], environment));
    // Tests in parallel: four for each core, or three in each of two programs, since most of the long ones wait, for a round's
    // time or for another process.
    let (paired, alone): (Vec<_>, Vec<_>) =
        programs.iter().partition(|program| PAIRED.contains(&program.package.as_str()));
    let paired = paired.into_iter().map(|program| program.command(3)).collect();
    let alone = alone.into_iter().map(|program| program.command(4)).chain([documentation]).collect();
    step("tests", || {
        let ended = [run_all(paired, 2), run_all(alone, 1)].concat();
        let all: usize = ended.iter().map(|program| program.passed).sum();
        println!("xtask: {all} tests passed in {} programs", ended.len());
        let failed: Vec<_> = ended.iter().filter(|ended| !ended.is_fine).map(|ended| ended.name.as_str()).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("tests failed of {}", failed.join(", "))) }
    })
}

/// A test program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TestProgram {
    /// Name of its package.
    package: String,
    /// Name of the test or library.
    name: String,
    /// Folder of the package, in which it runs.
    folder: PathBuf,
    executable: PathBuf,
}

/// Test programs that cargo compiles, in the order of their names.
fn compiled(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Vec<TestProgram>, String> {
    let compile = ["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"];
    let arguments = [&compile, arguments].concat();
    let mut programs = Vec::new();
    step(&format!("cargo {}", arguments.join(" ")), || {
        let mut cargo = cargo_command(&arguments, environment);
        let output = cargo.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("cargo could not be started: {error}"))?;
        programs = String::from_utf8_lossy(&output.stdout).lines().filter_map(TestProgram::of).collect();
        if output.status.success() { Ok(()) } else { Err("tests cannot be compiled".to_owned()) }
    })?;
    programs.sort();
    Ok(programs)
}

impl TestProgram {
    /// Test program of a cargo message; `None` of another message.
    fn of(message: &str) -> Option<Self> {
        let message: serde_json::Value = serde_json::from_str(message).ok()?;
        if message["profile"]["test"] != true {
            return None;
        }
        // `path+file:///folder#name@version`, or without a name if the folder has it.
        let (place, version) = message["package_id"].as_str()?.rsplit_once('#')?;
        let package = version.split_once('@').map_or(place.rsplit('/').next()?, |(name, _)| name);
        Some(Self {
            package: package.to_owned(),
            name: message["target"]["name"].as_str()?.to_owned(),
            folder: Path::new(message["manifest_path"].as_str()?).parent()?.to_owned(),
            executable: message["executable"].as_str()?.into(),
        })
    }

    /// Its name, and the command that runs it as cargo does, with so many tests at a time for each core.
    fn command(&self, tests: usize) -> (String, Command) {
        let mut command = Command::new(&self.executable);
        let tests = tests * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        command.env("CARGO_PKG_NAME", &self.package).env("CARGO_MANIFEST_DIR", &self.folder);
        command.env("RUST_TEST_THREADS", tests.to_string()).env(skipped::VARIABLE, skipped::file());
        command.current_dir(&self.folder);
        (format!("{} {}", self.package, self.name), command)
    }
}

/// Result of a test program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EndedProgram {
    name: String,
    is_fine: bool,
    /// Number of tests that passed.
    passed: usize,
}

/// Runs commands in turn, so many at a time; prints the output of each at its end.
fn run_all(commands: Vec<(String, Command)>, at_a_time: usize) -> Vec<EndedProgram> {
    let (waiting, ended) = (Mutex::new(commands.into_iter()), Mutex::new(Vec::new()));
    let run_next = || {
        while let Some((name, mut command)) = { waiting.lock().expect("no thread panics").next() } {
            let start = Instant::now();
            let (is_fine, text) = run_logged(&name, &mut command)
                .unwrap_or_else(|error| (false, format!("it could not be started: {error}")));
            let outcome = if is_fine { "fine" } else { "failed" };
            let mut ended = ended.lock().expect("no thread panics");
            println!("xtask: tests of {name}\n{}", text.trim_end());
            println!("xtask: tests of {name}: {outcome}, {:.1} s", start.elapsed().as_secs_f64());
            ended.push(EndedProgram { name, is_fine, passed: passed(&text) });
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(run_next);
        }
    });
    ended.into_inner().expect("no thread panicked")
}

/// Runs a command; returns whether it succeeded, and its output. That goes through a file below `target/tests`, which shows it
/// meanwhile: a process that it leaves behind could hold a pipe open for ever.
fn run_logged(name: &str, command: &mut Command) -> io::Result<(bool, String)> {
    let folder = root().join("target/tests");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(name.replace(' ', "-") + ".txt");
    let file = File::create(&path)?;
    let status = command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).status()?;
    Ok((status.success(), String::from_utf8_lossy(&std::fs::read(&path)?).into_owned()))
}

/// Number of tests that passed, of a test program's output.
fn passed(text: &str) -> usize {
    let results = text.lines().filter_map(|line| line.strip_prefix("test result: ")?.split_once(" passed"));
    results.filter_map(|(before, _)| before.rsplit(' ').next()?.parse::<usize>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_read_from_messages() {
        let message = |id: &str, is_test: bool| {
            serde_json::json!({
                "reason": "compiler-artifact", "package_id": id, "manifest_path": "/w/crates/bourse-x/Cargo.toml",
                "target": { "name": "it" }, "profile": { "test": is_test }, "executable": "/w/target/debug/deps/it-1"
            })
            .to_string()
        };
        let program = |id| TestProgram::of(&message(id, true)).map(|program| (program.package, program.folder));
        let folder = PathBuf::from("/w/crates/bourse-x");
        let of_folder = program("path+file:///w/crates/bourse-x#0.1.0");
        assert_eq!(of_folder, Some(("bourse-x".to_owned(), folder.clone())));
        assert_eq!(program("path+file:///w/fuzz#bourse-fuzz@0.1.0"), Some(("bourse-fuzz".to_owned(), folder)));
        assert_eq!(TestProgram::of(&message("path+file:///w/crates/bourse-x#0.1.0", false)), None);
        assert_eq!(TestProgram::of("{\"reason\":\"build-finished\",\"success\":true}"), None);
    }

    #[test]
    fn each_program_has_its_result() {
        let text = "running 2 tests\ntest result: ok. 2 passed; 0 failed\ntest result: FAILED. 40 passed; 1 failed;\n";
        assert_eq!(passed(text), 42);
        let command = |name: &str, program: &str| (name.to_owned(), Command::new(program));
        let commands = vec![command("xtask fine", env!("CARGO")), command("xtask none", "/no/such/program")];
        let ended = |name: &str, is_fine| EndedProgram { name: name.to_owned(), is_fine, passed: 0 };
        assert_eq!(run_all(commands, 1), [ended("xtask fine", true), ended("xtask none", false)]);
    }
}
