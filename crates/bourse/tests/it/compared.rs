//! `bourse compare`: differences, verdicts, exit codes.

use crate::{gate, one_line, output, text};
use bourse_record::{Case, Document as _, Gate, RunFile};
use std::fs;
use std::path::Path;

/// Stores a run whose rounds reached these figures; its other figures do not matter.
fn store(folder: &Path, name: &str, figures: &[f64]) {
    let template = r#"{
        "document": "run", "schema_version": 1, "name": "micro-point-read", "started_at": "2026-11-21T09:00:00+00:00", "command": ["bourse"], "seed": 1,
        "build": { "version": "0", "profile": "release", "target": "x" },
        "machine": { "system": "s", "processor": "p", "cores": 2, "memory_bytes": 1, "load_average": null, "details": [] },
        "cases": [{
            "label": "sqlite", "rounds": [],
            "engine": { "name": "sqlite", "version": "3", "target": "sqlite:x.db", "durability": "durable",
                        "durability_reason": "", "settings": [], "compile_options": [] },
            "workload": { "name": "point-read", "kind": "micro", "outcomes": ["completed", "failed"], "parameters": [], "headline_operation": "point-read",
                          "headline_unit": "reads/s", "nominal": null, "notice": null }
        }],
        "warnings": [], "interrupted": false
    }"#;
    let mut file = RunFile::parse(template.as_bytes(), Path::new("template")).expect("the template is a run file");
    let round = r#"{
        "offset_s": 0, "phases": [], "measured_s": 10, "headline": 0, "operations": [],
        "series": { "time_s": [], "columns": [] }, "cpu_user_s": 0, "cpu_system_s": 0, "read_bytes": 0, "written_bytes": 0,
        "facts": [], "checks": [], "warnings": []
    }"#;
    let Case { rounds, .. } = &mut file.cases[0];
    for &headline in figures {
        let mut round: bourse_record::Round = serde_json::from_str(round).expect("the template is a round");
        round.headline = headline;
        rounds.push(round);
    }
    fs::write(folder.join(name), file.to_json()).expect("a run file can be written");
}

/// Compares two stored runs: exit code and the output of both streams.
fn compared(base: &[f64], head: &[f64], options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    store(folder.path(), "a.json", base);
    store(folder.path(), "b.json", head);
    let ended = output(folder.path(), &[&["compare", "a.json", "b.json"], options].concat());
    (ended.status.code(), text(&ended.stdout) + &text(&ended.stderr))
}

#[test]
fn stored_runs_have_no_verdict_without_a_noise_floor() {
    let base = [100.0, 101.0, 99.0, 100.5, 99.5];
    let half = [50.0, 51.0, 49.0, 50.5, 49.5];
    let words = "not attributable: the runs did not take turns, so -50.0 % (96.8 % interval -51.0 % to -49.0 %) may be";
    let (code, said) = compared(&base, &half, &[]);
    assert!(code == Some(0) && said.contains(words), "{said}");
    let (code, said) = compared(&base, &half, &["--fail-above", "5%"]);
    assert!(code == Some(6) && said.contains("--fail-above could not be decided"), "{said}");
    let (code, said) = compared(&base, &half, &["--fail-above", "5%", "--inconclusive", "pass"]);
    assert_eq!(code, Some(0), "{said}");
}

