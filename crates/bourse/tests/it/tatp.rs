//! `bourse tatp`: the commands of the harness with another workload than TPC-E.

use crate::serve::Server;
use crate::{bourse, output, text};
use bourse_engine::Engine as _;
use bourse_record::{CheckStatus, Document as _, Outcome, RunFile};
use bourse_verdict::view::CaseView;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A short run, whose figures do not matter.
const SHORT: [&str; 8] = ["--for", "300ms", "--warmup", "100ms", "--users", "2", "--no-wait", "--seed=1"];

fn run_file(folder: &Path) -> RunFile {
    run_in(&folder.join("bourse-runs"))
}

/// The run in a folder of runs.
fn run_in(runs: &Path) -> RunFile {
    RunFile::read(&run_folder(runs).join("run.json")).expect("a run file")
}

/// The folder of the run in a folder of runs.
fn run_folder(runs: &Path) -> PathBuf {
    let mut runs = std::fs::read_dir(runs).expect("there are runs");
    runs.next().expect("there is a run").expect("a folder").path()
}

#[test]
fn a_database_is_loaded_run_and_checked() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let target = "sqlite:x.db?sync=off";
    let loaded = output(folder, &["tatp", "load", target, "--size", "2k"]);
    assert!(loaded.status.success(), "{}", text(&loaded.stderr));
    let checked = output(folder, &["tatp", "check", target]);
    assert!(checked.status.success(), "{}", text(&checked.stdout));
    assert!(text(&checked.stdout).contains("passed  access data of subscribers"), "{}", text(&checked.stdout));

    let ran = output(folder, &[&["tatp", "run", target, "--check", "full"], &SHORT[..]].concat());
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let file = run_file(folder);
    let case = &file.cases[0];
    assert_eq!(case.workload.parameters[0].value, "2000", "a database that is there keeps its size");
    let round = &case.rounds[0];
    let ended: Vec<(&str, u64)> = round.operations.iter().map(|it| (it.name.as_str(), it.ended())).collect();
    assert!(ended.len() == 7 && ended.iter().all(|(_, count)| *count > 0), "{ended:?}");
    let misses = round.operations.iter().flat_map(|it| &it.outcomes).filter(|it| it.code == 1);
    assert!(misses.clone().count() >= 5, "each kind but two can miss");
    assert!(misses.clone().all(|it| matches!(it.outcome, Outcome::Warned | Outcome::RolledBack)));
    let reconciled = round.checks.iter().find(|check| check.name == "call forwardings").expect("it is reconciled");
    assert_eq!(reconciled.status, CheckStatus::Passed, "{}", reconciled.evidence);
    assert!(round.checks.iter().all(|check| check.status != CheckStatus::Failed), "{:#?}", round.checks);
    for (name, words) in [("lockstep sample", "2000 transactions of all kinds"), ("contention sample", "nothing lost")]
    {
        let sample = round.checks.iter().find(|check| check.name == name).expect("transactions are sampled");
        assert!(sample.evidence.contains(words) && sample.source == "TATP, transactions", "{sample:#?}");
        assert!(text(&ran.stderr).contains(&format!("{target}: {name}, ")), "{}", text(&ran.stderr));
    }
    let fresh = |said: &[u8]| text(said).contains(&format!("{target}: a fresh database"));
    assert!(fresh(&ran.stderr), "{}", text(&ran.stderr));
    let quick = output(folder, &[&["tatp", "run", target, "--check", "quick", "--json"], &SHORT[..]].concat());
    assert!(fresh(&quick.stderr), "the run before has put it back: {}", text(&quick.stderr));
    assert!(quick.status.success() && !text(&quick.stderr).contains("sample"), "{}", text(&quick.stderr));
}

