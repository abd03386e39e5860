//! Property files of YCSB.

use crate::support::{WHOLE, counted, fact, number, operation, run, sqlite};
use bourse_micro::{Timing, find};

fn written(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workload");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_property_file_is_a_mix_with_its_options() {
    let (_folder, path) = written(
        "# of my own\n! too\n\nrecordcount = 500\noperationcount=1000\nworkload=site.ycsb.workloads.CoreWorkload\nreadallfields=true\n\
         readproportion = 0.5\nupdateproportion 0.2\ninsertproportion: 0.1\nscanproportion=0.1\nreadmodifywriteproportion=0.1\n\
         requestdistribution=latest\nfieldcount=3\nfieldlength=20\nmaxscanlength=7\nhdrhistogram.percentiles=95,99\n",
    );
    let engine = sqlite();
    let result = run(&engine, "ycsb", &[("file", &path), ("threads", "2")], counted(2_000));
    for (name, percent) in
        [("read", 50.0), ("update", 20.0), ("insert", 10.0), ("scan", 10.0), ("read-modify-write", 10.0)]
    {
        let found = operation(&result, name);
        assert!((found.mix_target_percent.unwrap() - percent).abs() < 1e-9);
        assert!((found.valid() as f64 / 40.0 - percent).abs() < 5.0, "{name}: {}", found.valid());
    }
    let inserted = operation(&result, "insert").valid() as i64;
    assert_eq!(number(&engine, "SELECT count(*) FROM usertable"), 500 + inserted);
    assert_eq!(number(&engine, "SELECT max(length(field2)) FROM usertable"), 20);
    let unused: Vec<&str> =
        result.round.facts.iter().filter(|fact| fact.name == "not used").map(|fact| fact.value.as_str()).collect();
    assert_eq!(
        unused,
        [
            "operationcount=1000: time ends a round, or --count",
            "hdrhistogram.percentiles=95,99: no property of the core workload's operations",
        ]
    );
    // An option that is given wins over the file.
    let case = find("ycsb").unwrap().plan([("rows", "9"), ("file", &path)]).unwrap();
    let effective: Vec<(&str, &str)> = case.options.effective().collect();
    for expected in [
        ("rows", "9"),
        ("fields", "3"),
        ("keys", "latest"),
        ("length", "7"),
        ("mix", "read:0.5+update:0.2+insert:0.1+scan:0.1+read-modify-write:0.1"),
    ] {
        assert!(effective.contains(&expected), "{effective:?}");
    }
}

#[test]
fn a_mix_of_scans_alone_has_scans_of_all_lengths() {
    let options = [("mix", "scan:1"), ("rows", "200"), ("length", "50"), ("fields", "1"), ("field_length", "8")];
    let result = run(&sqlite(), "ycsb", &options, counted(2_000));
    let average: f64 = fact(&result, "rows a scan, on average").parse().unwrap();
    assert!((18.0..27.0).contains(&average), "{average}");
    let many = run(&sqlite(), "ycsb", &[("rows", "100"), ("mix", "insert:1")], Timing { count: Some(300), ..WHOLE });
    assert_eq!(operation(&many, "insert").valid(), 300);
}

#[test]
fn what_would_be_another_work_is_refused_with_its_line() {
    let check = |text: &str, expected: &str| {
        let (_folder, path) = written(text);
        let refused = find("ycsb").unwrap().plan([("file", path.as_str())]).err().expect(text).to_string();
        assert_eq!(refused, format!("{path}, {expected}"));
    };
    check(
        "recordcount=5\nrequestdistribution=hotspot\n",
        "line 2: requestdistribution=hotspot: Bourse has uniform, zipfian, latest, sequential",
    );
    check("fieldcount=50\n", "line 1: fieldcount=50: Bourse has an integer from 1 to 20");
    let (_folder, path) = written("readproportion=0\nupdateproportion=0\n");
    let refused =
        find("ycsb").unwrap().plan([("file", path.as_str())]).err().expect("no operation is left").to_string();
    assert!(refused.starts_with(&format!("{path}: the share of every operation is 0")), "{refused}");
    check("readproportion=most\n", "line 1: readproportion=most: a share of 0 or more is expected, as 0.5");
    check(
        "\nwriteallfields=true\n",
        "line 2: writeallfields=true: Bourse has false alone: an update replaces one field",
    );
    check("target=100\n", "line 1: target=100: Bourse has 0 alone: --rate N is the rate in operations a second");
    check(
        "recordcont=5\n",
        "line 1: unknown property 'recordcont'; did you mean 'recordcount'?; leave it out to run without it",
    );
    check("recordcount=\\\n5\n", "line 1: a line that continues is not read: write the property on one line");
    check(
        "workload=site.ycsb.workloads.TimeSeriesWorkload\n",
        "line 1: workload=site.ycsb.workloads.TimeSeriesWorkload: Bourse has CoreWorkload alone: of YCSB's classes this one alone is known",
    );
    let refused = |mix: &str| find("ycsb").unwrap().plan([("mix", mix)]).err().expect(mix).to_string();
    for mix in ["read", "read:-1", "read:0", "raed:1", "read:1+read:1"] {
        assert!(refused(mix).contains("expected operations with shares, as read:0.95+update:0.05"));
    }
    let nowhere = find("ycsb").unwrap().plan([("file", "/nowhere")]).err().unwrap().to_string();
    assert!(nowhere.starts_with("/nowhere: cannot be read"), "{nowhere}");
}
