//! The virtual machine's own threads, recognized by their names: their work, and their CPU time.

use bourse_engine::OwnThreads;
use std::fs;

/// Kinds of work, and prefixes of their threads' names. Linux stores 15 characters of a name.
const WORKS: [(&str, bool, &[&str]); 3] = [
    (
        "garbage collection",
        false,
        // Collectors: parallel and G1, Shenandoah, ZGC.
        &["GC Thread#", "G1 ", "Shenandoah", "ZWorker", "ZDriver", "ZDirector", "ZStat", "ZUncommitter", "ZUnmapper"],
    ),
    ("JIT compiler", true, &["C1 CompilerThre", "C2 CompilerThre", "JVMCI Compiler", "Sweeper thread"]),
    // The serial collector has no thread of its own: it works in this one.
    ("VM thread", false, &["VM Thread", "VM Periodic Tas"]),
];

/// Length in nanoseconds of a tick of the kernel's statistics: a hundredth of a second on every system that has them.
const TICK_NS: u64 = 10_000_000;

/// CPU time of the machine's threads so far; empty if the system does not report it.
pub(crate) fn own_threads() -> Vec<OwnThreads> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let threads = tasks.filter_map(|task| {
        let task = task.ok()?.path();
        // A thread may end meanwhile.
        let name = fs::read_to_string(task.join("comm")).ok()?;
        let stat = fs::read_to_string(task.join("stat")).ok()?;
        Some((name, cpu_ns(&stat)?))
    });
    summed(threads)
}

fn summed(threads: impl Iterator<Item = (String, u64)>) -> Vec<OwnThreads> {
    let mut all = WORKS.map(|(work, is_warming_up, _)| OwnThreads { work, cpu_ns: 0, is_warming_up });
    for (name, cpu_ns) in threads {
        let of = WORKS.iter().position(|(.., starts)| starts.iter().any(|start| name.starts_with(start)));
        if let Some(at) = of {
            all[at].cpu_ns += cpu_ns;
        }
    }
    all.to_vec()
}

/// CPU time in nanoseconds from the kernel's line about a thread: user and system.
fn cpu_ns(stat: &str) -> Option<u64> {
    // The name before may hold spaces and parentheses.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).map(|field| field.parse::<u64>().ok());
    Some((times.next()?? + times.next()??) * TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_by_their_names() {
        let named = |name: &str, cpu_ns| (format!("{name}\n"), cpu_ns);
        let threads =
            [named("G1 Conc#0", 3), named("C2 CompilerThre", 5), named("user 1", 7), named("GC Thread#1", 11)];
        let found = summed(threads.into_iter()).into_iter().map(|it| (it.work, it.cpu_ns, it.is_warming_up));
        let vm = ("VM thread", 0, false);
        assert_eq!(found.collect::<Vec<_>>(), [("garbage collection", 14, false), ("JIT compiler", 5, true), vm]);
    }

    #[test]
    fn the_kernel_counts_in_ticks() {
        let line = "77 (odd) name) S 1 2 3 4 5 6 7 8 9 10 250 13 0 0 20 0 1 0 9 0 0";
        assert_eq!(cpu_ns(line), Some(2_630_000_000));
        assert_eq!(cpu_ns("77 (short) S 1"), None);
    }
}