/// Regression: options of runs to be made were ignored.
#[test]
fn options_of_runs_cannot_be_used_with_stored_ones() {
    let refused = [
        "--workload point-read",
        "-s rows=9",
        "--count 9",
        "--timing sampled",
        "--until-decided",
        "--profile --instructions",
        "--customers 1000",
        "--days 1",
        "--scale-factor 500",
        "--flat-in .",
        "--reload",
        "--load-threads 1",
        "-u 2",
        "--processes 2",
        "-T 1s",
        "--warmup 1s",
        "--arrivals constant",
        "--find-max",
        "--sweep users=1,2",
        "--rounds 9",
        "--check quick",
        "--memory 512M",
        "--cache warm",
        "--seed 7",
        "--require-steady",
        "--wait-quiet 1s",
        "--no-wait",
        "--no-repeat",
        "--call-limit 1m",
        "--statements",
        "--live",
        "--metrics 127.0.0.1:9000",
        "--dry-run",
        "--market-users 2",
        "--until-steady 9s",
        "--latency",
        "--rate 9",
        "--backlog 9",
        "--market aged",
        "--history",
        "--token-file x",
    ];
    for typed in refused {
        let words: Vec<&str> = typed.split(' ').collect();
        let (code, said) = compared(&[100.0], &[100.0], &words);
        let long = match words[0] {
            "-s" => "--set",
            "-u" => "--users",
            "-T" => "--for",
            long => long,
        };
        let expected = format!("error: {long} cannot be used with stored runs: nothing is run\n");
        assert!(code == Some(1) && said.ends_with(&expected), "{typed}: {said}");
    }
    let (code, said) = compared(&[100.0], &[100.0], &["--reload", "--users", "2"]);
    assert!(code == Some(1) && said.contains("--reload") && said.contains("--users"), "{said}");
    for typed in
        ["--noise 3%", "--fail-above 9% --inconclusive pass", "--instructions", "--json", "-v", "-o x", "--revision 1"]
    {
        let (code, said) = compared(&[100.0], &[100.0], &typed.split(' ').collect::<Vec<_>>());
        assert_eq!(code, Some(0), "{typed}: {said}");
    }
}

/// Regression: one run was judged as if two independent ones had been alike.
#[test]
fn a_run_is_not_compared_with_itself() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let run = folder.path().join("run");
    fs::create_dir(&run).expect("a folder can be made");
    store(&run, "run.json", &[100.0]);
    std::os::unix::fs::symlink("run", folder.path().join("link")).expect("a link can be made");
    for (base, head) in
        [("run", "run"), ("run", "run/"), ("run", "run/run.json"), ("./run/run.json", "run"), ("run", "link")]
    {
        let ended = output(folder.path(), &["compare", base, head, "--noise", "3%", "--fail-above", "5%"]);
        let said = text(&ended.stdout) + &text(&ended.stderr);
        assert!(
            ended.status.code() == Some(1) && said.contains("run.json is the same run twice"),
            "{base} {head}: {said}"
        );
    }
    // Another run with the same figures is one.
    assert_eq!(compared(&[100.0], &[100.0], &[]).0, Some(0));
}

/// The round that an interruption cut short was once judged as a slowdown, and a case that the second run lacked passed.
#[test]
fn an_interrupted_run_and_a_missing_case_are_not_judged() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let figures = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
    store(folder.path(), "a.json", &figures);
    let stored = fs::read_to_string(folder.path().join("a.json")).expect("it was written");
    let mut file = RunFile::parse(stored.as_bytes(), Path::new("a.json")).expect("it is a run file");
    file.interrupted = true;
    fs::write(folder.path().join("cut.json"), file.to_json()).expect("it can be written");
    (file.interrupted, file.cases) = (false, [&file.cases[..], &file.cases[..]].concat());
    file.cases[1].label = "other".to_owned();
    fs::write(folder.path().join("two.json"), file.to_json()).expect("it can be written");
    for (base, head, words) in [
        ("a.json", "cut.json", "the second run was interrupted"),
        ("cut.json", "a.json", "the first run was interrupted"),
        ("two.json", "a.json", "other is in the first run only"),
    ] {
        let ended = output(folder.path(), &["compare", base, head, "--noise", "1%", "--fail-above", "5%"]);
        let said = text(&ended.stdout) + &text(&ended.stderr);
        assert!(ended.status.code() == Some(6) && said.contains(words), "{base} {head}: {said}");
    }
}

#[test]
fn only_what_is_surely_slower_fails() {
    let base = [100.0];
    for (head, code, words) in [
        (90.0, 4, "verdict: B is slower by more than 5 %: -10.0 %"),
        (93.5, 6, "B is slower, perhaps by more than 5 %: -6.5 %"),
        (97.5, 6, "inconclusive: -2.5 %"),
        (99.8, 0, "B is not shown to differ, surely by no more than 5 %: -0.2 %"),
        (104.0, 0, "B is not slower by more than 5 %, and not shown to be faster: +4.0 %"),
        (110.0, 0, "B is faster: +10.0 %"),
    ] {
        let (found, said) = compared(&base, &[head], &["--fail-above", "5%", "--noise", "5%"]);
        let said = one_line(&said);
        assert_eq!(found, Some(code), "{head:?}: {said}");
        assert!(said.contains(words) && said.contains("two runs lie up to 5 % apart by noise"), "{head:?}: {said}");
    }
    let (code, said) = compared(&base, &[98.0], &["--noise", "1%", "--fail-above", "5%"]);
    assert!(code == Some(0) && said.contains("B is slower, by no more than 5 %: -2.0 %"), "{said}");
    let (code, said) = compared(&base, &[50.0], &["--noise", "5%"]);
    assert_eq!(code, Some(0), "without a tolerance nothing fails: {said}");
}

