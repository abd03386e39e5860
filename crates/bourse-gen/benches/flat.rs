//! How fast flat files are written: by table, by group, and on more threads.
//!
//! Writes to memory (`/dev/shm`) where there is such a folder, else to the temporary one, or wherever
//! `BOURSE_BENCH_DIR` says. `BOURSE_FLAT_IN` names official input data, else the built-in is used. Each figure is the best of three.

#![expect(clippy::print_stdout, reason = "a benchmark is run to be read")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use bourse_egen::{Inputs, Part};
use bourse_gen::{FlatOptions, read_inputs, write_flat};
use bourse_schema::{Group, Table, tables};

const ROUNDS: usize = 3;

fn main() {
    let inputs = match std::env::var_os("BOURSE_FLAT_IN") {
        Some(folder) => read_inputs(folder.as_ref()).expect("official input data"),
        None => Inputs::builtin(),
    };
    let memory = Path::new("/dev/shm");
    let folder = std::env::var_os("BOURSE_BENCH_DIR")
        .map_or_else(|| if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }, PathBuf::from);
    let folder = folder.join(format!("bourse-bench-{}", std::process::id()));
    let bench = Bench { inputs, folder };
    bench.by_table();
    bench.by_group();
    bench.by_threads();
    let _ = std::fs::remove_dir_all(&bench.folder);
}

struct Bench {
    inputs: Inputs,
    folder: PathBuf,
}

impl Bench {
    /// Bytes and megabytes a second of the best round.
    fn measure(&self, part: Part, wanted: &[&'static Table], threads: usize) -> (u64, f64) {
        let options = FlatOptions { tables: Some(wanted.to_vec()), threads, ..FlatOptions::default() };
        let mut best = (0, 0.0);
        for _ in 0..ROUNDS {
            let _ = std::fs::remove_dir_all(&self.folder);
            let start = Instant::now();
            let bytes = write_flat(&self.folder, &self.inputs, part, &options).expect("files can be written").bytes;
            let rate = bytes as f64 / 1e6 / start.elapsed().as_secs_f64();
            if rate > best.1 {
                best = (bytes, rate);
            }
        }
        best
    }

    fn by_table(&self) {
        println!("{:<20} {:>12} {:>10}", "table", "bytes", "MB/s");
        let part = Part::whole(1_000, 5).expect("a database");
        for table in tables::all().iter().filter(|table| table.name != "trade_request") {
            let (bytes, rate) = self.measure(part, &[table], 1);
            println!("{:<20} {bytes:>12} {rate:>10.0}", table.name);
        }
    }

    fn by_group(&self) {
        println!("\n{:<20} {:>12} {:>10}", "group", "bytes", "MB/s");
        for (name, part) in [("scaling", Part::whole(5_000, 1)), ("growing", Part::whole(1_000, 20))] {
            let (bytes, rate) = self.measure(part.expect("a database"), &group(name), 1);
            println!("{name:<20} {bytes:>12} {rate:>10.0}");
        }
    }

    fn by_threads(&self) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        println!("\n{:<20} {:>12} {:>10}   (of {cores} cores)", "threads", "bytes", "MB/s");
        let all = tables::all();
        for (name, part, wanted) in [
            ("scaling", Part::whole(10_000, 1), group("scaling")),
            ("growing", Part::whole(4_000, 10), group("growing")),
            ("all", Part::whole(4_000, 10), all.to_vec()),
        ] {
            for threads in (0..).map(|n| 1 << n).take_while(|&threads| threads <= cores) {
                let (bytes, rate) = self.measure(part.clone().expect("a database"), &wanted, threads);
                println!("{:<20} {bytes:>12} {rate:>10.0}", format!("{name}, {threads}"));
            }
        }
    }
}

/// The reference's groups: BROKER is written with the trades.
fn group(name: &str) -> Vec<&'static Table> {
    let growing = |table: &Table| table.group == Group::Growing || table.name == "broker";
    let of_group = |table: &&&'static Table| {
        if name == "growing" { growing(table) } else { !growing(table) && table.group == Group::Scaling }
    };
    tables::all().iter().filter(of_group).copied().collect()
}
