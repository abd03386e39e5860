//! Each workload with a few rows: checks of the database pass, and figures match the work done.

use crate::support::{TIMING, WHOLE, counted, fact, number, of_database, operation, run, sqlite};
use bourse_driver::MS;
use bourse_engine::{Engine, NullEngine, RowExt as _};
use bourse_micro::{Timing, WORKLOADS};
use bourse_record::Warning;

#[test]
fn reads_are_counted_in_batches_with_the_harness_beside() {
    let engine = sqlite();
    for keys in ["uniform", "zipfian", "sequential"] {
        let result = run(&engine, "point-read", &[("rows", "500"), ("threads", "2"), ("keys", keys)], TIMING);
        let read = operation(&result, "read");
        assert!(read.valid() > 100, "{}", read.valid());
        assert_eq!(fact(&result, "hit rate, measured"), "100.00 %");
    }
    let result = run(&engine, "point-read", &[("rows", "500"), ("batch", "50")], counted(5_000));
    let read = operation(&result, "read");
    assert_eq!((read.valid(), read.samples), (5_000, 100));
    let (mean, median) = (read.service.summary.mean_ns, read.service.summary.p50_ns);
    // In a debug build on a busy machine a read may exceed the limit for short operations.
    assert_eq!(read.harness_overhead_ns.is_some(), median < 5_000, "{median}");
    if let Some(floor) = read.harness_overhead_ns {
        assert!(floor > 0.0 && floor < mean, "{floor} ns of {mean}");
        assert!(fact(&result, "read: the harness's own part").ends_with(" ns (the same on the null engine)"));
        assert_eq!(fact(&result, "read: timed together, on average"), "50.0");
    }
    assert_eq!(number(&engine, "SELECT count(*) FROM persons"), 500);
}

#[test]
fn keys_that_are_not_there_are_the_part_that_was_asked_for() {
    let options = [("rows", "100"), ("hit_rate", "0.1"), ("statements", "parsed")];
    let result = run(&sqlite(), "point-read", &options, counted(10_000));
    let rate: f64 = fact(&result, "hit rate, measured").trim_end_matches(" %").parse().unwrap();
    assert!((8.5..11.5).contains(&rate), "{rate}");
}

#[test]
fn keys_may_be_texts() {
    let engine = sqlite();
    for statements in ["prepared", "parsed"] {
        let options = [("rows", "200"), ("key", "text"), ("hit_rate", "0.5"), ("statements", statements)];
        let result = run(&engine, "point-read", &options, counted(4_000));
        assert_eq!(operation(&result, "read").valid(), 4_000);
        let rate: f64 = fact(&result, "hit rate, measured").trim_end_matches(" %").parse().unwrap();
        assert!((45.0..55.0).contains(&rate), "{rate}");
    }
    assert_eq!(number(&engine, "SELECT count(*) FROM persons WHERE typeof(id) = 'text' AND length(id) = 28"), 200);
}

#[test]
fn bulk_loads_leave_the_rows_they_counted() {
    for (options, tables) in [
        (&[("rows", "2500")][..], &["persons"][..]),
        (&[("rows", "300"), ("per_transaction", "1"), ("explicit", "off")], &["persons"]),
        (&[("rows", "300"), ("per_transaction", "7"), ("statements", "parsed")], &["persons"]),
        (&[("rows", "1500"), ("tables", "2"), ("indexes", "after")], &["persons", "orders"]),
        (&[("rows", "300"), ("ids", "assigned")], &["persons"]),
        (&[("rows", "300"), ("shape", "pairs"), ("indexes", "before")], &["pairs"]),
    ] {
        let engine = sqlite();
        let result = run(&engine, "bulk-load", options, WHOLE);
        let rows: i64 = options[0].1.parse().unwrap();
        for table in tables {
            assert_eq!(number(&engine, &format!("SELECT count(*) FROM {table}")), rows);
        }
        assert_eq!(operation(&result, "insert").valid() as i64, rows * tables.len() as i64);
        assert_eq!(of_database(&result), 1);
    }
    let engine = sqlite();
    let result = run(&engine, "bulk-load", &[("rows", "50"), ("indexes", "after")], WHOLE);
    assert_eq!(operation(&result, "build index").valid(), 1);
    assert_eq!(number(&engine, "SELECT count(*) FROM sqlite_schema WHERE name = 'persons_by_c1'"), 1);
    run(&engine, "bulk-load", &[("rows", "40"), ("ids", "assigned"), ("tables", "2")], WHOLE);
    assert_eq!(number(&engine, "SELECT seq FROM sqlite_sequence WHERE name = 'orders'"), 40);
    assert_eq!(number(&engine, "SELECT min(length(c2)) + max(length(c3)) FROM persons"), 200);
}

