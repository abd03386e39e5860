//! Speed of writing flat files: by table, by group, and on several threads.
//!
//! Writes to memory (`/dev/shm`) if there is such a folder, else to the temporary one, or to the folder that
//! `BOURSE_BENCH_DIR` names. `BOURSE_FLAT_IN` names official input data, else the built-in is used. Each figure is the
//! best of three rounds; the second counts the processor's time, of all threads, which other programs disturb less.
//! `cargo bench -p bourse-egen --bench flat -- group` (or `table`, `threads`) runs one of the three alone.

#![expect(clippy::print_stdout, reason = "a benchmark is run to be read")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use bourse_egen::files::{FlatOptions, read_inputs, write_flat};
use bourse_egen::{Inputs, Part};
use bourse_schema::{Group, Table, tables};

const ROUNDS: usize = 3;

fn main() {
    let inputs = match std::env::var_os("BOURSE_FLAT_IN") {
        Some(folder) => read_inputs(folder.as_ref(), |path| std::fs::read(path)).expect("official input data"),
        None => Inputs::builtin(),
    };
    let memory = Path::new("/dev/shm");
    let folder = std::env::var_os("BOURSE_BENCH_DIR")
        .map_or_else(|| if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }, PathBuf::from);
    let folder = folder.join(format!("bourse-bench-{}", std::process::id()));
    let bench = Bench { inputs, folder };
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for name in ["table", "group", "threads"] {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        println!("{name:<20} {:>12} {:>10} {:>10}", "bytes", "MB/s", "MB/cpu s");
        match name {
            "table" => bench.by_table(),
            "group" => bench.by_group(),
            _ => bench.by_threads(),
        }
        println!();
    }
    let _ = std::fs::remove_dir_all(&bench.folder);
}

/// Seconds of processor time that this process has used.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

struct Bench {
    inputs: Inputs,
    folder: PathBuf,
}

impl Bench {
    /// Prints bytes, megabytes a second, and megabytes a second of processor time, each of its best round.
    fn measure(&self, name: &str, part: Part, wanted: &[&'static Table], threads: usize) {
        let options = FlatOptions { tables: Some(wanted.to_vec()), threads, ..FlatOptions::default() };
        let mut best = (0, f64::MAX, f64::MAX);
        for _ in 0..ROUNDS {
            let _ = std::fs::remove_dir_all(&self.folder);
            let (start, cpu) = (Instant::now(), cpu_seconds());
            let bytes = write_flat(&self.folder, &self.inputs, part, &options).expect("files can be written").bytes;
            best = (bytes, best.1.min(start.elapsed().as_secs_f64()), best.2.min(cpu_seconds() - cpu));
        }
        let rate = |seconds: f64| best.0 as f64 / 1e6 / seconds;
        println!("{name:<20} {:>12} {:>10.0} {:>10.0}", best.0, rate(best.1), rate(best.2));
    }

    fn by_table(&self) {
        let part = Part::whole(1_000, 5).expect("a database");
        for table in tables::all().iter().filter(|table| table.name != "trade_request") {
            self.measure(table.name, part, &[table], 1);
        }
    }

    fn by_group(&self) {
        for (name, part) in [("scaling", Part::whole(5_000, 1)), ("growing", Part::whole(1_000, 20))] {
            self.measure(name, part.expect("a database"), &group(name), 1);
        }
    }

    fn by_threads(&self) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for (name, part, wanted) in [
            ("scaling", Part::whole(10_000, 1), group("scaling")),
            ("growing", Part::whole(4_000, 10), group("growing")),
            ("all", Part::whole(4_000, 10), tables::all().to_vec()),
        ] {
            for threads in (0..).map(|n| 1 << n).take_while(|&threads| threads <= cores) {
                self.measure(&format!("{name}, {threads}"), part.clone().expect("a database"), &wanted, threads);
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
