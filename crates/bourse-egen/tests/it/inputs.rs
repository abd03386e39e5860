//! Reading input files, whole ones and broken ones.

use std::collections::HashMap;

use bourse_egen::inputs::FILES;
use bourse_egen::{InputError, Inputs};

use crate::golden::folder;

/// Bytes of the official files by name.
fn files(test: &str) -> Option<HashMap<&'static str, Vec<u8>>> {
    let folder = folder(test, "BOURSE_FLAT_IN")?;
    let read = |name| std::fs::read(folder.join(format!("{name}.txt"))).expect("the official folder has all files");
    Some(FILES.into_iter().map(|name| (name, read(name))).collect())
}

/// The official input data.
pub(crate) fn official(test: &str) -> Option<Inputs> {
    let files = files(test)?;
    Some(Inputs::parse(|name| files.get(name).cloned()).expect("the official files are sound"))
}

#[test]
fn official_files_have_the_counts_the_algorithms_expect() {
    let Some(inputs) = official("official input files") else { return };
    let totals = [
        inputs.area_codes.total(),
        inputs.ratings.total(),
        inputs.female_first_names.total(),
        inputs.male_first_names.total(),
        inputs.last_names.total(),
        inputs.street_names.total(),
        inputs.street_suffixes.total(),
        inputs.zip_codes.total(),
    ];
    assert_eq!(totals, [306, 39, 11_890, 9_554, 69_195, 1_000, 17, 23_121]);
    assert_eq!(inputs.zip_codes.records().len(), 14_741);
    assert_eq!((inputs.country_taxes.records().len(), inputs.division_taxes.records().len()), (9, 311));
    assert_eq!((inputs.industries.len(), inputs.sectors.len()), (102, 12));
}

#[test]
fn fingerprints_tell_files_apart() {
    let Some(mut files) = files("fingerprints") else { return };
    let parse = |files: &HashMap<&'static str, Vec<u8>>| {
        Inputs::parse(|name| files.get(name).cloned()).expect("sound").fingerprint()
    };
    let official = parse(&files);
    assert_eq!(parse(&files), official);
    files.get_mut("LastName").expect("present").extend_from_slice(b"1\tZzz\n");
    assert_ne!(parse(&files), official);
}

/// Changes one line of one file and expects an error with its place and the defect.
fn broken(file: &'static str, line: usize, text: &str, message: &str) {
    let Some(mut files) = files("broken input files") else { return };
    let bytes = files.remove(file).expect("present");
    let mut lines: Vec<String> = String::from_utf8(bytes).expect("ASCII").lines().map(str::to_owned).collect();
    lines[line - 1] = text.to_owned();
    files.insert(file, (lines.join("\n") + "\n").into_bytes());
    let error = Inputs::parse(|name| files.get(name).cloned()).expect_err(message);
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_missing_column() {
    broken(
        "TradeType",
        2,
        "TMS\tMarket-Sell\t1",
        "TradeType.txt line 2: expected 4 columns (id, name, is sell, is market), found 3",
    );
}

#[test]
fn a_bad_number() {
    broken("AreaCode", 3, "x\t212", "AreaCode.txt line 3: expected weight as an integer of 1 to 1000000, found \"x\"");
    broken("Charge", 1, "TMB\t1\tfree", "Charge.txt line 1: expected charge as a decimal number, found \"free\"");
}

#[test]
fn an_unsorted_bucket() {
    broken(
        "TaxRatesCountry",
        7,
        "1\tCN2\tx\t0.1",
        "TaxRatesCountry.txt line 7: expected bucket 2 or 3 (buckets are sorted and none is left out), found \"1\"",
    );
}

#[test]
fn an_order_that_is_not_the_algorithms() {
    broken(
        "StatusType",
        1,
        "ACTV\tActive",
        "StatusType.txt line 1: expected id \"CMPT\" in this place, found \"ACTV\"",
    );
}

#[test]
fn symbols() {
    broken(
        "Security",
        2,
        "2\tACTV\tZICA\tPREF_A\tPCX\t1",
        "Security.txt line 2: expected symbol that no line before has, found \"ZICA\"",
    );
    broken(
        "Security",
        2,
        "2\tACTV\tZI-A\tPREF_A\tPCX\t1",
        "Security.txt line 2: expected symbol without '-', which larger databases append, found \"ZI-A\"",
    );
}

#[test]
fn a_missing_file_and_a_line_cut_off() {
    let Some(mut files) = files("missing files") else { return };
    // As in the reference, text after the last line feed is ignored.
    assert_eq!(files.get_mut("Sector").expect("present").pop(), Some(b'\n'));
    let error = Inputs::parse(|name| files.get(name).cloned()).expect_err("an industry's sector is gone");
    assert!(matches!(error, InputError::Line { file: "Industry", .. }), "{error}");
    files.get_mut("StatusType").expect("present").pop();
    let error = Inputs::parse(|name| files.get(name).cloned()).expect_err("a status is gone");
    assert_eq!(error.to_string(), "StatusType.txt: expected 5 records, found 4");
    files.remove("Company");
    let error = Inputs::parse(|name| files.get(name).cloned()).expect_err("a file is gone");
    assert_eq!(error, InputError::Missing { file: "Company" });
}
