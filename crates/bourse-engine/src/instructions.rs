//! Instructions of a thread in user mode, counted by the processor (`perf_event_open` of Linux), or by valgrind in a process that
//! was started under its tool callgrind.
//!
//! A process counts once: after [`count_next`] the first thread that takes the [`InstructionCounter`] has it. Instructions of
//! other threads are not counted.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Program or device that counts instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionSource {
    /// Counter of the processor.
    Processor,
    /// Valgrind, which writes its count into a file when the process ends.
    Valgrind,
}

/// Source of the count, until a thread takes it.
static NEXT: Mutex<Option<InstructionSource>> = Mutex::new(None);
/// Instructions counted by the processor.
static COUNTED: AtomicU64 = AtomicU64::new(0);

/// Makes the first thread that takes a counter count its instructions.
pub fn count_next(source: InstructionSource) {
    *NEXT.lock().unwrap_or_else(PoisonError::into_inner) = Some(source);
}

/// Whether a counter waits for the thread that takes it.
pub(crate) fn is_counting() -> bool {
    NEXT.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Instructions that the processor has counted in this process; 0 before the counter is dropped, if it failed, and under valgrind.
pub fn counted() -> u64 {
    COUNTED.load(Ordering::Relaxed)
}

/// Reason that the processor's counter cannot be used; `None` if it can.
pub fn processor_lacks() -> Option<String> {
    Counter::instructions().map_or_else(|error| Some(error.to_string()), |_| None)
}

/// Counter of one thread.
#[derive(Debug)]
pub struct InstructionCounter {
    /// The processor's counter; `None` under valgrind.
    counter: Option<Counter>,
    /// Sum until now; `None` once a reading failed.
    sum: Option<u64>,
}

impl InstructionCounter {
    /// The counter of this process for the calling thread; `None` if nothing is counted, or another thread has taken it.
    pub fn take() -> Option<Self> {
        let source = NEXT.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let counter = match source {
            InstructionSource::Processor => Some(Counter::instructions().ok()?),
            InstructionSource::Valgrind => {
                ask_valgrind(START_INSTRUMENTATION);
                None
            }
        };
        Some(Self { counter, sum: Some(0) })
    }

    /// Counts the instructions of some work of this thread.
    pub fn count<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let Some(counter) = &self.counter else {
            ask_valgrind(TOGGLE_COLLECT);
            let done = work();
            ask_valgrind(TOGGLE_COLLECT);
            return done;
        };
        let before = counter.read();
        let done = work();
        let each = before.and_then(|before| counter.read()?.checked_sub(before));
        self.sum = self.sum.zip(each).map(|(sum, each)| sum + each);
        done
    }
}

impl Drop for InstructionCounter {
    fn drop(&mut self) {
        match &self.counter {
            Some(_) => COUNTED.store(self.sum.unwrap_or(0), Ordering::Relaxed),
            None => ask_valgrind(STOP_INSTRUMENTATION),
        }
    }
}

/// A counter of the kernel for the calling thread, in user mode.
#[derive(Debug)]
struct Counter(File);

impl Counter {
    fn instructions() -> std::io::Result<Self> {
        /// `PERF_TYPE_HARDWARE` and `PERF_COUNT_HW_INSTRUCTIONS`.
        const INSTRUCTIONS: (u32, u64) = (0, 1);
        Self::open(INSTRUCTIONS)
    }

    /// Opens the counter of that type and configuration.
    #[cfg(all(target_os = "linux", target_endian = "little"))]
    #[expect(unsafe_code, reason = "the system call has no safe wrapper")]
    fn open((kind, config): (u32, u64)) -> std::io::Result<Self> {
        use std::os::fd::FromRawFd as _;
        /// Bits `pinned` (it is never shared with other counters, which would make it an estimate), `exclude_kernel`, `exclude_hv`.
        const FLAGS: u64 = 1 << 2 | 1 << 5 | 1 << 6;
        // `perf_event_attr` in its first version of 64 bytes: type and size, configuration, three of sampling, flags.
        let attributes = [u64::from(kind) | 64 << 32, config, 0, 0, 0, FLAGS, 0, 0];
        // Of this thread on any processor, in no group, closed in programs that are started.
        // SAFETY: the kernel reads the 64 bytes of the attributes, and returns a new descriptor or -1.
        let opened = unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 8_u64) };
        let Some(opened) = i32::try_from(opened).ok().filter(|it| *it >= 0) else {
            return Err(std::io::Error::last_os_error());
        };
        // SAFETY: the descriptor was just made, and has no other owner.
        Ok(Self(unsafe { File::from_raw_fd(opened) }))
    }

    #[cfg(not(all(target_os = "linux", target_endian = "little")))]
    fn open(_: (u32, u64)) -> std::io::Result<Self> {
        Err(std::io::Error::other("the processor's counters are read on Linux alone"))
    }

    /// Its value; `None` if it was taken away.
    fn read(&self) -> Option<u64> {
        use std::io::Read as _;
        let mut value = [0; 8];
        (&self.0).read_exact(&mut value).ok()?;
        Some(u64::from_ne_bytes(value))
    }
}

/// Requests of callgrind: 'C' and 'T' in the upper half, a number in the lower.
const TOGGLE_COLLECT: u64 = 0x4354_0002;
const START_INSTRUMENTATION: u64 = 0x4354_0004;
const STOP_INSTRUMENTATION: u64 = 0x4354_0005;

/// Sends a request to valgrind; without it nothing happens.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "valgrind knows its requests by a sequence of instructions")]
#[inline(always)]
fn ask_valgrind(request: u64) {
    let arguments = [request, 0, 0, 0, 0, 0];
    // SAFETY: a register is rotated by 128 bits in all and one is exchanged with itself, which changes nothing. Valgrind reads
    // the arguments and puts its answer into rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const arguments, inout("rdx") 0_u64 => _, options(nostack),
        );
    }
}

/// Does nothing: the requests are written for x86-64 alone.
#[cfg(not(target_arch = "x86_64"))]
fn ask_valgrind(_: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_taken_once_and_requests_change_nothing_without_valgrind() {
        assert!(InstructionCounter::take().is_none(), "nothing is counted unless asked for");
        count_next(InstructionSource::Valgrind);
        let mut counter = InstructionCounter::take().expect("this thread is the first");
        assert!(InstructionCounter::take().is_none());
        assert_eq!(counter.count(|| 42), 42);
    }

    /// Another counter of the same system call stands for that of instructions, which virtual machines often lack.
    #[test]
    fn counters_of_the_kernel_grow_with_work() {
        /// `PERF_TYPE_SOFTWARE` and `PERF_COUNT_SW_TASK_CLOCK`.
        const TASK_CLOCK: (u32, u64) = (1, 1);
        let counter = match (Counter::open(TASK_CLOCK), processor_lacks()) {
            (Ok(counter), _) => counter,
            // A container may forbid all of them: then the reason is given.
            (Err(_), lacks) => return assert!(lacks.is_some_and(|why| !why.is_empty())),
        };
        let mut counting = InstructionCounter { counter: Some(counter), sum: Some(0) };
        let work = |times: u64| (0..times).fold(1_u64, |sum, it| std::hint::black_box(sum.wrapping_mul(31) ^ it));
        counting.count(|| work(1_000));
        let few = counting.sum.expect("it can be read");
        counting.count(|| work(10_000_000));
        assert!(few > 0 && counting.sum.expect("it can be read") > 10 * few, "{counting:?}");
        let sum = counting.sum;
        drop(counting);
        assert_eq!(Some(counted()), sum);
    }
}
