//! Every table against `tables/*.json`: rows, bytes and SHA-256, at several sizes and starting customers.

use std::collections::BTreeMap;

use bourse_egen::{Inputs, Part, PartGenerator, RowSink, RowUnit, SinkStopped};
use bourse_schema::{Table, TableRow, find};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::golden::{int, list, path, text};
use crate::inputs::official;

#[test]
fn one_load_unit() {
    check("c1000-t1000-f500-w1");
}

#[test]
fn five_load_units() {
    check("c5000-t5000-f500-w1");
}

#[test]
fn the_second_of_five_load_units() {
    check("b1001-c1000-t5000-f500-w2");
}

#[test]
fn the_eleventh_load_unit() {
    check("b10001-c1000-t11000-f500-w1");
}

#[test]
fn forty_days() {
    check("c1000-t1000-f500-w40");
}

/// Bytes of each table as they come.
#[derive(Default)]
struct Files {
    buffers: BTreeMap<&'static str, Vec<u8>>,
    digests: BTreeMap<&'static str, Digested>,
    /// Whether the sink asks for ready lines.
    lines: bool,
}

#[derive(Default)]
struct Digested {
    sha256: Sha256,
    rows: usize,
    bytes: usize,
}

impl RowSink for Files {
    fn row<R: TableRow>(&mut self, row: R) {
        row.write_flat(self.buffers.entry(R::NAME).or_default());
    }
    fn lines<R: TableRow>(&mut self) -> Option<&mut Vec<u8>> {
        self.lines.then(|| self.buffers.entry(R::NAME).or_default())
    }
    fn chunk_end(&mut self) -> Result<(), SinkStopped> {
        for (table, buffer) in &mut self.buffers {
            if buffer.len() > 1 << 20 {
                self.digests.entry(table).or_default().add(buffer);
            }
        }
        Ok(())
    }
}

impl Files {
    fn finish(mut self) -> BTreeMap<&'static str, Digested> {
        for (table, buffer) in &mut self.buffers {
            self.digests.entry(table).or_default().add(buffer);
        }
        self.digests
    }
}

impl Digested {
    fn add(&mut self, buffer: &mut Vec<u8>) {
        self.rows += buffer.iter().filter(|&&byte| byte == b'\n').count();
        self.bytes += buffer.len();
        self.sha256.update(&*buffer);
        buffer.clear();
    }

