//! Progress on stderr. Bars are silent off a terminal; a line for each step replaces them.

use crate::live;
use indicatif::{HumanCount, HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Whether another process reports the progress.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Silences this process: its parent reports the progress.
pub(crate) fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Whether only findings are printed, and no steps.
static BRIEF: AtomicBool = AtomicBool::new(false);

/// Time in which only findings are printed, until it is dropped.
pub(crate) struct BriefTime;

impl BriefTime {
    /// Begins it.
    pub(crate) fn begin() -> Self {
        BRIEF.store(true, Ordering::Relaxed);
        Self
    }
}

impl Drop for BriefTime {
    fn drop(&mut self) {
        BRIEF.store(false, Ordering::Relaxed);
    }
}

/// Messages held back while another view has the terminal; `None` while none has it.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Vec<String>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves the terminal to another view: messages are held back until [`release`].
#[cfg(feature = "live")]
pub(crate) fn hold() {
    held().get_or_insert_default();
    BARS.set_draw_target(ProgressDrawTarget::hidden());
}

/// Takes the terminal back, and prints the messages held back.
pub(crate) fn release() {
    let Some(kept) = held().take() else { return };
    if !is_silent() {
        BARS.set_draw_target(ProgressDrawTarget::stderr());
    }
    kept.iter().for_each(|line| finding(line));
}

/// Interval of the lines about a running step, off a terminal, in milliseconds; 0 for never.
static EVERY_MS: AtomicU64 = AtomicU64::new(10_000);

/// Sets the interval of the lines about a running step, off a terminal; never if it is zero.
pub(crate) fn set_report_interval(time: Duration) {
    EVERY_MS.store(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// All bars that are drawn, one below the other.
static BARS: LazyLock<MultiProgress> = LazyLock::new(|| {
    let target = if is_silent() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    MultiProgress::with_draw_target(target)
});

/// A step with a known total, or one of unknown length.
pub(crate) struct ProgressStep {
    bar: ProgressBar,
    what: String,
    unit: &'static str,
    start: Instant,
    /// Parts counted, if the bar shows parts.
    counted: Option<AtomicU64>,
    /// Ends with the step; only off a terminal.
    heartbeat: Option<Sender<()>>,
}

impl ProgressStep {
    /// Begins counting `total` bytes.
    pub(crate) fn counting_bytes(what: impl Into<String>, total: u64) -> Self {
        let template = "{msg} {bar:30} {percent:>3}%  {bytes} of {total_bytes}  {binary_bytes_per_sec}  {eta} left";
        Self::begin(what.into(), ProgressBar::new(total), "bytes", template)
    }

    /// Begins a step with a known part done, and a number of `unit` in it.
    pub(crate) fn in_parts(what: impl Into<String>, unit: &'static str) -> Self {
        let template = "{msg} {bar:30} {percent:>3}%  {prefix}  {eta} left";
        let step = Self::begin(what.into(), ProgressBar::new(PARTS), unit, template);
        Self { counted: Some(AtomicU64::new(0)), ..step }
    }

    /// Begins a step of unknown length.
    pub(crate) fn waiting(what: impl Into<String>) -> Self {
        let step = Self::begin(what.into(), ProgressBar::no_length(), "", "{spinner} {msg}");
        step.bar.enable_steady_tick(Duration::from_millis(120));
        step
    }

    fn begin(what: String, bar: ProgressBar, unit: &'static str, template: &str) -> Self {
        let style = ProgressStyle::with_template(template).expect("the template is right");
        bar.set_style(style.progress_chars("━━╌"));
        // Above the bar over everything.
        let bar = BARS.insert(0, bar);
        bar.set_message(message(&what));
        live::step(&what);
        let heartbeat = if std::io::stderr().is_terminal() {
            None
        } else {
            note(&format!("{what} …"));
            heartbeat(&bar)
        };
        Self { bar, what, unit, start: Instant::now(), counted: None, heartbeat }
    }

    /// Sets the position.
    pub(crate) fn at(&self, position: u64) {
        self.bar.set_position(position);
    }

    /// Sets the progress to `position` of about `total`.
    pub(crate) fn of(&self, position: u64, total: u64) {
        live::share(position as f64 / total.max(position).max(1) as f64);
        self.bar.set_length(total.max(position));
        self.bar.set_position(position);
    }

    /// Sets the part that is done, from 0 to 1, and the number of units in it.
    pub(crate) fn part(&self, done: f64, count: u64) {
        if let Some(counted) = &self.counted {
            counted.store(count, Ordering::Relaxed);
        }
        live::share(done);
        self.bar.set_position((done * PARTS as f64) as u64);
        self.bar.set_prefix(format!("{} {}", HumanCount(count), self.unit));
    }

    /// Sets the message.
    pub(crate) fn say(&self, message: impl Into<String>) {
        self.bar.set_message(self::message(&message.into()));
    }

    /// Ends the step: leaves one line with what was counted; off a terminal also one about a step that counts nothing.
    pub(crate) fn done(self) {
        let counted = self.counted.as_ref().map(|count| count.load(Ordering::Relaxed));
        let (count, took) = (counted.unwrap_or_else(|| self.bar.position()), self.start.elapsed());
        let (what, unit) = (self.what.clone(), self.unit);
        self.abandon();
        let rate = count as f64 / took.as_secs_f64().max(1e-9);
        match unit {
            "" => passing(&format!("{what}: {}", seconds(took))),
            "bytes" => {
                note(&format!("{what}: {:.1} MB in {}, {:.0} MB/s", count as f64 / 1e6, seconds(took), rate / 1e6))
            }
            unit => note(&format!(
                "{what}: {} {unit} in {}, {} {unit}/s",
                HumanCount(count),
                seconds(took),
                HumanCount(rate as u64)
            )),
        }
    }

    /// Ends the step of a result, or abandons it if that is an error.
    pub(crate) fn end<T, E>(self, result: &Result<T, E>) {
        if result.is_ok() { self.done() } else { self.abandon() }
    }

    /// Abandons the step: leaves nothing on the terminal.
    pub(crate) fn abandon(self) {
        drop(self.heartbeat);
        live::step_ended(&self.what);
        self.bar.finish_and_clear();
        BARS.remove(&self.bar);
    }
}

/// Parts of a bar whose total has no unit.
const PARTS: u64 = 1_000;

/// Starts a thread that reports a running step now and then, until the sender is dropped; `None` if no lines are wanted.
fn heartbeat(bar: &ProgressBar) -> Option<Sender<()>> {
    let every = Duration::from_millis(EVERY_MS.load(Ordering::Relaxed));
    if every.is_zero() || is_silent() {
        return None;
    }
    let (alive, ended) = mpsc::channel();
    let bar = bar.clone();
    let tell = move || {
        while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            let share = bar.length().filter(|length| *length > 0).map(|length| 100 * bar.position() / length);
            let share = share.map(|percent| format!(", {percent} %")).unwrap_or_default();
            let prefix = Some(bar.prefix()).filter(|it| !it.is_empty()).map(|it| format!(", {it}")).unwrap_or_default();
            note(&format!("  {}{share}{prefix} ({})", bar.message(), seconds(bar.elapsed())));
        }
    };
    // Without this thread the work continues unreported.
    std::thread::Builder::new().name("progress".to_owned()).spawn(tell).ok().map(|_| alive)
}

/// The bar over all rounds of a run, below those of its steps.
pub(crate) struct RunBar {
    bar: ProgressBar,
    start: Instant,
    /// Expected duration of all rounds, and of those that are over, in nanoseconds.
    total_ns: u64,
    done_ns: u64,
    rounds: [u32; 2],
}

impl RunBar {
    /// Begins `rounds` rounds that take about `total_ns` together.
    pub(crate) fn begin(rounds: u32, total_ns: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}").expect("the template is right");
        let bar = ProgressBar::new(total_ns.max(1)).with_style(style.progress_chars("━━╌"));
        let bar = BARS.add(bar);
        let whole = Self { bar, start: Instant::now(), total_ns, done_ns: 0, rounds: [0, rounds] };
        whole.say();
        whole
    }

    /// Expected duration of what is not over, in nanoseconds.
    pub(crate) fn left_ns(&self) -> u64 {
        self.total_ns.saturating_sub(self.done_ns)
    }

    /// Ends a round with this expected duration.
    pub(crate) fn round_ended(&mut self, expected_ns: u64) {
        self.rounds[0] += 1;
        self.advance(expected_ns);
    }

    /// Advances by work with this expected duration.
    pub(crate) fn advance(&mut self, expected_ns: u64) {
        self.done_ns += expected_ns;
        self.bar.set_position(self.done_ns);
        self.say();
    }

    /// Time left, at the pace until now.
    fn left(&self) -> Duration {
        let left_ns = self.total_ns.saturating_sub(self.done_ns) as f64;
        let pace = match self.done_ns {
            0 => 1.0,
            done_ns => self.start.elapsed().as_nanos() as f64 / done_ns as f64,
        };
        Duration::from_nanos((left_ns * pace) as u64)
    }

    fn say(&self) {
        let [done, all] = self.rounds;
        self.bar.set_message(format!("{done} of {all} rounds, about {} left", HumanDuration(self.left())));
    }
}

impl Drop for RunBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        BARS.remove(&self.bar);
    }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(100) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        bourse_verdict::units::seconds(time.as_secs_f64())
    }
}

