//! Resource usage of this process and the machine as the operating system counts it; `None` or 0 if it does not.

use std::collections::BTreeMap;
use std::fs;

/// Clock ticks a second in `/proc`: 100 on every architecture, whatever the kernel's own tick.
const TICKS_A_SECOND: f64 = 100.0;

/// Resources that this process has used since it began, and its resident memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessUse {
    /// Processor seconds in user mode.
    pub cpu_user_s: Option<f64>,
    /// Processor seconds in the kernel.
    pub cpu_system_s: Option<f64>,
    /// Memory resident now, in bytes.
    pub resident_bytes: Option<u64>,
    /// Bytes caused to be read from storage.
    pub read_bytes: Option<u64>,
    /// Bytes caused to be written to storage.
    pub written_bytes: Option<u64>,
    /// Page faults that waited for storage.
    pub major_faults: Option<u64>,
}

impl ProcessUse {
    /// Reads the present counts.
    pub fn now() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self::parse(&stat, &io, &status)
    }

    /// Processor seconds in both modes; `None` if the system does not report them.
    pub fn cpu_s(self) -> Option<f64> {
        Some(self.cpu_user_s? + self.cpu_system_s?)
    }

    fn parse(stat: &str, io: &str, status: &str) -> Self {
        let fields = behind_name(stat);
        let seconds = |at: usize| fields.get(at)?.parse::<f64>().ok().map(|ticks| ticks / TICKS_A_SECOND);
        Self {
            cpu_user_s: seconds(11),
            cpu_system_s: seconds(12),
            resident_bytes: field(status, "VmRSS:").map(|kib| kib * 1_024),
            read_bytes: field(io, "read_bytes:"),
            written_bytes: field(io, "write_bytes:"),
            major_faults: fields.get(9).and_then(|count| count.parse().ok()),
        }
    }
}

/// Processor seconds of all processors of the machine since it was started.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MachineUse {
    /// Busy time of all processes, Bourse included.
    pub busy_s: f64,
    /// Part of it spent in interrupts, which belong to no process and often serve Bourse.
    pub interrupts_s: f64,
    /// Time taken by the host for other machines although this one had work to do.
    pub stolen_s: f64,
}

impl MachineUse {
    /// Reads the present counts; `None` if the system does not report them.
    pub fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // user, nice, system, idle, waiting for storage, interrupts, soft interrupts, stolen; guests are in user.
        let [user, nice, system, _, _, interrupts, soft, rest @ ..] = ticks.as_slice() else { return None };
        Some(Self {
            busy_s: (user + nice + system + interrupts + soft) / TICKS_A_SECOND,
            interrupts_s: (interrupts + soft) / TICKS_A_SECOND,
            stolen_s: rest.first().copied().unwrap_or(0.0) / TICKS_A_SECOND,
        })
    }
}

/// Processor time of each kernel thread since it began. Threads that write to storage serve the processes that request
/// it, Bourse included: a process that waits for its syncs causes work in them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelThreads {
    seconds: BTreeMap<u32, f64>,
}

impl KernelThreads {
    /// Reads the present counts; empty if the system does not report them, or hides the threads, as from a container.
    pub fn now() -> Self {
        let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        // One that has ended meanwhile has no file any more.
        let used = |id: u32| Some((id, Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?));
        Self { seconds: ids.filter_map(used).collect() }
    }

    /// Seconds used by a kernel thread; `None` for a process.
    fn parse(stat: &str) -> Option<f64> {
        const IS_OF_THE_KERNEL: u64 = 0x0020_0000;
        let fields = behind_name(stat);
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        (number(6)? & IS_OF_THE_KERNEL != 0).then_some((number(11)? + number(12)?) as f64 / TICKS_A_SECOND)
    }

    /// Processor seconds that all threads have used since `then`; those of threads that ended meanwhile are lost.
    pub fn since(&self, then: &Self) -> f64 {
        let used = |(id, now): (&u32, &f64)| (now - then.seconds.get(id).copied().unwrap_or(0.0)).max(0.0);
        self.seconds.iter().map(used).sum()
    }
}