/// A gate once passed although nothing was decided, and once failed although its own interval included no difference.
#[test]
fn every_row_of_the_gate_ends_as_its_page_says() {
    for row in gate::ROWS {
        // One round each: the range is what the noise leaves of the ratio, (ratio / (1 + noise), ratio * (1 + noise)).
        let [low, high] = row.ends.map(|percent| 1.0 + percent / 100.0);
        let (ratio, noise) = ((low * high).sqrt(), format!("{:.6}%", 100.0 * ((high / low).sqrt() - 1.0)));
        let compared = |more: &[&str]| compared(&[100.0], &[100.0 * ratio], &[&["--noise", &noise], more].concat());
        let (code, said) = compared(&["--fail-above", "5%"]);
        assert_eq!(code, Some(row.verdict().gate().exit_code().into()), "{:?}: {said}", row.ends);
        let (code, said) = compared(&["--fail-above", "5%", "--inconclusive", "pass"]);
        assert_eq!(code == Some(4), row.verdict().gate() == Gate::Failed, "{:?}: {said}", row.ends);
        let (code, said) = compared(&["--json"]);
        let json: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
        assert_eq!(json["comparisons"][0]["verdict"], serde_json::json!(row.verdict()), "{said}");
        assert_eq!(code, Some(0), "without a tolerance nothing fails");
    }
    // Rounds that scatter by a factor of six, and a floor far below that.
    let (base, head) = ([100.0, 200.0, 300.0, 400.0, 500.0, 600.0], [90.0, 110.0, 180.0, 260.0, 300.0, 500.0]);
    let (code, said) = compared(&base, &head, &["--noise", "3%", "--fail-above", "5%"]);
    assert!(code == Some(6) && said.contains("verdict: inconclusive: -") && !said.contains("slower:"), "{said}");
}

#[test]
fn a_small_tolerance_is_printed_whole_and_not_taken_for_a_part_of_one() {
    let fail_above = |tolerance| compared(&[100.0], &[90.0], &["--fail-above", tolerance, "--noise", "1%"]);
    let (code, said) = fail_above("0.05");
    assert!(code == Some(1) && said.contains("0.05 % or 5 %? write 0.05% or 5%"), "{said}");
    let (code, said) = fail_above("0.05%");
    assert!(code == Some(4) && said.contains("B is slower by more than 0.05 %: -10.0 %"), "{said}");
    assert_eq!(fail_above("5").0, Some(4), "five, with or without the sign");
    let (code, said) = compared(&[100.0], &[90.0], &["--noise", "0.03"]);
    assert!(code == Some(1) && said.contains("0.03 % or 3 %?"), "{said}");
}

