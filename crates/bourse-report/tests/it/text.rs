use crate::fixture;
use bourse_record::{
    BlockedOn, CostCovers, Document as _, Durability, Interference, Medium, RawSyncs, ServerUse, TimeSplit,
};
use bourse_report::{CsvText, DrawComparison as _, csv_file, data_csv, data_tables, html, markdown, terminal};

#[test]
fn terminals() {
    for (name, file) in fixture::all() {
        insta::assert_snapshot!(format!("terminal_{name}"), terminal(&file, 160, false));
    }
    insta::assert_snapshot!("terminal_normal_narrow", terminal(&fixture::normal(), 80, false));
    insta::assert_snapshot!("terminal_void_color", terminal(&fixture::void(), 120, true).replace('\u{1b}', "ESC"));
}

#[test]
fn markdowns() {
    for (name, file) in fixture::all() {
        insta::assert_snapshot!(format!("markdown_{name}"), markdown(&file));
    }
}

#[test]
fn one_text_holds_all_tables() {
    let tables = data_tables(&[fixture::several()]);
    let text = csv_file(&tables, CsvText::Guarded);
    for table in &tables {
        assert!(text.contains(&format!("{}\r\n{}", table.name, data_csv(table, CsvText::Guarded))), "{}", table.name);
    }
    assert!(text.starts_with("runs\r\nrun,name,"), "{text}");
}

/// Parses CSV as RFC 4180 says.
pub(crate) fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            _ => field.push(character),
        }
    }
    assert!(field.is_empty() && record.is_empty() && !quoted, "the text ends with a whole line");
    records
}

#[test]
fn only_texts_that_look_like_formulas_are_guarded_in_csv() {
    let mut file = fixture::normal();
    file.name = "=1+1".to_owned();
    file.cases[0].label = "@a,b".to_owned();
    let round = &mut file.cases[0].rounds[0];
    round.offset_s = -1.5;
    round.operations[0].outcomes[0].code = -1;
    let fact = |value: &str| bourse_record::NameValue { name: "+x".to_owned(), value: value.to_owned() };
    round.facts = ["-2000", "=cmd|' /C calc'!A0", "a=b", "'"].map(fact).into();
    for (texts, guard) in [(CsvText::Guarded, "'"), (CsvText::Raw, "")] {
        let tables = data_tables(std::slice::from_ref(&file));
        let table = |name: &str| tables.iter().find(|table| table.name == name).expect("a table of that name");
        let records = |name: &str| parse_csv(&data_csv(table(name), texts));
        let rounds = records("rounds");
        let offset = rounds[0].iter().position(|head| head == "offset_s").expect("a column of that name");
        assert_eq!(rounds[1][offset].parse(), Ok(-1.5), "a number is bare and can be read back");
        assert_eq!(rounds[1][1], format!("{guard}@a,b"));
        let outcomes = records("outcomes");
        let code = outcomes[0].iter().position(|head| head == "status_code").expect("a column of that name");
        assert!(outcomes[1..].iter().any(|row| row[code].parse() == Ok(-1)), "{outcomes:?}");
        let facts = records("facts");
        for value in ["-2000", "=cmd|' /C calc'!A0"] {
            let row = [format!("{guard}+x"), format!("{guard}{value}")];
            assert!(facts.iter().any(|record| record.ends_with(&row)), "{row:?} in {facts:?}");
        }
        for value in ["a=b", "'"] {
            assert!(facts.iter().any(|record| record.last().is_some_and(|last| last == value)), "{facts:?}");
        }
        assert_eq!(records("runs")[1][1], format!("{guard}=1+1"));
    }
}

