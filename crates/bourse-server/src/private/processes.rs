//! Facts that the operating system reports about a process, by its number. Other systems than Linux report none.

use bourse_engine::ServerProcess;
use std::fs;
use std::path::Path;

/// Whether the process was started with that argument.
pub fn has_argument(process: u32, argument: &str) -> bool {
    fs::read(format!("/proc/{process}/cmdline"))
        .is_ok_and(|line| line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes()))
}

/// Whether it is a process of that program, and works in that folder: a user's shell may have gone there to look.
pub fn works_in(process: u32, program: &str, folder: &Path) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() == program)
        // The system tells a process's folder without links on the way.
        && fs::read_link(format!("/proc/{process}/cwd"))
            .is_ok_and(|works_in| folder.canonicalize().is_ok_and(|folder| folder == works_in))
}

/// Resources that a process has used since it began, and memory it holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildProcessUse {
    /// Processor time, bytes read and written, and all memory that it has touched.
    pub process: ServerProcess,
    /// Part of the processor time that ended children took, in nanoseconds.
    pub ended_ns: u64,
    /// Part of the memory that no other process has, in bytes.
    pub own_bytes: u64,
    /// Part of the memory that it shares with others, files excluded, in bytes.
    pub shared_bytes: u64,
}

/// Resources used by a process; on request with the time of ended children that it has waited for.
pub fn process_use(process: u32, with_ended_children: bool) -> Option<ChildProcessUse> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).ok();
    parse(&read("stat")?, &read("io").unwrap_or_default(), &read("status")?, with_ended_children)
}

/// Children of a process.
pub fn children(process: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn parse(stat: &str, io: &str, status: &str, with_ended_children: bool) -> Option<ChildProcessUse> {
    // The kernel shows processor time in hundredths of a second on every architecture.
    const TICK_NS: u64 = 10_000_000;
    // The program's name in parentheses may hold anything: count from behind it.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ended = |at: usize| if with_ended_children { ticks(at) } else { Some(0) };
    let time = |own: usize, of_ended: usize| Some((ticks(own)? + ended(of_ended)?) * TICK_NS);
    let number = |text: &str, name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
    };
    // A process that has ended has no memory any more, and tells its time until it is asked for its end.
    let bytes = |name: &str| number(status, name).unwrap_or(0) * 1_024;
    Some(ChildProcessUse {
        process: ServerProcess {
            cpu_user_ns: time(11, 13)?,
            cpu_system_ns: time(12, 14)?,
            resident_bytes: bytes("VmRSS:"),
            read_bytes: number(io, "read_bytes:").unwrap_or(0),
            written_bytes: number(io, "write_bytes:").unwrap_or(0),
        },
        ended_ns: (ended(13)? + ended(14)?) * TICK_NS,
        own_bytes: bytes("RssAnon:"),
        shared_bytes: bytes("RssShmem:"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_writes_of_a_process_is_read() {
        let stat = "7 (a b) c) S 1 1 1 0 -1 4194304 96 0 0 0 1234 56 100 10 20 0 1 0 202316 3133440 381";
        let io = "rchar: 1\nread_bytes: 8192\nwrite_bytes: 4096\n";
        let status = "Name:\tx\nVmRSS:\t    24 kB\nRssAnon:\t    16 kB\nRssShmem:\t 4 kB\n";
        let one = parse(stat, io, status, false).unwrap();
        assert_eq!((one.process.cpu_user_ns, one.process.cpu_system_ns), (12_340_000_000, 560_000_000));
        assert_eq!((one.process.resident_bytes, one.own_bytes, one.shared_bytes), (24_576, 16_384, 4_096));
        assert_eq!((one.process.read_bytes, one.process.written_bytes), (8_192, 4_096));
        let with_children = parse(stat, io, status, true).unwrap();
        assert_eq!((with_children.process.cpu_user_ns, with_children.ended_ns), (13_340_000_000, 1_100_000_000));
        assert_eq!(parse("", "", "", true), None);
        // One that has ended and was not asked for its end.
        let ended = parse(stat, "", "Name:\tx\nState:\tZ (zombie)\n", false).unwrap();
        assert_eq!((ended.process.cpu_user_ns, ended.process.resident_bytes), (12_340_000_000, 0));
    }
}