/// The noise is the third quartile plus three interquartile ranges of the differences between consecutive runs.
#[test]
fn earlier_runs_tell_the_noise() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let earlier = folder.path().join("earlier");
    for (at, figure) in [101.0, 102.0, 101.0, 103.0, 101.0, 104.0].into_iter().enumerate() {
        let run = earlier.join(format!("run-{at}"));
        fs::create_dir_all(&run).expect("a folder can be made");
        store(&run, "run.json", &[figure]);
        let file = run.join("run.json");
        let text = fs::read_to_string(&file).expect("it was written");
        fs::write(file, text.replace("T09:00:00", &format!("T09:00:0{at}"))).expect("it can be written");
    }
    store(folder.path(), "a.json", &[100.0]);
    let compare = |head: f64, runs: &str| {
        store(folder.path(), "b.json", &[head]);
        let ended = output(folder.path(), &["compare", "a.json", "b.json", "--baseline", runs]);
        (ended.status.code(), one_line(&(text(&ended.stdout) + &text(&ended.stderr))))
    };
    // 1.0, 1.0, 2.0, 2.0 and 3.0 % apart: 2.0 and three times 1.0.
    let (code, said) = compare(90.0, "earlier");
    assert!(code == Some(0) && said.contains("B is slower by more than 5 %: -10.0 %"), "{said}");
    let (_, said) = compare(96.0, "earlier");
    assert!(said.contains("inconclusive: -4.0 %"), "{said}");
    // One run: the newest before it is the other side.
    let against = |runs: &str| {
        let ended = output(folder.path(), &["compare", "b.json", "--baseline", runs, "--fail-above", "5%"]);
        (ended.status.code(), one_line(&(text(&ended.stdout) + &text(&ended.stderr))))
    };
    let file = folder.path().join("b.json");
    let of = |figure: f64, at: &str| {
        store(folder.path(), "b.json", &[figure]);
        let text = fs::read_to_string(&file).expect("it was written");
        fs::write(&file, text.replace("T09:00:00", at)).expect("it can be written");
    };
    of(90.0, "T10:00:00");
    let (code, said) = against("earlier");
    assert!(code == Some(4) && said.contains("B is slower by more than 5 %: -13.5 %"), "104 is the newest: {said}");
    assert!(said.contains("A is the run of 2") && said.contains("T09:00:05"), "{said}");
    of(101.0, "T10:00:00");
    let (code, said) = against("earlier");
    assert_eq!(code, Some(6), "-2.9 % with a noise of 5 % may be more than 5 %: {said}");
    of(90.0, "T08:00:00");
    let (code, said) = against("earlier");
    assert!(code == Some(6) && said.contains("no earlier run of the same case in earlier"), "{said}");
    // The first run of a baseline is no error where no gate, or one that may be undecided, asks.
    for more in [&[][..], &["--fail-above", "5%", "--inconclusive", "pass"]] {
        let ended = output(folder.path(), &[&["compare", "b.json", "--baseline", "earlier"], more].concat());
        let said = text(&ended.stderr);
        assert!(ended.status.code() == Some(0) && said.contains("no earlier run of the same case"), "{said}");
    }
    let ended = output(folder.path(), &["compare", "sqlite::memory:", "--baseline", "earlier"]);
    let said = text(&ended.stderr);
    assert!(ended.status.code() == Some(1) && said.contains("compares a stored run with earlier ones"), "{said}");
    let (_, said) = compare(90.0, ".");
    assert!(
        said.contains("not attributable") && said.contains("5 runs of the same case and build are needed"),
        "{said}"
    );
    let (code, said) = compare(90.0, "nowhere");
    assert!(code == Some(1) && said.contains("cannot read --baseline nowhere"), "{said}");
}

/// Changes a stored run's number of users, and the time at which it began.
fn make(file: &Path, users: u64, at: &str) {
    let mut run = RunFile::read(file).expect("it was written");
    run.cases[0].conditions.users = Some(users);
    run.provenance.started_at = format!("2026-11-21T{at}+00:00");
    fs::write(file, run.to_json()).expect("it can be written");
}

/// Earlier runs were once mixed in one noise floor, with the newest as the baseline, in spite of different numbers of users.
#[test]
fn runs_of_other_users_are_neither_noise_nor_a_baseline() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let earlier = folder.path().join("earlier");
    let figures = [(2, 101.0), (2, 102.0), (16, 300.0), (2, 101.1), (16, 310.0), (2, 103.0), (16, 290.0)];
    let add = |at: usize, users: u64, figure: f64| {
        let run = earlier.join(format!("run-{at}"));
        fs::create_dir_all(&run).expect("a folder can be made");
        store(&run, "run.json", &[figure]);
        make(&run.join("run.json"), users, &format!("09:00:0{at}"));
    };
    figures.into_iter().enumerate().for_each(|(at, (users, figure))| add(at, users, figure));
    let candidate = |users: u64, figure: f64| {
        store(folder.path(), "b.json", &[figure]);
        make(&folder.path().join("b.json"), users, "10:00:00");
        let ended = output(folder.path(), &["compare", "b.json", "--baseline", "earlier", "--fail-above", "5%"]);
        (ended.status.code(), one_line(&(text(&ended.stdout) + &text(&ended.stderr))))
    };
    let (code, said) = candidate(2, 90.0);
    let left_out = "left out: the run of 2026-11-21T09:00:06+00:00: users differs: 16 and 2";
    assert!(said.contains(left_out) && said.contains("A is the run of 2026-11-21T09:00:05"), "{said}");
    let why = "5 runs of the same case and build are needed beside the two that are compared, there are 3; 3 others are not \
               alike, the last of them: users differs: 2 and 16";
    // The baseline itself is not among the runs that the noise is estimated from.
    assert!(code == Some(6) && said.contains(why), "{said}");
    add(7, 2, 101.2);
    add(8, 2, 102.1);
    add(9, 2, 101.3);
    let (code, said) = candidate(2, 90.0);
    assert!(
        code == Some(4) && said.contains("B is slower by more than 5 %: -11.2 %") && !said.contains("left out"),
        "{said}"
    );
    let (code, said) = candidate(4, 90.0);
    let unlike = "the run of 2026-11-21T09:00:09+00:00: users differs: 2 and 4";
    assert!(code == Some(6) && said.contains("no earlier run of the same case") && said.contains(unlike), "{said}");
    assert!(said.contains("7 older ones"), "{said}");
}

