//! Tests that fail next to others and pass alone: eight run at once on two processors, and one may miss its time there.
//!
//! A few failed tests are run once more, one after the other. Their output is printed last, also if they pass then.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};

/// Most failed tests that are run once more: if more fail, something is broken.
const MOST: usize = 5;

/// Runs `cargo test` with these arguments, and once more the tests that fail, if they are few. `cargo` returns the command
/// without arguments.
pub(crate) fn test(cargo: impl Fn() -> Command, arguments: &[&str]) -> Result<(), String> {
    let (succeeded, printed) = shown(cargo().args(arguments))?;
    if succeeded {
        return Ok(());
    }
    let tests = failed_tests(&printed);
    let failed = Err(format!("cargo {} failed\n{}", arguments.join(" "), causes(&printed)));
    if tests.is_empty() || tests.len() > MOST {
        return failed;
    }
    println!("xtask: once more, one after the other: {}", tests.iter().copied().collect::<Vec<_>>().join(", "));
    // In all targets: those of another choice would have other features.
    let mut alone = cargo();
    alone.args(arguments).args(["--", "--exact", "--test-threads", "1"]).args(&tests);
    let (succeeded, again) = shown(&mut alone)?;
    let passed = |test: &&str| again.lines().any(|line| line == format!("test {test} ... ok"));
    if !succeeded || !tests.iter().all(passed) {
        return failed;
    }
    println!("xtask: {} failed beside other tests and passed alone:\n{}", tests.len(), causes(&printed));
    Ok(())
}

/// Runs a command, and returns whether it succeeded and what it printed, which is shown as it comes.
fn shown(command: &mut Command) -> Result<(bool, String), String> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    let (stdout, stderr) = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
    let (results, messages) = std::thread::scope(|scope| {
        let messages = scope.spawn(|| copied(stderr, |line| eprint!("{line}")));
        (copied(stdout, |line| print!("{line}")), messages.join().expect("copying does not panic"))
    });
    let status = child.wait().map_err(|error| format!("cargo: {error}"))?;
    Ok((status.success(), results + &messages))
}

/// Passes on each line of a stream, and returns them all.
fn copied(stream: impl Read, pass_on: impl Fn(&str)) -> String {
    BufReader::new(stream).split(b'\n').map_while(Result::ok).fold(String::new(), |text, line| {
        let line = String::from_utf8_lossy(&line).into_owned() + "\n";
        pass_on(&line);
        text + &line
    })
}

/// Names in the lists of failed tests at the end of each binary's output.
fn failed_tests(printed: &str) -> BTreeSet<&str> {
    let mut tests = BTreeSet::new();
    let mut is_listed = false;
    for line in printed.lines() {
        match line.strip_prefix("    ") {
            Some(test) if is_listed => drop(tests.insert(test)),
            _ => is_listed = line == "failures:",
        }
    }
    tests
}

/// Output of each failed test, without its backtrace.
fn causes(printed: &str) -> String {
    let mut causes = String::new();
    let mut is_cause = false;
    for line in printed.lines() {
        let begins = line.starts_with("---- ") && line.ends_with(" ----");
        is_cause = begins || is_cause && line != "stack backtrace:" && line != "failures:";
        if is_cause && !line.is_empty() {
            causes.push_str(&format!("  {line}\n"));
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
running 3 tests
test live::a ... FAILED
test live::b ... ok

failures:

---- live::a stdout ----

thread 'live::a' (7) panicked at it/live.rs:9:1:
waited in vain
stack backtrace:
   0: begin
note: some

failures:
    live::a

test result: FAILED. 1 passed; 1 failed
error: test failed, to rerun pass `-p bourse --test it`
error: 1 target failed:
    `-p bourse --test it`
";

    #[test]
    fn failed_tests_are_found_with_what_they_printed() {
        assert_eq!(failed_tests(PRINTED), BTreeSet::from(["live::a"]));
        let expected =
            "  ---- live::a stdout ----\n  thread 'live::a' (7) panicked at it/live.rs:9:1:\n  waited in vain\n";
        assert_eq!(causes(PRINTED), expected);
        assert_eq!(failed_tests("running 1 test\ntest a ... ok\n"), BTreeSet::new());
    }

    /// A script plays cargo: it fails where no test is named, and passes a named one.
    #[test]
    #[cfg(unix)]
    fn a_test_that_fails_once_is_run_alone() {
        let played = |alone: &str| {
            let script = format!("case \"$*\" in *--exact*) {alone} ;; *) printf '%s' \"$PRINTED\"; exit 101 ;; esac");
            let cargo = move || {
                let mut shell = Command::new("sh");
                shell.args(["-c", &script, "cargo"]).env("PRINTED", PRINTED);
                shell
            };
            test(cargo, &["test", "--workspace"])
        };
        assert_eq!(played("echo 'test live::a ... ok'"), Ok(()));
        for alone in ["exit 101", "echo 'running 0 tests'"] {
            let failed = played(alone).expect_err("it failed, or was not run");
            assert!(failed.contains("waited in vain"), "{failed}");
        }
    }
}