#[test]
fn updates_add_up() {
    for options in [
        &[("rows", "100")][..],
        &[("rows", "100"), ("per_transaction", "30")],
        &[("rows", "100"), ("explicit", "off"), ("statements", "parsed")],
    ] {
        let engine = sqlite();
        let result = run(&engine, "update", options, counted(1_000));
        assert_eq!(operation(&result, "update").valid(), 1_000);
        assert_eq!(number(&engine, "SELECT sum(c1) FROM persons"), 1_000);
        assert_eq!(of_database(&result), 1);
    }
    run(&sqlite(), "update", &[("rows", "100"), ("threads", "2")], TIMING);
}

#[test]
fn readers_and_writers_are_counted_apart() {
    let engine = sqlite();
    let options = [("rows", "100"), ("readers", "2"), ("writers", "2"), ("writes", "200")];
    let result = run(&engine, "read-write", &options, counted(2_000));
    assert_eq!((operation(&result, "read").valid(), operation(&result, "write").valid()), (4_000, 400));
    assert_eq!(number(&engine, "SELECT sum(c1) FROM persons"), 400);
    assert!(fact(&result, "writes/s").parse::<f64>().unwrap() > 0.0);
}

#[test]
fn a_writer_keeps_to_its_rate() {
    let options = [("rows", "100"), ("writes", "50"), ("write_rate", "500")];
    let result = run(&sqlite(), "read-write", &options, counted(100));
    assert_eq!(operation(&result, "write").valid(), 50);
    assert!(result.round.measured_s >= 0.09, "50 updates at 500 a second: {} s", result.round.measured_s);
}

#[test]
fn searches_find_by_number_and_by_text() {
    let engine = sqlite();
    let result = run(&engine, "index-search", &[("rows", "500"), ("by", "both"), ("batch", "10")], counted(1_000));
    let by = |name| operation(&result, name).valid();
    assert_eq!((by("search by number"), by("search by text")), (500, 500));
    let result = run(&engine, "index-search", &[("rows", "500"), ("by", "text")], counted(100));
    assert_eq!(operation(&result, "search by text").valid(), 100);
    assert_eq!(number(&engine, "SELECT count(DISTINCT str_key) FROM pairs"), 500);
}

#[test]
fn deleting_leaves_nothing() {
    for options in [
        &[("rows", "2500"), ("mode", "all")][..],
        &[("rows", "2500"), ("mode", "each")],
        &[("rows", "100"), ("mode", "each"), ("per_transaction", "1"), ("text_index", "off")],
    ] {
        let engine = sqlite();
        let result = run(&engine, "delete", options, WHOLE);
        assert_eq!(operation(&result, "delete").valid(), options[0].1.parse::<u64>().unwrap());
        assert_eq!(number(&engine, "SELECT count(*) FROM pairs"), 0);
        assert_eq!(of_database(&result), 1);
    }
}

#[test]
fn scans_give_the_rows_from_the_key_on() {
    let result = run(&sqlite(), "scan", &[("rows", "100"), ("length", "10"), ("keys", "sequential")], counted(100));
    assert_eq!(operation(&result, "scan").valid(), 100);
    // From key 92 on there are fewer: 9 + 8 + … + 1 = 45 instead of 90.
    assert_eq!(fact(&result, "rows a scan, on average"), "9.6");
}

/// Texts of each record of YCSB's table, in the order of the keys.
fn texts(engine: &dyn Engine) -> Vec<String> {
    let fields: Vec<_> = (0..10).map(|number| format!("field{number}")).collect();
    let mut texts = Vec::new();
    let sql = format!("SELECT {} FROM usertable ORDER BY ycsb_key", fields.join(" || "));
    let each = &mut |row: &dyn bourse_engine::Row| {
        texts.push(row.get(0)?);
        Ok(())
    };
    engine.session().unwrap().query_text(&sql, &[], each).unwrap();
    texts
}