/// Every text of a run file in Markdown is inert: no tag, no link, no line of its own.
#[test]
fn nothing_from_a_run_file_is_obeyed_in_markdown() {
    const EVIL: &str = "<img src=x onerror=y>[x](javascript:y)`|\n# head";
    let mut file = fixture::normal();
    file.name = EVIL.to_owned();
    file.provenance.command = vec!["bourse".to_owned(), EVIL.to_owned()];
    file.warnings = vec![bourse_record::Warning::of_engine(EVIL)];
    file.provenance.machine.processor = EVIL.to_owned();
    let case = &mut file.cases[0];
    (case.label, case.engine.target, case.engine.version) = (EVIL.to_owned(), EVIL.to_owned(), EVIL.to_owned());
    case.workload.headline_unit = EVIL.to_owned();
    case.rounds[0].facts.push(bourse_record::NameValue { name: EVIL.to_owned(), value: EVIL.to_owned() });
    let other = file.cases[0].clone();
    file.cases.push(other);
    let stored = bourse_verdict::comparison::stored_pairs(file.clone(), file.clone()).expect("a run is like itself");
    let compared = bourse_verdict::comparison::ComparedCases::of_stored(
        stored,
        0.05,
        &bourse_verdict::comparison::RunNoise::Unknown,
    );
    for text in [markdown(&file), compared.markdown()] {
        assert!(
            !text.contains("<img") && !text.replace("\\]", "").contains("](") && !text.contains("\n# head"),
            "{text}"
        );
        assert!(text.contains("&lt;img"), "{text}");
    }
    assert!(!compared.text(&[], usize::MAX).contains("\n# head"), "{}", compared.text(&[], usize::MAX));
}

#[test]
fn a_failed_check_leaves_no_figure_anywhere() {
    let file = fixture::void();
    // 1,000 and 100.0 are what was counted; in the void run no output may show them as a result.
    assert!(terminal(&fixture::normal(), 120, false).contains("1,000 transactions/s ± 6.5 % in this run   durable"));
    for (output, text) in [("terminal", terminal(&file, 120, false)), ("markdown", markdown(&file))] {
        assert!(text.contains("VOID"), "{output}:\n{text}");
        let shown = ["100.0 TR/s", "| 100.0 |", "1,000 transactions/s"];
        assert!(shown.iter().all(|figure| !text.contains(figure)), "{output}:\n{text}");
    }
    let tables = data_tables(&[file]);
    let rounds = tables.iter().find(|table| table.name == "rounds").expect("a table of rounds");
    let text = data_csv(rounds, CsvText::Guarded);
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("1,sqlite durable,1,false,0,30,,")), "{text}");
}

#[test]
fn earlier_runs_of_the_same_case_and_build_are_named() {
    let mut run = fixture::normal();
    let mut other_build = fixture::normal();
    other_build.provenance.build.version.push('0');
    let (mut faster, mut other_users) = (fixture::normal(), fixture::normal());
    faster.cases[0].rounds[0].measured_s /= 1.5;
    other_users.cases[0].conditions.users = Some(77);
    let earlier = [fixture::normal(), fixture::void(), other_build, faster, other_users];
    let found = bourse_verdict::likeness::earlier_runs(&run, &run.cases[0], &earlier[..1]);
    run.cases[0].earlier = found;
    assert!(terminal(&run, 120, false).contains("\n  2 runs here: 1,000\n"), "{}", terminal(&run, 120, false));
    run.cases[0].earlier = bourse_verdict::likeness::earlier_runs(&run, &run.cases[0], &earlier);
    for text in [terminal(&run, 120, false), markdown(&run), html(&run)] {
        assert!(text.contains("3 runs here: 1,000 to 1,500; 95 % of further runs from "), "{text}");
    }
    assert_eq!(bourse_verdict::likeness::earlier_runs(&run, &run.cases[0], &earlier[4..]), None);
}

#[test]
fn a_round_that_failed_leaves_no_figure_anywhere() {
    // Read back from JSON, which has no «not a number».
    let text = serde_json::to_string(&fixture::lost()).expect("it can be written");
    assert!(text.contains("\"headline\":null"), "{text}");
    let file = bourse_record::RunFile::parse(text.as_bytes(), "run.json".as_ref()).expect("it can be read");
    let mut two = fixture::normal();
    two.cases.extend(file.cases.clone());
    for file in [&file, &two] {
        for (output, text) in
            [("terminal", terminal(file, 120, false)), ("markdown", markdown(file)), ("page", html(file))]
        {
            assert!(text.contains("VOID"), "{output}:\n{text}");
            let why = "no figure: bulk-load failed: loader cannot go on after insert failed: database or disk is full";
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words(&text).contains(why), "{output}:\n{text}");
        }
    }
    for text in [terminal(&file, 120, false), markdown(&file), html(&file)] {
        let shown = ["100.0 TR/s", "| 100.0 |", "1,000 transactions/s", "per TR"];
        assert!(shown.iter().all(|figure| !text.contains(figure)), "{text}");
    }
    let tables = data_tables(&[file]);
    let rounds = tables.iter().find(|table| table.name == "rounds").expect("a table of rounds");
    let text = data_csv(rounds, CsvText::Guarded);
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("1,sqlite durable,1,false,0,30,,")), "{text}");
}