/// Prints a line on stderr that a terminal does not need: its bars show the same as it passes.
pub(crate) fn passing(line: &str) {
    if BARS.is_hidden() {
        note(line);
    }
}

/// Prints a line on stderr, or several, except where only findings are printed. Names of files and targets in it are printed
/// without control sequences for the terminal.
pub(crate) fn note(line: &str) {
    if !BRIEF.load(Ordering::Relaxed) {
        finding(line);
    }
}

/// Prints what a command found, as [`note`] does, also where nothing else is printed.
pub(crate) fn finding(line: &str) {
    if is_silent() {
        return;
    }
    if let Some(kept) = held().as_mut() {
        return kept.push(line.to_owned());
    }
    // A target such as `sqlite::memory:` needs no second colon before what is said of it.
    let shown: Vec<String> =
        line.split('\n').map(|line| bourse_verdict::units::printable(&line.replace(":: ", ": "))).collect();
    let shown = shown.join("\n") + "\n";
    if BARS.is_hidden() {
        return lines(&shown);
    }
    // Above the bars. `suspend` would panic if the terminal is gone; an error could be reported nowhere else.
    let _ = BARS.println(filled(&shown).trim_end_matches('\n'));
}

/// Width of the terminal that stderr is, if it is one.
fn terminal_width() -> Option<usize> {
    console::Term::stderr().size_checked().map(|(_, width)| usize::from(width))
}