#[test]
fn the_mixes_of_ycsb_are_those_that_were_published() {
    let engine = sqlite();
    let options = [("rows", "500"), ("threads", "2")];
    run(&engine, "ycsb-c", &options, counted(100));
    let loaded = texts(&engine);
    assert!(loaded.len() == 500 && loaded.iter().all(|text| text.len() == 1_000));
    for (name, mix) in [
        ("ycsb-a", &[("read", 50.0), ("update", 50.0)][..]),
        ("ycsb-b", &[("read", 95.0), ("update", 5.0)]),
        ("ycsb-c", &[("read", 100.0)]),
        ("ycsb-d", &[("read", 95.0), ("insert", 5.0)]),
        ("ycsb-e", &[("scan", 95.0), ("insert", 5.0)]),
        ("ycsb-f", &[("read", 50.0), ("read-modify-write", 50.0)]),
    ] {
        let result = run(&engine, name, &options, counted(2_500));
        let valid = |name| operation(&result, name).valid();
        assert_eq!(mix.iter().map(|(name, _)| valid(name)).sum::<u64>(), 5_000, "{name}");
        for (operation, percent) in mix {
            // Five standard deviations of 5,000 draws.
            let found = valid(operation) as f64 / 50.0;
            assert!((found - percent).abs() < 3.6, "{name}: {operation} {found} %");
        }
        let (writes, now) = (valid(mix[mix.len() - 1].0) as usize, texts(&engine));
        let inserts = if mix.iter().any(|it| it.0 == "insert") { writes } else { 0 };
        assert_eq!((now.len(), of_database(&result)), (500 + inserts, 1), "{name}");
        let changed = loaded.iter().zip(&now).filter(|(before, after)| before != after).count();
        assert_eq!(
            changed > 50,
            ["ycsb-a", "ycsb-b", "ycsb-d", "ycsb-e", "ycsb-f"].contains(&name),
            "{name}: {changed}"
        );
        if name == "ycsb-e" {
            // 1 to 100, fewer at the end of the table.
            let rows: f64 = fact(&result, "rows a scan, on average").parse().unwrap();
            assert!((42.0..54.0).contains(&rows), "{rows}");
        }
    }
}

#[test]
fn the_sizes_of_ycsbs_records_are_options() {
    let engine = sqlite();
    let options = [("rows", "30"), ("fields", "3"), ("field_length", "20")];
    run(&engine, "ycsb-f", &options, counted(200));
    assert_eq!(number(&engine, "SELECT count(*) FROM usertable WHERE length(field0 || field1 || field2) = 60"), 30);
    assert_eq!(number(&engine, "SELECT count(*) FROM pragma_table_info('usertable')"), 4);
}

#[test]
fn every_workload_runs_on_the_null_engine() {
    for spec in WORKLOADS {
        let capabilities = NullEngine.capabilities();
        let case = spec.plan([]).unwrap();
        if !case.lacking(&capabilities).is_empty() {
            continue;
        }
        let timing = Timing { measure_ns: Some(500 * MS), ..TIMING };
        let result = run(&NullEngine, spec.name, &[], timing);
        assert!(result.round.operations[0].valid() > 100, "{}", spec.name);
        assert_eq!(of_database(&result), 0, "nothing is kept, so nothing is checked");
    }
}

#[test]
fn a_cap_on_time_is_told() {
    let timing = Timing { measure_ns: Some(300 * MS), ..WHOLE };
    let result = run(&sqlite(), "bulk-load", &[("rows", "100M"), ("per_transaction", "100")], timing);
    let ended_early = Warning::EndedEarly { after_s: 0.3 };
    assert!(result.round.warnings.contains(&ended_early), "{:?}", result.round.warnings);
    assert!(operation(&result, "insert").valid() > 0);
}