#[test]
fn comparisons_have_a_form_for_programs_and_one_for_comments() {
    let base = [100.0, 101.0, 99.0, 100.0];
    let head = base.map(|figure| 1.2 * figure);
    let (_, said) = compared(&base, &head, &["--format", "markdown", "--noise", "5%"]);
    assert!(said.starts_with("**B is faster") && said.contains("| reads/s | 100.0 | 120.0 | +20.0 %"), "{said}");
    let (_, said) = compared(&base, &head, &["--json", "--noise", "5%"]);
    let json: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    let result = &json["comparisons"][0]["metrics"][0];
    assert_eq!(result["verdict"].as_str(), Some("faster"));
    assert!((result["ratio"].as_f64().expect("it is a number") - 1.2).abs() < 1e-9, "{result}");
    assert!(result["level"].as_f64().is_some_and(|level| (0.95..1.0).contains(&level)), "{result}");
    assert_eq!(json["comparisons"][0]["noise"].as_f64(), Some(0.05));
}

/// A run at too low a rate has a figure of 0, and its comparison once ended in a panic.
#[test]
fn a_figure_of_nothing_is_told_and_does_not_pass_a_gate() {
    let why = "the first case's figure is 0, which nothing can be divided by";
    let (code, said) = compared(&[0.0; 5], &[0.0; 5], &[]);
    assert!(code == Some(0) && said.contains(&format!("verdict: none: {why}")), "{said}");
    let (code, said) = compared(&[0.0; 5], &[5.0; 5], &["--fail-above", "5%"]);
    assert!(code == Some(6) && said.contains("--fail-above could not be decided") && said.contains(why), "{said}");
    let (code, said) = compared(&[5.0; 5], &[0.0; 5], &["--fail-above", "5%", "--format", "markdown", "--noise", "5%"]);
    assert!(code == Some(4) && said.contains("**B is slower by more than 5 %: -100.0 %"), "{said}");
    let (code, said) = compared(&[], &[5.0; 5], &["--json"]);
    assert!(code == Some(0) && said.contains("\"no_result\": \"a case has no round with a figure\""), "{said}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    store(folder.path(), "a.json", &[1.0; 3]);
    for (arguments, words) in [
        (&["compare", "a.json", "sqlite::memory:"][..], "cannot compare a stored run with a target"),
        (&["compare", "a.json", "b.json"], "there is no file or folder 'b.json', and it is no target"),
        (&["compare", "a.json", "a.json", "--fail-above", "much"], "0 to less than 100 percent"),
        (&["compare", "sqlite:x.db", "oracle:y"], "oracle"),
        (&["compare", "sqlite:x.db", "sqlite:y.db", "--noise", "3%"], "can only be used with stored runs"),
    ] {
        let ended = output(folder.path(), arguments);
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {}", text(&ended.stderr));
        assert!(text(&ended.stderr).contains(words), "{arguments:?}: {}", text(&ended.stderr));
    }
    let left = fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(left, 1, "nothing is left behind");
}

/// Output of `bourse report` of two runs, in each form.
fn reported(folder: &Path, runs: [&str; 2]) -> [String; 3] {
    let shown = output(folder, &["report", runs[0], runs[1]]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let drawn = |name: &str| {
        let drawn = output(folder, &["report", runs[0], runs[1], "-o", name]);
        assert_eq!(drawn.status.code(), Some(0), "{}", text(&drawn.stderr));
        fs::read_to_string(folder.join(name)).expect("it was written")
    };
    [text(&shown.stdout), drawn("page.html"), drawn("page.md")]
}

#[test]
fn two_runs_of_the_same_work_are_reported_with_their_comparison() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    store(folder.path(), "a.json", &[100.0, 101.0, 99.0, 100.5, 99.5]);
    store(folder.path(), "b.json", &[50.0, 51.0, 49.0, 50.5, 49.5]);
    let words = "not attributable: the runs did not take turns";
    let [shown, page, markdown] = reported(folder.path(), ["a.json", "b.json"]);
    for drawn in [&shown, &page, &markdown] {
        assert!(drawn.contains(words) && drawn.contains("-50.0 %"), "{drawn}");
    }
    let verdict = shown.find("verdict: ").expect("a verdict");
    assert!(
        shown[verdict..].contains("sqlite (2026-11-21T09:00:00+00:00)"),
        "the runs themselves stand below: {shown}"
    );
    // Two runs of other work are no sides of one comparison, and neither is one that has no figure.
    let other = fs::read_to_string(folder.path().join("b.json")).expect("it was written").replace("point-read", "scan");
    fs::write(folder.path().join("c.json"), other).expect("a file can be written");
    store(folder.path(), "empty.json", &[]);
    for with in ["c.json", "empty.json"] {
        for drawn in reported(folder.path(), ["a.json", with]) {
            assert!(!drawn.contains(words) && drawn.contains("2026-11-21T09:00:00+00:00"), "{with}: {drawn}");
        }
    }
}

/// The verdict was once on the page of the comparison alone, and a report of the run had another figure for each side.
#[test]
fn the_verdict_is_in_the_run_file_and_in_every_drawing_of_it() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    store(folder.path(), "run.json", &[100.0, 101.0, 102.0, 103.0, 104.0, 130.0, 131.0, 132.0]);
    let path = folder.path().join("run.json");
    let mut run = RunFile::read(&path).expect("it was written");
    let mut head = run.cases[0].clone();
    (head.label, head.engine.target) = ("sqlite:y.db".to_owned(), "sqlite:y.db".to_owned());
    head.rounds.iter_mut().for_each(|round| round.headline *= 0.8);
    run.cases.push(head);
    run.name = "compare".to_owned();
    std::fs::write(&path, run.to_json()).expect("a run file can be written");
    // A run of an older Bourse, without a decision: decided now.
    let drawn = |name: &str| {
        let drawn = output(folder.path(), &["report", "run.json", "-o", name]);
        assert_eq!(drawn.status.code(), Some(0), "{}", text(&drawn.stderr));
        fs::read_to_string(folder.path().join(name)).expect("it was written")
    };
    let shown = || text(&output(folder.path(), &["report", "run.json"]).stdout);
    for drawn in [shown(), drawn("page.html"), drawn("page.md")] {
        assert!(drawn.contains("B is slower by more than 5 %") && drawn.contains("-20.0 %"), "{drawn}");
        // The Hodges-Lehmann estimate of the rounds, not their median.
        assert!(drawn.contains("115.8") && !drawn.contains("103.5"), "{drawn}");
    }
    // A decision that was stored when the run ended is not changed.
    run.comparison = Some(bourse_record::Comparison {
        base: "sqlite".to_owned(),
        head: "sqlite:y.db".to_owned(),
        tolerance: 0.25,
        ratio: Some(0.79),
        interval: Some([0.77, 0.81]),
        level: Some(0.95),
        until_decided: true,
        by_instructions: false,
        verdict: bourse_record::Verdict::SlowerWithin,
        may_explain: None,
    });
    std::fs::write(&path, run.to_json()).expect("a run file can be written");
    for drawn in [shown(), drawn("stored.html"), drawn("stored.md")] {
        assert!(drawn.contains("B is slower, by no more than 25 %") && drawn.contains("-21.0 %"), "{drawn}");
    }
    let tables = output(folder.path(), &["report", "run.json", "--format", "csv", "-o", "tables"]);
    assert_eq!(tables.status.code(), Some(0), "{}", text(&tables.stderr));
    let table = |name: &str| fs::read_to_string(folder.path().join("tables").join(name)).expect("it was written");
    assert!(table("comparisons.csv").contains("sqlite,sqlite:y.db,0.79,0.77,0.81,0.95,figure,0.25,slower_within"));
    assert!(table("cases.csv").contains("counts,115.75,reads/s,"), "{}", table("cases.csv"));
    // The factor is that of the decision too.
    let stored = run.comparison.as_mut().expect("it was stored");
    (stored.verdict, stored.may_explain) = (bourse_record::Verdict::Withheld, Some(2.5));
    std::fs::write(&path, run.to_json()).expect("a run file can be written");
    assert!(shown().contains("a factor of up to 2.50, so -21.0 %"), "{}", shown());
}