#[test]
fn a_row_that_no_transaction_wrote_fails_check_and_run() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let target = "sqlite:x.db?sync=off";
    assert!(output(folder, &["tatp", "load", target, "--size", "1k"]).status.success());
    let engine = bourse_engine_sqlite::open(&format!("sqlite:{}", folder.join("x.db").display())).expect("a target");
    let mut session = engine.session().expect("connects");
    session.execute_text("UPDATE access_info SET data4 = 'AAAAA' WHERE s_id = 5", &[]).expect("updates");
    drop(session);
    drop(engine);
    let checked = output(folder, &["tatp", "check", target]);
    assert_eq!(checked.status.code(), Some(3), "{}", text(&checked.stdout));
    assert!(text(&checked.stdout).contains("FAILED  contents of access_info"), "{}", text(&checked.stdout));
    let ran = output(folder, &[&["tatp", "run", target], &SHORT[..]].concat());
    assert_eq!(ran.status.code(), Some(3), "{}", text(&ran.stderr));
    // A table that is missing is a change like any other, the first of them also of the trace that runs leave.
    for table in ["access_info", "subscriber"] {
        let engine = bourse_engine_sqlite::open(&format!("sqlite:{}", folder.join("x.db").display()));
        let mut session = engine.expect("a target").session().expect("connects");
        session.execute_text("PRAGMA foreign_keys = OFF", &[]).expect("a setting");
        session.execute_text(&format!("DROP TABLE {table}"), &[]).expect("drops");
        drop(session);
        let ran = output(folder, &[&["tatp", "run", target], &SHORT[..]].concat());
        assert_eq!(ran.status.code(), Some(3), "{}", text(&ran.stderr));
        assert!(text(&ran.stderr).contains("hint: --reload loads it anew"), "{}", text(&ran.stderr));
        assert_eq!(output(folder, &["tatp", "check", target]).status.code(), Some(3));
    }
}

#[test]
fn two_targets_are_verified_in_lockstep() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let verify = ["tatp", "verify", "sqlite::memory:", "sqlite:x.db?sync=off", "-n", "3000", "--size", "2k"];
    let verified = output(folder.path(), &verify);
    let said = text(&verified.stdout);
    assert!(verified.status.success(), "{said}{}", text(&verified.stderr));
    let alike = "3000 transactions gave the same outputs on sqlite::memory:, sqlite:x.db?sync=off\n";
    assert!(said.contains(alike), "rows are not reported as compared that no target reports as changed: {said}");
    assert!(said.contains("all 4 tables equal at the end"), "{said}");
    assert!(said.contains("no such row, as designed"), "{said}");
    let by_model = ["tatp", "verify", "sqlite::memory:", "model:", "-n", "3000", "--size", "2k"];
    let verified = output(folder.path(), &by_model);
    assert!(verified.status.success(), "{}{}", text(&verified.stdout), text(&verified.stderr));
    assert!(text(&verified.stdout).contains(" changed rows compared after each transaction"));
    // A verification changes its databases, and a database is no second one under another name.
    let again = output(folder.path(), &verify);
    assert_eq!(again.status.code(), Some(1));
    let words =
        "locations changed\nhint: a verification changes what it compares, and needs fresh databases: add --reload";
    assert!(text(&again.stderr).contains(words), "{}", text(&again.stderr));
    for other in ["sqlite:x.db?sync=off", "sqlite:./x.db"] {
        let twice = output(folder.path(), &["tatp", "verify", "sqlite:x.db?sync=off", other, "--reload"]);
        assert_eq!(twice.status.code(), Some(1));
        let words = format!("'sqlite:x.db?sync=off' and '{other}' are one database");
        assert!(text(&twice.stderr).contains(&words), "{}", text(&twice.stderr));
    }
    let in_memory = ["tatp", "verify", "sqlite::memory:", "sqlite::memory:", "-n", "100", "--size", "1k"];
    assert!(output(folder.path(), &in_memory).status.success());
    let replayed = output(folder.path(), &[&verify[..], &["--reload", "--replay", "2"]].concat());
    assert!(text(&replayed.stdout).contains("on sqlite::memory:"), "{}", text(&replayed.stdout));
}