#[test]
fn clients_share_the_work_out_among_them() {
    let engine = sqlite();
    let mix = |phase, batch| {
        let options = [("queries", "1003"), ("clients", "7"), ("phase", phase), ("batch", batch)];
        run(&engine, "client-mix", &options, WHOLE)
    };
    let texts = |text: &str| {
        let each =
            |table| format!("SELECT count(*) AS n FROM table{table} WHERE str_3 = '{text}' AND dou_5 = id * 1.1");
        number(&engine, &format!("SELECT sum(n) FROM ({})", [1, 2, 3, 4].map(each).join(" UNION ALL ")))
    };
    assert_eq!(operation(&mix("insert", "auto"), "insert").valid(), 1_003);
    assert_eq!(texts("insert"), 1_003);
    assert_eq!(operation(&mix("update", "auto"), "update").valid(), 1_003);
    assert_eq!((texts("insert"), texts("update")), (0, 1_003));
    let select = mix("select", "10");
    assert_eq!(operation(&select, "select").valid(), 1_003);
    assert!(operation(&select, "select").samples < 150, "in batches of ten");
    assert_eq!(operation(&mix("delete", "auto"), "delete").valid(), 1_003);
    assert_eq!(texts("insert"), 0);
    // By fours, rounded up: each row that is inserted is deleted.
    assert_eq!(operation(&mix("mixed", "auto"), "statement").valid(), 1_004);
}

#[test]
fn logs_grow_as_their_checkpoints_let_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let peaks = |query: &str, options: &[(&str, &str)], count| {
        let engine = bourse_engine_sqlite::open(&format!("sqlite:{}?sync=off&{query}", path.display())).unwrap();
        let result = run(&engine, "log-growth", &[&[("rows", "2000")], options].concat(), counted(count));
        ["log_bytes", "journal_bytes"].map(|name| {
            let column = result.round.fine_series.column(name).expect("sizes are looked at closely");
            column.iter().flatten().copied().fold(0.0, f64::max) as u64
        })
    };
    let kib = 1 << 10;
    let [never, _] = peaks("journal=wal&autocheckpoint=0", &[], 1_000);
    assert!(never > 4_000 * kib, "a page each, and never moved: {never}");
    let [often, journal] = peaks("journal=wal&autocheckpoint=100", &[], 1_000);
    assert!((400 * kib..600 * kib).contains(&often), "a hundred pages of 4 KiB: {often}");
    assert_eq!(journal, 0);
    // More rows: those that come before the reader does are moved.
    let [pinned, _] = peaks("journal=wal&autocheckpoint=100", &[("pinned", "on")], 4_000);
    assert!(pinned > 6 * often, "a reader keeps it: {pinned}");
    let truncate = [("checkpoint", "truncate"), ("checkpoint_every_ms", "5")];
    let [cut, _] = peaks("journal=wal&autocheckpoint=0", &truncate, 20_000);
    assert!(cut > 0 && cut < never * 10, "cut again and again: {cut}");
    let [log, one] = peaks("journal=delete", &[("per_transaction", "all")], 3_000);
    assert_eq!(log, 0);
    assert!(one > 100 * kib, "every page that was there: {one}");
}

#[test]
fn commits_stand_beside_raw_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let engine = bourse_engine_sqlite::open(&format!("sqlite:{}?journal=wal&sync=full", path.display())).unwrap();
    let result = run(&engine, "commit", &[("raw_syncs", "2"), ("threads", "2"), ("batch", "1")], counted(30));
    assert_eq!(operation(&result, "commit").valid(), 60);
    assert_eq!(result.round.operations.len(), 1, "a raw sync is no operation of the mix");
    assert!(fact(&result, "raw fdatasync").starts_with("1 among the commits, median "));
    let result = run(&engine, "commit", &[("raw_syncs", "2"), ("threads", "2"), ("batch", "1")], counted(200));
    assert!(
        fact(&result, "raw fdatasync").starts_with("2 among the commits, median "),
        "one to 50 commits, two at most"
    );
    assert!(fact(&result, "a commit, by raw fdatasyncs (medians)").parse::<f64>().unwrap() > 0.0);
    let result = run(&sqlite(), "commit", &[], counted(50));
    assert_eq!(fact(&result, "raw fdatasync"), "the database has no file here to be synced");
    // Another may say that a busy machine read the cost too late.
    let not_durable = Warning::NotDurable { class: bourse_record::Durability::Volatile };
    assert!(result.round.warnings.contains(&not_durable), "{:?}", result.round.warnings);
    assert_eq!(number(&engine, "SELECT sum(n) FROM counters"), 400);
}
