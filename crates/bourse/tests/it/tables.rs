//! Runs as tables for programs, and the pages of the documentation that read them.
#![cfg(target_os = "linux")]

use crate::{output, text};
use std::path::Path;
use std::process::{Command, Stdio};

const PAGE: &str = include_str!("../../../../docs/data.md");

/// Makes a short run of point reads; its folder is below `bourse-runs`.
fn read_some(folder: &Path) {
    let words = ["micro", "run", "point-read", "sqlite::memory:", "-s", "rows=1000", "--rounds", "2", "--warmup", "0s"];
    let ran = output(folder, &[&words[..], &["--for", "1500ms"]].concat());
    assert!(ran.status.success(), "{}", text(&ran.stderr));
}

/// The blocks of code in that language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begins = format!("```{language}\n");
    PAGE.split(begins.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// Standard output of a command with a text as its input; the error if it is not installed or fails.
fn fed(command: &mut Command, input: &str) -> Result<String, String> {
    use std::io::Write as _;
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).map_err(|error| error.to_string())?;
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    let printed = text(&ended.stdout);
    if ended.status.success() { Ok(printed) } else { Err(format!("{printed}{}", text(&ended.stderr))) }
}

#[test]
fn a_run_is_written_as_tables_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    read_some(folder);
    for format in ["csv", "ndjson"] {
        // A folder of results holds one run here, so both name the same.
        let written = output(folder, &["report", "bourse-runs", "--format", format, "-o", format]);
        assert!(written.status.success(), "{}", text(&written.stderr));
        let names = std::fs::read_dir(folder.join(format)).unwrap().map(|it| it.unwrap().file_name());
        let names: Vec<_> = names.map(|it| it.into_string().unwrap()).collect();
        // A list of the tables is included.
        assert!(names.len() == 27 && names.contains(&format!("series.{format}")), "{names:?}");
    }
    let cases = std::fs::read_to_string(folder.join("ndjson/cases.ndjson")).unwrap();
    let case: serde_json::Value = serde_json::from_str(&cases).unwrap();
    assert_eq!((&case["run"], &case["workload"]), (&1.into(), &"point-read".into()));
    assert!(case["result"].as_f64().unwrap() > 0.0 && case["standing"] == "counts", "{case}");

    // Formats of benchmark services.
    for (format, file) in [("bencher", "bencher.json"), ("github-benchmark", "bigger-is-better.json")] {
        let written = output(folder, &["report", "bourse-runs", "--format", format, "-o", "bench"]);
        assert!(written.status.success() && text(&written.stderr).contains(file), "{}", text(&written.stderr));
        let json = std::fs::read_to_string(folder.join("bench").join(file)).unwrap();
        assert!(json.contains(&case["result"].to_string()), "{json}");
    }

    // A spreadsheet's file says where the tables for programs are.
    let run = std::fs::read_dir(folder.join("bourse-runs")).unwrap().next().unwrap().unwrap().path();
    let one = output(folder, &["report", run.to_str().unwrap(), "-o", "r.csv"]);
    assert!(one.status.success() && text(&one.stderr).contains("--format csv -o DIR"), "{}", text(&one.stderr));
}

#[test]
fn tables_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    read_some(folder);
    std::fs::create_dir(folder.join("empty")).unwrap();
    std::fs::write(folder.join("file"), "mine").unwrap();
    for (arguments, why) in [
        (&["bourse-runs", "--format", "csv"][..], "--output <FILE>"),
        (&["bourse-runs", "--format", "csv", "-o", "file"], "file is a file: --format writes a folder of files"),
        (&["empty", "--format", "csv", "-o", "out"], "empty has no runs"),
        (&["nowhere", "--format", "csv", "-o", "out"], "nowhere"),
    ] {
        let refused = output(folder, &[&["report"], arguments].concat());
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && said.contains(why), "{arguments:?}: {said}");
    }
    if !cfg!(feature = "parquet") {
        for arguments in [
            &["report", "bourse-runs", "--format", "parquet", "-o", "out"][..],
            &["tpce", "gen", "--format", "parquet", "-o", "out"],
        ] {
            let refused = output(folder, arguments);
            let said = text(&refused.stderr);
            assert!(refused.status.code() == Some(1) && said.contains("--features full"), "{said}");
        }
    }
    assert!(!folder.join("out").exists() && std::fs::read_to_string(folder.join("file")).unwrap() == "mine");
}

/// Each of the page's programs reads the exported tables. A missing interpreter is reported by name.
#[test]
fn programs_of_the_documentation_read_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    read_some(folder);
    let written = output(folder, &["report", "bourse-runs", "--format", "csv", "-o", "tables"]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    let python = std::env::var("BOURSE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let python = || {
        let mut command = Command::new(&python);
        command.current_dir(folder);
        command
    };
    let r = || {
        let mut command = Command::new("Rscript");
        command.current_dir(folder);
        command
    };
    let sql = "import duckdb, sys\nfor one in sys.stdin.read().split(';'):\n    if one.strip():\n        print(duckdb.sql(one))";
    for (language, present, run) in [
        (
            "python",
            fed(python().args(["-c", "import pandas"]), ""),
            &(|block: &str| fed(python().arg("-"), block)) as &dyn Fn(&str) -> _,
        ),
        ("sql", fed(python().args(["-c", "import duckdb"]), ""), &|block: &str| fed(python().args(["-c", sql]), block)),
        ("r", fed(r().arg("--version"), ""), &|block: &str| fed(r().arg("-"), block)),
    ] {
        let blocks = blocks(language);
        assert!(!blocks.is_empty(), "{language}");
        if let Err(why) = present {
            let why = why.lines().last().unwrap_or_default();
            bourse_testkit::skipped(&format!("programs_of_the_documentation_read_the_tables in {language}"), why);
            continue;
        }
        for block in blocks {
            assert!(block.lines().count() <= 10, "{block}");
            let printed = run(block).unwrap_or_else(|error| panic!("{block}\n{error}"));
            assert!(printed.contains("sqlite::memory:"), "{block}\n{printed}");
        }
    }
}