#[test]
fn what_counts_different_things_is_not_compared() {
    let mut file = fixture::normal();
    let mut other = file.cases[0].clone();
    other.label = "other".to_owned();
    other.workload.kind = bourse_record::WorkloadKind::Micro;
    other.workload.headline_unit = "statements/s".to_owned();
    file.cases.push(other);
    let text = terminal(&file, 120, false);
    for title in ["tpce, transactions/s", "tpce, statements/s"] {
        assert!(text.contains(title), "{text}");
    }
    assert_eq!(text.matches("× 1.00").count(), 0, "each is alone of its kind: {text}");
}

#[test]
fn a_servers_own_counts_stand_with_who_counted() {
    let mut file = fixture::normal();
    let round = &mut file.cases[0].rounds[0];
    round.io_source = "the server (SHOW GLOBAL STATUS: Innodb_data_fsyncs)".to_owned();
    round.server =
        Some(bourse_record::ServerUse { cpu_user_s: 6.0, cpu_system_s: 1.5, read_bytes: 0, written_bytes: 300 << 20 });
    let text = terminal(&file, 200, false).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "counted by the server (SHOW GLOBAL STATUS: Innodb_data_fsyncs)",
        "the server's process 0.250 cores busy, of those above, 6 s user + 1.5 s system, 2.50 ms per TR",
        "written by the server's process 300 MiB, 10.0 MiB a second, 102 KiB per TR",
        // 31.5 s of the client and 7.5 s of the server.
        "the client's share 80.77 % of the processor time, the rest is the server's",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    assert!(html(&file).contains("80.77 % of the processor time"));
    assert!(!terminal(&fixture::normal(), 200, false).contains("the client's share"), "there is no server");
}