#[test]
fn two_targets_are_compared() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    for name in ["sqlite:a.db?sync=off", "sqlite:b.db?sync=off"] {
        assert!(output(folder, &["tatp", "load", name, "--size", "1k"]).status.success());
    }
    let compare = [
        "compare", "sqlite:a.db?sync=off", "sqlite:b.db?sync=off", "--workload", "tatp", "--rounds", "2", "--check",
        "full",
    ];
    let compared = output(folder, &[&compare[..], &SHORT[..]].concat());
    assert!(compared.status.success(), "{}{}", text(&compared.stdout), text(&compared.stderr));
    let cases = run_file(folder).cases;
    assert_eq!(cases.iter().map(|case| case.rounds.len()).collect::<Vec<_>>(), [2, 2]);
    let sampled =
        cases.iter().map(|case| case.rounds[0].checks.iter().filter(|it| it.name.ends_with(" sample")).count());
    assert_eq!(sampled.collect::<Vec<_>>(), [2, 2]);
    // What the two sides do not share is said with the verdict.
    assert!(output(folder, &["tatp", "load", "sqlite:c.db?sync=off", "--size", "3k"]).status.success());
    let unlike = ["compare", "sqlite:a.db?sync=off", "sqlite:c.db?sync=off", "--workload", "tatp", "--rounds", "1"];
    let said = text(&output(folder, &[&unlike[..], &["--check", "quick"], &SHORT].concat()).stdout);
    let words = "  B: sqlite:c.db?sync=off\n  not alike: subscribers differs: 1000 and 3000\n";
    assert!(said.contains(words) && !said.contains("note: subscribers"), "{said}");
    let refused = output(folder, &[&compare[..], &["--customers", "1000"]].concat());
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("--customers can only be used with the brokerage workload"));
}

