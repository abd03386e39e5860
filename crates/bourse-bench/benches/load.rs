//! Loading 1,000 customers and ten days into a SQLite file with all indexes, compared with a C program that has the
//! rows ready in memory: interleaved rounds (A B B A), seconds of each, and the ratio of each pair.
//!
//! `cargo bench -p bourse-bench --bench load [PAIRS] [FOLDER]`. FOLDER is best on a memory file system, since the
//! disk's noise is not under test.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints what it measured")]

use bourse_bench::{ReadyTable, load_in_c};
use bourse_egen::{Inputs, Part};
use bourse_schema::{SQLITE, load_order, tables};
use bourse_tpce::load::{LoadOptions, load};
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let pairs: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let folder = tempfile::tempdir_in(arguments.next().unwrap_or_else(|| ".".to_owned()))?;
    let (inputs, part) = (Inputs::builtin(), Part::whole(1_000, 10)?);

    println!("making the rows for the C program");
    let mut ready: BTreeMap<&str, ReadyTable> = BTreeMap::new();
    bourse_egen::files::batches(&inputs, part, &bourse_egen::files::BatchOptions::default(), |batch| {
        ready.entry(batch.table().name).or_insert_with(|| ReadyTable::new(batch.table())).add(batch.as_ref());
        Ok::<(), std::convert::Infallible>(())
    })?;
    let tables: Vec<ReadyTable> =
        load_order(tables::all()).iter().filter_map(|table| ready.remove(table.name)).collect();
    let rows: u64 = tables.iter().map(|table| table.rows).sum();
    println!("{rows} rows; seconds to load them\n{:>10} {:>10} {:>10}", "bourse", "C", "bourse/C");

    let ours = |path: &Path| -> Result<f64, Box<dyn Error>> {
        let engine = bourse_engine_sqlite::open(&format!("sqlite:{}", path.display()))?;
        let start = Instant::now();
        load(&engine, &inputs, part, &LoadOptions::default(), &mut |_| ControlFlow::Continue(()))?;
        Ok(start.elapsed().as_secs_f64())
    };
    let (prepare, finish) = statements();
    let in_c = |path: &Path| -> Result<f64, Box<dyn Error>> {
        let start = Instant::now();
        load_in_c(path, &prepare, &tables, &finish)?;
        Ok(start.elapsed().as_secs_f64())
    };
    let mut ratios = Vec::new();
    for pair in 0..pairs {
        let paths = [folder.path().join("a.db"), folder.path().join("b.db")];
        let (a, b) = if pair % 2 == 0 {
            let a = ours(&paths[0])?;
            (a, in_c(&paths[1])?)
        } else {
            let b = in_c(&paths[1])?;
            (ours(&paths[0])?, b)
        };
        println!("{a:>10.2} {b:>10.2} {:>10.3}", a / b);
        ratios.push(a / b);
        for path in paths {
            std::fs::remove_file(path)?;
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}, from {:.3} to {:.3}", ratios[pairs / 2], ratios[0], ratios[pairs - 1]);
    Ok(())
}

/// Statements before and after the rows: the settings that Bourse's loader uses, all tables, all indexes.
fn statements() -> (String, String) {
    let mut prepare = String::from(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA cache_size = -262144; PRAGMA foreign_keys = OFF; PRAGMA threads = 2;",
    );
    let mut finish = String::new();
    for table in load_order(tables::all()) {
        prepare.push_str(&bourse_schema::create_table(table, &SQLITE, true));
        prepare.push(';');
        for index in table.indexes {
            finish.push_str(&bourse_schema::create_index(table, index, &SQLITE));
            finish.push(';');
        }
    }
    (prepare, finish)
}