#[test]
fn a_comparison_ends_when_it_is_decided() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // An engine that does nothing, and one that does: slower by far on any machine.
    let mut arguments = vec!["compare", "null:", "sqlite::memory:", "--workload", "point-read", "-s", "rows=1000"];
    arguments.extend(["-T", "300ms", "--warmup", "50ms", "--until-decided", "--rounds", "12", "--no-wait"]);
    arguments.extend(["--fail-above", "5%", "--json"]);
    let ended = output(folder.path(), &arguments);
    let (said, noted) = (text(&ended.stdout), text(&ended.stderr));
    let json: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    let compared = &json["comparisons"][0];
    assert_eq!(compared["until_decided"], true);
    // Where other tests take most of the processors, no verdict is given.
    if compared["verdict"] == "withheld" {
        assert_eq!(ended.status.code(), Some(6), "{said}{noted}");
    } else {
        assert_eq!(ended.status.code(), Some(4), "{said}{noted}");
        assert!(noted.contains("decided after 9 of at most 12 pairs: slower, beyond the tolerance"), "{noted}");
        assert_eq!(compared["disturbance"][0]["rounds"], 9);
    }
    assert!(
        compared["metrics"].as_array().expect("metrics").iter().skip(1).all(|it| it["verdict"].is_null()),
        "{compared}"
    );
    let refused = output(folder.path(), &["compare", "null:", "null:", "--until-decided", "--rounds", "7"]);
    assert!(refused.status.code() == Some(1) && text(&refused.stderr).contains("too few for --until-decided"));
    let few = ["compare", "null:", "null:", "--fail-above", "5%", "--dry-run", "--rounds"];
    for (rounds, is_warned) in [("5", true), ("6", false)] {
        let planned = output(folder.path(), &[&few[..], &[rounds]].concat());
        assert_eq!(planned.status.code(), Some(0), "{}", text(&planned.stderr));
        assert_eq!(text(&planned.stderr).contains("--rounds 6 or more"), is_warned, "{}", text(&planned.stderr));
    }
}

