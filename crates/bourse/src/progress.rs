//! What a person sees while waiting, on stderr. Silent bars off a terminal; there a line at each step instead.

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether somebody else tells of what goes on.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Has nothing said from now on: whoever started this process tells of it.
pub(crate) fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Target on which bars are drawn.
fn drawn() -> ProgressDrawTarget {
    if is_silent() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// A step of which the total is known, or one that just takes its time.
pub(crate) struct Step {
    bar: ProgressBar,
    what: String,
    unit: &'static str,
    start: Instant,
}

impl Step {
    /// Begins counting `total` of `unit`.
    pub(crate) fn counting(what: impl Into<String>, total: u64, unit: &'static str) -> Self {
        let step = Self::begin(what.into(), ProgressBar::with_draw_target(Some(total), drawn()), unit);
        let template = if unit == "bytes" {
            "{msg} {bar:30} {percent:>3}%  {bytes} of {total_bytes}  {binary_bytes_per_sec}  {eta} left"
        } else {
            "{msg} {bar:30} {percent:>3}%  {human_pos} of {human_len} rows  {rate}  {eta} left"
        };
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            // A terminal that cannot be written to is not worth an error here.
            let _ = write!(out, "{} rows/s", HumanCount(state.per_sec() as u64));
        };
        let style = ProgressStyle::with_template(template).expect("the template is right").with_key("rate", rate);
        step.bar.set_style(style.progress_chars("━━╌"));
        step
    }

    /// Begins something of unknown length.
    pub(crate) fn waiting(what: impl Into<String>) -> Self {
        let step = Self::begin(what.into(), ProgressBar::with_draw_target(None, drawn()), "");
        step.bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is right"));
        step.bar.enable_steady_tick(Duration::from_millis(120));
        step
    }

    fn begin(what: String, bar: ProgressBar, unit: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            note(&format!("{what} …"));
        }
        bar.set_message(bourse_report::printable(&what));
        Self { bar, what, unit, start: Instant::now() }
    }

    /// Sets the position.
    pub(crate) fn at(&self, position: u64) {
        self.bar.set_position(position);
    }

    /// So much is done of about so much.
    pub(crate) fn of(&self, position: u64, total: u64) {
        self.bar.set_length(total.max(position));
        self.bar.set_position(position);
    }

    /// Sets the message.
    pub(crate) fn say(&self, message: impl Into<String>) {
        self.bar.set_message(bourse_report::printable(&message.into()));
    }

    /// Done: leaves one line with the time it took.
    pub(crate) fn done(self) {
        let (count, took) = (self.bar.position(), self.start.elapsed());
        self.bar.finish_and_clear();
        let rate = count as f64 / took.as_secs_f64().max(1e-9);
        match self.unit {
            "" => note(&format!("{}: {}", self.what, seconds(took))),
            "bytes" => note(&format!(
                "{}: {:.1} MB in {}, {:.0} MB/s",
                self.what,
                count as f64 / 1e6,
                seconds(took),
                rate / 1e6
            )),
            unit => note(&format!(
                "{}: {} {unit} in {}, {} {unit}/s",
                self.what,
                HumanCount(count),
                seconds(took),
                HumanCount(rate as u64)
            )),
        }
    }

    /// Given up: leaves nothing behind on the terminal.
    pub(crate) fn abandon(self) {
        self.bar.finish_and_clear();
    }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(100) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        HumanDuration(time).to_string()
    }
}

/// A line on stderr, or several. Names of files and targets in it are shown, not obeyed by the terminal.
pub(crate) fn note(line: &str) {
    if is_silent() {
        return;
    }
    let shown: Vec<String> = line.split('\n').map(bourse_report::printable).collect();
    lines(&format!("{}\n", shown.join("\n")));
}

/// Text on stderr. One that is closed, or full, is no reason to end.
pub(crate) fn lines(text: &str) {
    // There is no other place where this could be told.
    let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), text.as_bytes());
}