/// A text whose lines are filled to the width of the terminal that stderr is, if it is one.
fn filled(text: &str) -> String {
    terminal_width().map_or_else(|| text.to_owned(), |width| fitted(text, width))
}

/// A text whose lines are filled to a width, each with the indent of its first words.
fn fitted(text: &str, width: usize) -> String {
    let fitted = |line: &str| {
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        match console::measure_text_width(line) > width {
            true => " ".repeat(indent) + &bourse_report::fill(rest, width.saturating_sub(indent), indent + 2) + "\n",
            false => format!("{line}\n"),
        }
    };
    text.lines().map(fitted).collect()
}

/// Message of a bar: whole, in as many lines as the terminal needs for it behind the spinner.
fn message(text: &str) -> String {
    let text = bourse_verdict::units::printable(text);
    terminal_width().map_or_else(|| text.clone(), |width| fitted(&text, width.saturating_sub(2)).trim_end().to_owned())
}

/// Prints text on stderr. A closed or full stderr is ignored.
pub(crate) fn lines(text: &str) {
    let text = filled(text);
    // An error could be reported nowhere else.
    let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of bars were cut at the end of the line.
    #[test]
    fn a_line_wider_than_the_terminal_is_whole_in_several() {
        let line =
            "trying faults on postgres+private:?shared_buffers=1MiB&max_connections=10: sync-errors-power, 3 of 20";
        let lines = fitted(line, 78);
        assert!(lines.lines().count() == 2 && lines.lines().all(|line| line.len() <= 78), "{lines}");
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>().join(" "), line);
    }
}