/// Memory of the machine, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineMemory {
    /// Total memory.
    pub total_bytes: u64,
    /// Memory in use that cannot be freed immediately.
    pub used_bytes: u64,
    /// Available memory, reclaimable caches included.
    pub free_bytes: u64,
    /// Swap in use.
    pub swap_used_bytes: u64,
}

impl MachineMemory {
    /// Reads the present values; `None` if the system does not report them.
    pub fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/meminfo").ok()?)
    }

    fn parse(meminfo: &str) -> Option<Self> {
        let bytes = |name| field(meminfo, name).map(|kib| kib * 1_024);
        let (total, free) = (bytes("MemTotal:")?, bytes("MemAvailable:")?);
        let swap_used = bytes("SwapTotal:").unwrap_or(0).saturating_sub(bytes("SwapFree:").unwrap_or(0));
        Some(Self {
            total_bytes: total,
            used_bytes: total.saturating_sub(free),
            free_bytes: free,
            swap_used_bytes: swap_used,
        })
    }
}

/// Fields of a process's `stat` from the third on. The second is the program's name in parentheses, which may contain
/// anything.
fn behind_name(stat: &str) -> Vec<&str> {
    stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect()
}

/// Number that follows a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_writes_is_read() {
        let stat = "7 (a b) c) R 1 1 1 0 -1 4194304 96 0 3 0 1234 56 0 0 20 0 1 0 202316 3133440 381";
        let io = "rchar: 7277\nwchar: 301\nread_bytes: 8192\nwrite_bytes: 4096\ncancelled_write_bytes: 1\n";
        let status = "Name:\tx\nVmRSS:\t    1616 kB\n";
        let expected = ProcessUse {
            cpu_user_s: Some(12.34),
            cpu_system_s: Some(0.56),
            resident_bytes: Some(1_616 * 1_024),
            read_bytes: Some(8_192),
            written_bytes: Some(4_096),
            major_faults: Some(3),
        };
        assert_eq!(ProcessUse::parse(stat, io, status), expected);
        assert_eq!(ProcessUse::parse("", "", ""), ProcessUse::default());
        let machine = MachineUse::parse("cpu  100 50 30 9000 7 10 10 40 5 0\ncpu0 1 1 1 1\n");
        assert_eq!(machine, Some(MachineUse { busy_s: 2.0, interrupts_s: 0.2, stolen_s: 0.4 }));
        assert_eq!(MachineUse::parse("cpu 1 2\n"), None);
        let memory = MachineMemory::parse(
            "MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable: 60 kB\nSwapTotal: 9 kB\nSwapFree: 4 kB\n",
        );
        let expected =
            MachineMemory { total_bytes: 102_400, used_bytes: 40_960, free_bytes: 61_440, swap_used_bytes: 5_120 };
        assert_eq!(memory, Some(expected));
        assert_eq!(MachineMemory::parse(""), None);
    }

    #[test]
    fn threads_of_the_kernel_are_told_from_processes() {
        let kernel = "12 (kworker/1:1H-kblockd) I 2 0 0 0 -1 69238880 0 0 0 0 10 71 0 0 0 -20 1 0 19";
        assert_eq!(KernelThreads::parse(kernel), Some(0.81));
        assert_eq!(KernelThreads::parse("7 (a b) c) R 1 1 1 0 -1 4194304 96 0 0 0 1234 56 0 0 20"), None);
        assert_eq!(KernelThreads::parse(""), None);
        let of = |seconds: &[(u32, f64)]| KernelThreads { seconds: seconds.iter().copied().collect() };
        // 2 has ended, 4 is new.
        let (then, now) = (of(&[(1, 1.0), (2, 50.0), (3, 0.5)]), of(&[(1, 1.5), (3, 0.5), (4, 0.25)]));
        assert_eq!(now.since(&then), 0.75);
    }
}