    fn hex(self) -> String {
        hex(&self.sha256.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn part(parameters: &Value) -> Part {
    let of = |name: &str| int(&parameters[name]);
    let counts = [of("start_customer"), of("customer_count"), of("total_customers")];
    Part::new(counts[0], counts[1], counts[2], of("scale_factor"), of("initial_trade_days")).expect("a golden's part")
}

fn check(configuration: &str) {
    let Some(path) = path(configuration, &format!("tables/{configuration}.json")) else { return };
    let Some(inputs) = official(configuration) else { return };
    let golden: Value = serde_json::from_slice(&std::fs::read(path).expect("the golden is there")).expect("JSON");
    let generator = PartGenerator::new(&inputs, part(&golden["parameters"]));
    let digests = digests(&generator);
    let tables = golden["tables"].as_object().expect("tables");
    assert_eq!(digests.len(), tables.len(), "files of {configuration}");
    let mut wrong = Vec::new();
    for (name, digested) in digests {
        let table = find(name).expect("a declared table");
        let expected = &tables[table.file];
        let got = (digested.rows as i64, digested.bytes as i64, digested.hex());
        if got != (int(&expected["rows"]), int(&expected["bytes"]), text(&expected["sha256"]).to_owned()) {
            wrong.push(format!(
                "{name}: {got:?} instead of {expected:.100}\n{}",
                difference(&generator, table, expected)
            ));
        }
    }
    assert!(wrong.is_empty(), "{configuration}:\n{}", wrong.join("\n"));
}

/// Every table's rows, bytes and hash.
fn digests(generator: &PartGenerator<'_>) -> BTreeMap<&'static str, Digested> {
    let mut files = Files { lines: true, ..Files::default() };
    for unit in generator.units(|_| true) {
        generator.make(unit, &mut files).expect("the sink never stops");
    }
    files.finish()
}

/// The tables made from the built-in input data are pinned, so that a change of either shows: rows and SHA-256 of
/// 2,000 customers and two days. They need no reference data.
#[test]
fn tables_of_the_built_in_data_are_pinned() {
    let inputs = Inputs::builtin();
    let generator = PartGenerator::new(&inputs, Part::whole(2_000, 2).expect("a database"));
    let made: Vec<String> = digests(&generator)
        .into_iter()
        .map(|(name, digested)| format!("{name} {} ", digested.rows) + &digested.hex())
        .collect();
    assert_eq!(made, include_str!("builtin-tables.txt").lines().collect::<Vec<_>>());
}

/// The lines of one table.
fn lines(generator: &PartGenerator<'_>, wanted: &'static Table) -> Vec<u8> {
    struct One(&'static str, Vec<u8>);
    impl RowSink for One {
        fn row<R: TableRow>(&mut self, row: R) {
            if R::NAME == self.0 {
                row.write_flat(&mut self.1);
            }
        }
    }
    let mut one = One(wanted.name, Vec::new());
    for unit in generator.units(|table| table == wanted) {
        generator.make(unit, &mut one).expect("the sink never stops");
    }
    one.1
}

/// Description of the first difference between a table and the golden block hashes.
fn difference(generator: &PartGenerator<'_>, table: &'static Table, expected: &Value) -> String {
    let Some(block_rows) = expected["block_rows"].as_u64() else { return "no block hashes".into() };
    let lines = lines(generator, table);
    let rows: Vec<&[u8]> = lines.split_inclusive(|&byte| byte == b'\n').collect();
    let blocks = list(&expected["block_sha256_first16hex"]);
    for (n, block) in rows.chunks(block_rows as usize).enumerate() {
        let got = &hex(&Sha256::digest(block.concat()))[..16];
        if blocks.get(n).is_none_or(|expected| text(expected) != got) {
            let first = String::from_utf8_lossy(block[0]);
            return format!("first different block {n}, from row {} on: {first:.200}", n * block_rows as usize + 1);
        }
    }
    "all blocks agree, some are missing".into()
}

/// All bytes of all tables of a part, made unit by unit.
fn whole(inputs: &Inputs, part: Part, lines: bool, keep: impl Fn(&Table) -> bool) -> BTreeMap<&'static str, Vec<u8>> {
    struct Keep(Files);
    impl RowSink for Keep {
        fn row<R: TableRow>(&mut self, row: R) {
            self.0.row(row);
        }
        fn lines<R: TableRow>(&mut self) -> Option<&mut Vec<u8>> {
            self.0.lines::<R>()
        }
    }
    let generator = PartGenerator::new(inputs, part);
    let mut sink = Keep(Files { lines, ..Files::default() });
    for unit in generator.units(&keep) {
        generator.make(unit, &mut sink).expect("the sink never stops");
    }
    sink.0.buffers
}

#[test]
fn parts_joined_are_the_whole() {
    let Some(inputs) = official("parts joined") else { return };
    // The bodies of the news and the prices are checked by the goldens; here they would only cost memory.
    let small = |table: &Table| !["news_item", "news_xref", "daily_market"].contains(&table.name);
    let mut joined: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for n in 0..3 {
        let part = Part::new(n * 1_000 + 1, 1_000, 3_000, 500, 1).expect("a part");
        for (table, bytes) in whole(&inputs, part, true, small) {
            joined.entry(table).or_default().extend_from_slice(&bytes);
        }
    }
    let mut whole = whole(&inputs, Part::whole(3_000, 1).expect("a database"), true, small);
    // Its counts are those of the part, as in the reference.
    assert_ne!(whole.remove("exchange"), joined.remove("exchange"));
    assert_eq!(whole.len(), 28);
    for (table, bytes) in whole {
        assert!(joined[table] == bytes, "{table}");
    }
}

#[test]
fn ready_lines_are_the_rows() {
    let Some(inputs) = official("ready lines") else { return };
    let part = Part::whole(1_000, 1).expect("a database");
    let [ready, by_row] = [true, false].map(|lines| whole(&inputs, part, lines, |_| true));
    assert_eq!(ready.len(), 32);
    for (table, lines) in ready {
        assert!(lines == by_row[table], "{table}");
    }
}

#[test]
fn units_are_those_of_the_tables_wanted() {
    let Some(inputs) = official("units") else { return };
    let generator = PartGenerator::new(&inputs, Part::new(1_001, 2_000, 5_000, 500, 1).expect("a part"));
    let tables =
        |units: Vec<RowUnit>| units.into_iter().flat_map(RowUnit::tables).map(|table| table.name).collect::<Vec<_>>();
    assert_eq!(tables(generator.units(|table| table.name == "charge")), [""; 0]);
    assert_eq!(tables(generator.units(|table| table.name == "news_xref")), ["news_item", "news_xref"].repeat(2));
}