#[test]
fn no_output_uses_the_councils_metric_and_each_carries_the_notice() {
    for (name, file) in fixture::all() {
        if name == "micro" {
            assert!(!terminal(&file, 100, false).contains("TPC"), "other workloads have nothing to do with it");
            continue;
        }
        let mut outputs = vec![terminal(&file, 100, false), markdown(&file)];
        outputs.push(csv_file(&data_tables(std::slice::from_ref(&file)), CsvText::Guarded));
        for text in outputs {
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(!flat.to_lowercase().contains("tpse"), "{name}: {text}");
            assert!(
                flat.contains("results are not comparable with published TPC Benchmark E results"),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn the_bottleneck_is_the_largest_part_of_the_users_time() {
    use BlockedOn::{BackOff, Lock, Other, Queue, Schedule, Server, Storage, Sync};
    let users =
        |cpu_s, runnable_s, blocked: &[(BlockedOn, f64)]| vec![fixture::role("users", 2, cpu_s, runnable_s, blocked)];
    // User and system seconds of processor in 30 s on two cores, what the users did in that time.
    let cases = [
        ((52.0, 6.0), users(45.0, 15.0, &[]), "bottleneck: CPU: the users need more than there are: 74.9"),
        ((20.0, 3.0), users(20.0, 30.0, &[(Lock, 10.0)]), "bottleneck: waiting for CPU (other processes): 50.00 % of"),
        ((29.0, 2.0), users(29.0, 1.0, &[]), "bottleneck: computing, one core for each user at work: 96.6"),
        (
            (6.0, 1.0),
            users(6.0, 1.0, &[(Lock, 40.0), (Sync, 13.0)]),
            "bottleneck: locks: waiting for another writer: 66.67 %",
        ),
        (
            (6.0, 1.0),
            users(6.0, 1.0, &[(Sync, 40.0)]),
            "bottleneck: syncs to disk: 85.11 % of the users' working time (on a CPU 12.7",
        ),
        ((6.0, 1.0), users(6.0, 1.0, &[(Storage, 40.0)]), "bottleneck: reads and writes of files: 85.11 %"),
        ((6.0, 1.0), users(6.0, 1.0, &[(Server, 40.0)]), "bottleneck: the server and the network: 85.11 %"),
        ((6.0, 1.0), users(6.0, 1.0, &[(BackOff, 40.0)]), "bottleneck: pauses before retries: 85.11 %"),
        (
            (6.0, 1.0),
            users(6.0, 1.0, &[(Other, 40.0)]),
            "bottleneck: waits inside the engine that it does not tell apart: 85.11 %",
        ),
        // Time in which nothing was due cannot be saved, and is reported apart.
        ((6.0, 1.0), users(6.0, 1.0, &[(Sync, 13.0), (Schedule, 40.0)]), "; idle 66.67 % of all their time"),
    ];
    for ((user, system), roles, expected) in cases {
        let mut file = fixture::normal();
        let round = &mut file.cases[0].rounds[0];
        (round.cpu_user_s, round.cpu_system_s) = (user, system);
        round.interference =
            Some(Interference { by_others: 0.8, by_kernel: 0.0, by_host: 0.0, includes_server: false });
        round.time_split = Some(TimeSplit::Measured(roles));
        let report = terminal(&file, 300, false);
        let found = report.lines().find(|line| line.trim_start().starts_with("bottleneck")).unwrap_or_default();
        assert!(found.contains(expected) && found.contains("other processes took 0.8"), "{expected}\n{found}");
    }
    let mut file = fixture::normal();
    file.cases[0].rounds[0].time_split = Some(TimeSplit::NotAvailable("no schedstat".to_owned()));
    let report = terminal(&file, 300, false);
    assert!(report.contains("bottleneck: not available: no schedstat"), "{report}");
    assert!(report.contains("Where the users' time went\nnot available: no schedstat"), "{report}");
    // A file of an older version says nothing about it.
    file.cases[0].rounds[0].time_split = None;
    assert!(!terminal(&file, 300, false).contains("bottleneck"));
    // CPU time with the null engine is not the engine's.
    let mut file = fixture::normal();
    file.cases[0].engine.name = bourse_record::Engine::NULL.to_owned();
    file.cases[0].rounds[0].time_split = Some(TimeSplit::Measured(users(29.0, 1.0, &[])));
    let report = terminal(&file, 300, false);
    assert!(report.contains("bottleneck: the harness and the workload's own code: null: is no database: "), "{report}");
    // A market that is always busy without waiting for locks, and customers who pause for it.
    let market = |lock, queue| {
        vec![
            fixture::role("customers", 2, 30.0, 0.0, &[(Queue, queue), (Lock, 30.0 - queue)]),
            fixture::role("market users", 1, 29.0 - lock, 0.0, &[(Queue, 1.0), (Lock, lock)]),
        ]
    };
    for (roles, expected, paused) in [
        (
            market(2.0, 24.0),
            "bottleneck: too few market users, computing: 93.09 % of the time of 1 market user, who was always busy (locks 6.90 %); \
             --market-users 2 may bring more",
            true,
        ),
        // A second one would wait for the same writer.
        (
            market(20.0, 24.0),
            "bottleneck: locks: waiting for another writer: 68.97 % of the time of 1 market user, who was always busy (on a CPU \
             31.0",
            true,
        ),
        (market(2.0, 3.0), "bottleneck: computing, one core for each user at work: ", false),
    ] {
        let mut file = fixture::normal();
        file.cases[0].rounds[0].time_split = Some(TimeSplit::Measured(roles));
        let report = terminal(&file, 300, false);
        assert!(report.contains(expected), "{report}");
        assert_eq!(report.contains("--market-users"), expected.contains("--market-users"), "{report}");
        let told = "customers paused 40.00 % of their time: 1 market user was busy 96.67 %";
        assert_eq!(report.contains(told), paused, "{report}");
    }
}

#[test]
fn a_durability_class_says_what_it_rests_on_where_there_is_doubt() {
    let with = |change: &dyn Fn(&mut bourse_record::Conditions)| {
        let mut file = fixture::normal();
        change(&mut file.cases[0].conditions);
        let report = terminal(&file, 300, false);
        report.lines().find(|line| line.contains("if the disk obeys")).map(|line| line.trim().to_owned())
    };
    let syncs = |p50_ns| Some(RawSyncs { count: 50, p50_ns, p90_ns: p50_ns });
    let storage = |it: &mut bourse_record::Conditions, medium, options: &str| {
        it.raw_syncs = syncs(2_000_000);
        let storage = it.storage.as_mut().unwrap();
        storage.medium = medium;
        storage.mount_options = options.to_owned();
    };
    let cache =
        "durable if the disk obeys: raw syncs take 148 µs, faster than flash: a cache below may acknowledge them";
    assert_eq!(with(&|_| ()).as_deref(), Some(cache));
    assert!(with(&|it| it.raw_syncs = syncs(3_000)).unwrap().contains("so nothing is written"));
    assert_eq!(with(&|it| it.raw_syncs = syncs(1_000_000)), None, "as flash takes");
    assert_eq!(with(&|it| it.raw_syncs = syncs(8_000_000)), None, "as a disk takes");
    assert!(with(&|it| storage(it, Medium::Network, "rw")).unwrap().contains("another machine"));
    assert!(with(&|it| storage(it, Medium::Unknown, "rw")).unwrap().contains("the storage below ext4 is not known"));
    assert!(with(&|it| storage(it, Medium::Device, "rw,nobarrier")).unwrap().contains("mounted nobarrier"));
    let report = terminal(&fixture::normal(), 300, false);
    let said = "storage: ext4 on vda (write cache: write back, no FUA), mounted rw,relatime · raw syncs: 50 of one page: median 148 µs";
    assert!(report.contains(said), "{report}");
}

#[test]
fn a_long_run_can_tell_whether_it_was_steady() {
    let mut file = fixture::long();
    let round = &mut file.cases[0].rounds[0];
    let operation = "throughput.Trade-Result";
    let rates = round.series.columns.iter_mut().find(|column| column.metric == operation).expect("a column");
    rates.values.fill(Some(100.0));
    let report = terminal(&file, 300, false).replace("\n  ", " ");
    assert!(report.contains("windows of an hour (within 0"), "{report}");
    let round = &mut file.cases[0].rounds[0];
    let rates = round.series.columns.iter_mut().find(|column| column.metric == operation).expect("a column");
    rates.values[..3600].fill(Some(60.0));
    let report = terminal(&file, 300, false);
    assert!(report.contains("not met: windows of 10 minutes: within 40.00 % (required: each within 20 %"), "{report}");
    assert!(report.contains("not met: windows of an hour: within 39.89 % (required: each within 2 %"), "{report}");
}

#[test]
fn control_characters_never_reach_a_terminal() {
    for text in [terminal(&fixture::hostile(), 100, false), markdown(&fixture::hostile())] {
        assert!(!text.chars().any(|each| (each.is_control() && each != '\n') || each == '\u{202e}'), "{text}");
    }
}

#[test]
fn a_terminal_report_fits_where_it_can() {
    for width in [100, 120, 160, 200] {
        let report = terminal(&fixture::normal(), width, false);
        for line in report.lines() {
            assert!(line.chars().count() <= width, "{} columns of {width}: {line}", line.chars().count());
        }
        // Two screens, with the demands of the specification next to the results.
        assert!(report.lines().count() <= 120, "{} lines at {width}", report.lines().count());
    }
}

/// The usage of a server's process is part of a side's usage, and a side whose server cannot be read has no such figure.
#[test]
fn a_comparison_has_the_servers_part_or_no_part() {
    let metric = |server: Option<ServerUse>, covers: Option<CostCovers>, includes_server: bool| {
        let mut head = fixture::case("postgres+private:", Durability::Durable, 30);
        head.rounds = [30; 8].map(fixture::round).to_vec();
        let base = head.clone();
        for round in &mut head.rounds {
            (round.server, round.cost_covers) = (server, covers);
            let others = Interference { by_others: 0.0, by_kernel: 0.0, by_host: 0.0, includes_server };
            round.interference = Some(others);
        }
        let used = head.rounds[0].cpu_user_s + head.rounds[0].cpu_system_s;
        let pair = bourse_verdict::comparison::CasePair { base, head, in_turn: true };
        let noise = bourse_verdict::comparison::RunNoise::Unknown;
        let compared = bourse_verdict::comparison::ComparedCases::of(&[pair], Vec::new(), 0.05, &noise);
        let found = compared.comparisons[0].metrics.iter().find(|it| it.name == "processor time each");
        (used, found.map(|it| it.ratio))
    };
    let (used, alone) = metric(None, None, false);
    assert_eq!(alone, Some(1.0));
    let server = ServerUse { cpu_user_s: 2.0 * used, cpu_system_s: used, read_bytes: 0, written_bytes: 0 };
    let with_server = metric(Some(server), None, false).1.expect("all of it is known");
    assert!((with_server - 4.0).abs() < 1e-9, "{with_server}");
    assert_eq!(metric(None, None, true).1, None, "a part would look cheap");
    // An interval too short to measure other processes has no interference, and the client's part was once taken for the
    // whole.
    assert_eq!(metric(None, Some(CostCovers::Client), false).1, None);
    assert!(metric(Some(server), Some(CostCovers::ClientAndServer), false).1.is_some());
}