/// The whole report of two targets ended with the comparison that it had begun with.
#[test]
fn a_whole_comparison_is_printed_once() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut arguments = vec!["compare", "null:", "null:", "--workload", "point-read", "-s", "rows=100", "-v"];
    arguments.extend(["-T", "100ms", "--warmup", "0s", "--rounds", "1", "--no-wait"]);
    let said = text(&output(folder.path(), &arguments).stdout);
    assert_eq!((said.matches("verdict: ").count(), said.matches("\nA: ").count()), (1, 0), "{said}");
    assert!(said.contains("\nSettings") && said.contains("/comparison.html\n"), "{said}");
}

#[test]
fn two_targets_take_turns_and_are_compared() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut arguments = vec!["compare", "sqlite::memory:", "sqlite::memory:?memory=memdb"];
    arguments.extend(["--days", "1", "--for", "1s", "--warmup", "1s", "--rounds", "2", "--wait-quiet", "100ms"]);
    arguments.extend(["--format", "markdown"]);
    let ended = output(folder.path(), &arguments);
    let said = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{said}{}", text(&ended.stderr));
    assert!(said.starts_with("**inconclusive: too few rounds; use --rounds 8"), "{said}");
    assert!(said.contains("| transactions/s |") && said.contains("too few rounds for an interval"), "{said}");
}