#[test]
fn databases_of_two_workloads_are_not_taken_for_one_another() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    assert!(output(folder, &["tatp", "load", "sqlite:x.db?sync=off", "--size", "1k"]).status.success());
    let refused = output(folder, &["tpce", "check", "sqlite:x.db?sync=off"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("it has the tables of another workload"), "{}", text(&refused.stderr));
    for size in ["0", "500", "1000000000"] {
        let refused = output(folder, &["tatp", "load", "sqlite:y.db", "--dry-run", "--size", size]);
        assert!(text(&refused.stderr).contains("expected a multiple of 1,000 from 1,000"), "{}", text(&refused.stderr));
    }
    let refused = output(folder, &["tatp", "run", "--customers", "1000"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("'--size'"), "{}", text(&refused.stderr));
    let load = ["tatp", "load", "sqlite:x.db", "--dry-run"];
    let planned = [&load[..], &[&load[..], &["--reload"]].concat()].map(|load| text(&output(folder, load).stdout));
    assert!(planned[0].contains("loaded if it does not exist; a plan does not open what is there"), "{}", planned[0]);
    assert!(planned[1].contains("loaded anew, in the place of one that exists"), "{}", planned[1]);
    let refused = output(folder, &["tatp", "load", "sqlite:y.db", "--size", "1500"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("expected a multiple of 1,000 from 1,000"), "{}", text(&refused.stderr));
}

#[test]
fn processes_share_a_database_and_are_reconciled_together() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let target = "sqlite:x.db?sync=off";
    assert!(output(folder, &["tatp", "load", target, "--size", "2k"]).status.success());
    let run = [
        "tatp", "run", target, "--processes", "2", "--users", "3", "--for", "1s", "--warmup", "200ms", "--no-wait",
        "--check", "quick", "--rate", "400",
    ];
    let ran = output(folder, &run);
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let case = &run_file(folder).cases[0];
    let users: Vec<u64> = case.conditions.processes.iter().map(|it| it.users).collect();
    assert_eq!((users, case.conditions.users), (vec![1, 2], Some(3)));
    let round = &case.rounds[0];
    assert_eq!((&round.void, &round.shared, round.failed()), (&None, &None, 0));
    let growth: Vec<_> = round.checks.iter().filter(|check| check.name == "call forwardings").collect();
    assert_eq!(growth.iter().map(|check| check.status).collect::<Vec<_>>(), [CheckStatus::Passed], "once, for both");
    assert!(round.checks.iter().all(|check| check.status != CheckStatus::Failed), "{:#?}", round.checks);
    let ended: u64 = round.operations.iter().map(bourse_record::Operation::ended).sum();
    assert!((250..650).contains(&ended), "the rate of all processes together: {ended}");
    let refused = output(folder, &["tatp", "run", target, "--processes", "3", "--users", "2"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("too few users for 3 processes: 2"), "{}", text(&refused.stderr));
}

#[test]
fn two_drivers_share_a_server() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let server = Server::start_with(
        folder,
        &["tatp", "serve", "sqlite:x.db?sync=off", "--size", "2k", "--listen", "127.0.0.1:0"],
    );
    let parts = ["1/2", "2/2"].map(|part| {
        let run = ["tatp", "run", &server.url, "--part", part, "--for", "1s", "--warmup", "200ms", "--no-wait", "-o"];
        let out = format!("part-{}", &part[..1]);
        bourse(folder, &[&run[..], &[&out]].concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    });
    for (at, part) in parts.into_iter().enumerate() {
        let ended = part.expect("it can be started").wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{}{}", text(&ended.stdout), text(&ended.stderr));
        let run = run_in(&folder.join(format!("part-{}", at + 1)));
        let round = &run.cases[0].rounds[0];
        let names = ["answers to driver 1/2", "answers to driver 2/2", "call forwardings"];
        let of = |name: &str| round.checks.iter().find(|check| check.name == name).map(|check| check.status);
        assert_eq!(names.map(of), [Some(CheckStatus::Passed); 3], "{:#?}", round.checks);
        assert_eq!(run.cases[0].workload.parameters[0].value, "2000", "the server's size");
        assert!(round.operations.iter().all(|it| it.server.is_some()), "a server performs them");
        let said = text(&ended.stdout);
        assert!(said.contains(&format!(" · driver {} of 2\n", at + 1)), "{said}");
        let cost = CaseView::new(&run, &run.cases[0]).cost().expect("a figure that counts");
        assert_eq!((cost.cpu_ns, cost.server_cpu_ns, cost.written_bytes, cost.syncs), (None, None, None, None));
        assert!(
            cost.own_cpu_ns.is_none_or(|ns| ns > 0.0) && said.contains("by client and server; the client's "),
            "{said}"
        );
    }
    // Rounds begin alike here too, and a driver of another workload is refused.
    let rounds = ["tatp", "run", &server.url, "--rounds", "2", "--for", "300ms", "--warmup", "100ms", "--no-wait"];
    let ran = output(folder, &rounds);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let second = &run_file(folder).cases[0].rounds[1];
    let history = second.facts.iter().find(|fact| fact.name == "database").expect("its history is known");
    assert!(history.value.contains("the state before the first round"), "{}", history.value);
    assert!(history.value.contains("loaded for this run; used by earlier runs since: 1 round;"), "{}", history.value);
    let refused = output(folder, &["tpce", "run", &server.url, "--for", "1s"]);
    assert_eq!(refused.status.code(), Some(1));
    let words =
        format!("{0} serves tatp, and this driver runs tpce\nhint: `bourse tatp run {0}` drives it", server.url);
    assert!(text(&refused.stderr).contains(&words), "{}", text(&refused.stderr));
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("transactions answered, "), "{said}");
    let verify = ["tatp", "verify", "model:", "sqlite:x.db?sync=off", "--size", "2k"];
    let used = output(folder, &verify);
    assert_eq!(used.status.code(), Some(1), "{}", text(&used.stderr));
    assert!(text(&used.stderr).contains("subscribers' locations changed\nhint: a verif"), "{}", text(&used.stderr));
    let found = "sqlite:x.db?sync=off: used by earlier runs: ";
    let again = output(folder, &[&["tatp", "run", "sqlite:x.db?sync=off"], &SHORT[..]].concat());
    assert!(text(&again.stderr).contains(found), "{}", text(&again.stderr));
    let runs = ["part-1", "part-2"].map(|out| run_folder(&folder.join(out)).display().to_string());
    let mut brief = bourse(folder, &["report", &runs[0], &runs[1]]);
    let merged = brief.env_remove("BOURSE_VERBOSE").output().expect("the program can be started");
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    let merged = text(&merged.stdout);
    let cost = merged.lines().find(|line| line.starts_with("cost of each")).expect("a cost");
    assert!(merged.contains("again, with the other driver's command: "), "{merged}");
    assert!(!cost.contains("client's CPU") && cost.contains(" syncs") && !merged.contains(" · driver "), "{merged}");
}

#[test]
fn two_drivers_are_coordinated() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let target = "sqlite:x.db?sync=off";
    assert!(output(folder, &["tatp", "load", target, "--size", "2k"]).status.success());
    let place = format!("unix:{}", folder.join("s").display());
    let parts = ["1/2", "2/2"].map(|part| {
        let out = format!("part-{}", &part[..1]);
        let run = ["tatp", "run", target, "--part", part, "--coordinate", &place, "--for", "1s", "--warmup", "200ms"];
        let more = ["--no-wait", "--check", "quick", "-o", &out];
        bourse(folder, &[&run[..], &more].concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    });
    let rounds = parts.into_iter().zip(["part-1", "part-2"]).map(|(part, out)| {
        let ended = part.expect("it can be started").wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{}{}", text(&ended.stdout), text(&ended.stderr));
        run_in(&folder.join(out)).cases.swap_remove(0).rounds.swap_remove(0)
    });
    let [one, other] = <[_; 2]>::try_from(rounds.collect::<Vec<_>>()).expect("two drivers");
    let shared = |round: &bourse_record::Round| round.shared.clone().expect("it is shared");
    assert_eq!((shared(&one).round, shared(&one).of), (shared(&other).round, 2));
    let growth = one.checks.iter().find(|check| check.name == "call forwardings").expect("it is reconciled");
    assert_eq!(growth.status, CheckStatus::Passed, "{}", growth.evidence);
    let alone = ["tatp", "run", target, "--part", "1/2", "--coordinate", &place, "--gather", "1s"];
    let refused = output(folder, &[&alone[..], &SHORT[..]].concat());
    assert_eq!(refused.status.code(), Some(2));
    let words = format!("the round on {target} did not begin\n  cause: after 1 s 1 of 2 drivers have come");
    assert!(text(&refused.stderr).contains(&words), "{}", text(&refused.stderr));
    let refused = output(folder, &["tatp", "run", target, "--part", "1/2"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("`bourse tatp serve sqlite:x.db?sync=off`"), "{}", text(&refused.stderr));
}

#[test]
fn a_search_is_listed_with_the_rate_that_it_found() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let search = ["tatp", "run", "sqlite::memory:", "--size", "1k", "--find-max", "--limit", "p50=1s"];
    let ran = output(folder, &[&search[..], &SHORT[..]].concat());
    let said = text(&ran.stderr);
    let file = run_file(folder);
    let found = file.cases[0].search.as_ref().expect("it searched");
    if found.confirmed {
        assert!(said.contains(" transactions/s at full length: "), "{said}");
    }
    assert!(!said.contains("round 2 of 2"), "{said}");
    let listed = text(&output(folder, &["runs", "list", "--json"]).stdout);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let figure = &listed[0]["figures"][0];
    assert_eq!(figure["unit"], "transactions/s by --find-max", "{listed}");
    assert_eq!(figure["value"].as_f64(), found.highest_passing.filter(|_| found.confirmed), "{listed}");
    // The advice on steadiness names options of this command.
    let unsteady = output(folder, &[&search[..5], &SHORT[..], &["--require-steady"]].concat());
    assert_eq!(unsteady.status.code(), Some(5), "{}", text(&unsteady.stderr));
    assert!(
        text(&unsteady.stderr).contains("hint: use a longer --warmup, or a longer --for"),
        "{}",
        text(&unsteady.stderr)
    );
}
