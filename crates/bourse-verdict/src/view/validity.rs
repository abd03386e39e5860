//! Validity of a figure, and the remarks on it.

use super::{CaseView, limits, storage};
use crate::Tone;
use crate::units;
use bourse_record::{CheckStatus, NoInterval, Round, Search, Steady, StoppingRule, Workload, WorkloadKind};

bourse_record::named! {
    /// Validity of a case's figure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FigureValidity {
        /// The figure is valid.
        Counts = "counts",
        /// A search found no rate at which rounds of full length meet every limit: its last rounds are valid, and no answer.
        Unconfirmed = "not confirmed",
        /// A check of the database failed, or a round did not do the requested work: there is no figure.
        Void = "void",
        /// There was nothing to measure.
        NothingMeasured = "nothing measured",
    }
}

impl FigureValidity {
    /// Whether the rounds are valid.
    pub const fn has_rounds(self) -> bool {
        matches!(self, Self::Counts | Self::Unconfirmed)
    }
}

/// A remark on the figure, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Emphasis of the remark.
    pub tone: Tone,
    /// Text of the remark.
    pub text: String,
    /// The remark without its evidence, if it is one of the verdicts that share one line.
    pub verdict: Option<String>,
}

impl Remark {
    /// A remark that is no verdict.
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), verdict: None }
    }
}

/// Range of the measured throughput, in percent of the nominal one (Clause 6.7, as far as known).
pub(crate) const SCALE_RULE_PERCENT: (f64, f64) = (80.0, 102.0);

pub(super) fn of(view: &CaseView<'_>) -> FigureValidity {
    let failed = view.checks_that(CheckStatus::Failed) > 0 || view.failed() > 0;
    if failed || view.void_rounds().next().is_some() {
        FigureValidity::Void
    } else if view.figure().is_none() {
        FigureValidity::NothingMeasured
    } else if view.case.search.as_ref().is_some_and(|search| !search.confirmed) {
        FigureValidity::Unconfirmed
    } else {
        FigureValidity::Counts
    }
}

/// The figure in percent of the nominal one, if there are both.
pub(crate) fn percent_of_nominal(view: &CaseView<'_>) -> Option<f64> {
    let nominal = view.case.workload.nominal.filter(|nominal| *nominal > 0.0)?;
    Some(100.0 * view.results_per_second()? / nominal)
}

pub(super) fn remarks(view: &CaseView<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut say = |tone: Tone, text: String| remarks.push(Remark::new(tone, text));
    match view.validity() {
        FigureValidity::Void => {
            let failed = view.checks_that(CheckStatus::Failed);
            if failed > 0 {
                let failed = units::counted(failed, "check", "checks");
                say(Tone::Bad, format!("{failed} of the database failed: the figures are void"));
            }
            let several = view.case.rounds.len() > 1;
            for (round, why) in view.void_rounds() {
                let place = if several { format!(" of round {round}") } else { String::new() };
                say(Tone::Bad, format!("no figure{place}: {why}"));
            }
        }
        FigureValidity::NothingMeasured if view.case.search.is_none() => {
            say(Tone::Bad, "the measurement interval was not reached".to_owned());
        }
        // A search without an answer has a remark of its own.
        FigureValidity::NothingMeasured | FigureValidity::Counts | FigureValidity::Unconfirmed => {}
    }
    if view.file.interrupted {
        let measured = units::seconds(view.measured_s());
        say(Tone::Bad, format!("interrupted: {measured} were measured"));
    }
    if view.failed() > 0 {
        let failed = units::counted(view.failed(), "operation", "operations");
        say(Tone::Bad, format!("{failed} failed: the figures are void"));
    }
    // The line of a single case's figure has it.
    if view.file.cases.len() > 1 {
        remarks.extend(no_interval(view).map(|why| Remark::new(Tone::Doubtful, why)));
    }
    remarks.extend(steadiness(view));
    remarks.extend(search(view));
    let mut say = |tone: Tone, text: String| remarks.push(Remark::new(tone, text));
    arrivals(view, &mut say);
    remarks.extend(limits::pauses(view));
    remarks.extend(storage::doubt(view));
    let mut say = |tone: Tone, text: String| remarks.push(Remark::new(tone, text));
    if view.build().profile != "release" {
        let profile = units::printable(&view.build().profile);
        say(Tone::Bad, format!("measured with a {profile} build: the figures are not valid"));
    }
    let clamped: u64 = view.operations.iter().map(|operation| operation.response.clamped).sum();
    if clamped > 0 {
        let samples = units::counted(clamped, "response was", "responses were");
        say(Tone::Doubtful, format!("{samples} longer than the histogram's range and counted at its end"));
    }
    let unreadable =
        view.operations.iter().any(|operation| operation.response.unreadable || operation.service.unreadable);
    if unreadable {
        say(Tone::Doubtful, "a histogram in the run file cannot be read".to_owned());
    }
    remarks.extend(not_run(view));
    let mut say = |tone: Tone, text: String| remarks.push(Remark::new(tone, text));
    // A classic workload that only reads has no check of its own: what each operation finds is compared within it.
    let is_brokerage = view.case.workload.kind == WorkloadKind::Brokerage;
    if is_brokerage && !view.checks().any(|(_, check)| check.is_of_database()) {
        say(Tone::Doubtful, "the database was not checked".to_owned());
    }
    remarks
}

/// Checks that were not run, by their reasons: their evidence begins with `not run`.
fn not_run(view: &CaseView<'_>) -> Vec<Remark> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (_, check) in view.checks().filter(|(_, check)| check.status == CheckStatus::NotApplicable) {
        match by_reason.iter_mut().find(|(why, _)| *why == check.evidence) {
            Some((_, names)) if names.contains(&check.name.as_str()) => {}
            Some((_, names)) => names.push(&check.name),
            None => by_reason.push((&check.evidence, vec![&check.name])),
        }
    }
    let remark = |(why, names): &(&str, Vec<&str>)| units::printable(&format!("{}: {why}", names.join(", ")));
    by_reason.iter().map(|reason| Remark::new(Tone::Faint, remark(reason))).collect()
}

/// Seconds rounded up, with a margin: the next run may need more.
fn advised(needs_s: f64) -> f64 {
    (1.5 * needs_s / 10.0).ceil() * 10.0
}

/// The single round of some length that has a figure and no interval, with the reason.
fn uncertain<'a>(view: &CaseView<'a>) -> Option<(&'a Round, NoInterval)> {
    /// Rounds shorter than a second, as they were measured, are a trial, which nobody takes for a figure.
    const SHORTEST_S: f64 = 0.95;
    let [round] = view.case.rounds.as_slice() else { return None };
    let counts = view.validity() == FigureValidity::Counts && !view.file.interrupted && round.measured_s >= SHORTEST_S;
    Some((round, round.withheld(&view.case.workload).filter(|_| counts)?))
}

/// Options to try so that the figure has an interval.
fn remedy(view: &CaseView<'_>, why: NoInterval) -> String {
    match why {
        NoInterval::Others { .. } => "a quieter machine".to_owned(),
        // The duration of work that ends by itself cannot be chosen.
        _ if !view.case.workload.may_be_steady() => "--rounds 6".to_owned(),
        NoInterval::TooShort { needs_s } | NoInterval::RareStalls { needs_s, .. } => {
            format!("--for {}s", advised(needs_s))
        }
    }
}

/// Reason why the figure of a single round has no interval, and the remedy, in a few words for its line.
pub(super) fn no_interval(view: &CaseView<'_>) -> Option<String> {
    let (round, why) = uncertain(view)?;
    let why_not = match why {
        NoInterval::Others { cpus } => {
            format!("no interval: others used {cpus:.2} CPUs")
        }
        NoInterval::TooShort { .. } => format!("no interval: {} are too short", units::seconds(round.measured_s)),
        NoInterval::RareStalls { seen: 0, .. } => "no interval: a stall in the warm-up".to_owned(),
        NoInterval::RareStalls { seen, .. } => {
            let stalls = units::counted(seen as u64, "stall", "stalls");
            format!("no interval: {stalls} in {}", units::seconds(round.measured_s))
        }
    };
    Some(format!("{why_not}; try {}", remedy(view, why)))
}

/// Whether the rounds were in steady state, with the evidence.
fn steadiness(view: &CaseView<'_>) -> Option<Remark> {
    let rounds = view.steadiness();
    let several = rounds.len() > 1;
    let answers = [(Steady::No, Tone::Bad), (Steady::Unknown, Tone::Doubtful), (Steady::Yes, Tone::Good)];
    let found = answers.into_iter().find_map(|(wanted, tone)| {
        let (at, it) = rounds.iter().enumerate().find(|(_, it)| it.steady == wanted)?;
        Some((wanted, tone, at, it))
    });
    let (answer, tone, at, it) = found?;
    let place = if several { format!(" in round {}", at + 1) } else { String::new() };
    let verdict = match answer {
        Steady::No => format!("not steady{place}"),
        Steady::Unknown => format!("steady state{place}: undetermined"),
        Steady::Yes if several => "steady in every round".to_owned(),
        Steady::Yes => "steady".to_owned(),
    };
    let text = format!("{verdict}: {}", it.evidence());
    // A short run hardly ever gives a verdict: that is reported only if it was requested.
    let is_asked =
        view.case.rounds.iter().any(|it| it.stopping.is_some_and(|it| it.rule == StoppingRule::SteadinessDecided));
    match answer {
        Steady::Unknown if !is_asked => Some(Remark::new(Tone::Faint, text)),
        _ => Some(Remark { tone, text, verdict: Some(verdict) }),
    }
}

/// Answer to a search for the highest rate.
pub struct SearchAnswer {
    /// The rate, or the two rates that it is between.
    pub rate: String,
    /// Its unit, with the condition that it meets.
    pub unit: String,
    /// Whether rounds of full length met every limit at it.
    pub is_confirmed: bool,
}

/// Answer to a search, if its rounds are valid.
pub(super) fn search_answer(view: &CaseView<'_>) -> Option<SearchAnswer> {
    let search = view.case.search.as_ref().filter(|_| view.validity().has_rounds())?;
    let (is_confirmed, unit) = (search.confirmed, units::printable(&search.unit));
    let (rate, unit) = match (search.highest_passing, search.lowest_failing) {
        (Some(found), _) if is_confirmed => (units::plain(found), format!("{unit} within every limit")),
        (Some(low), Some(high)) => {
            (format!("between {} and {}", units::plain(low), units::plain(high)), format!("{unit}, not confirmed"))
        }
        (None, _) if search.undetermined().is_some() => {
            ("no rate".to_owned(), "shown to be within every limit".to_owned())
        }
        (Some(low), None) => (format!("above {}", units::plain(low)), format!("{unit}, not confirmed")),
        (None, _) => ("no rate".to_owned(), "within every limit".to_owned()),
    };
    Some(SearchAnswer { rate, unit, is_confirmed })
}

/// Result of a search for the highest rate.
pub(super) fn search(view: &CaseView<'_>) -> Option<Remark> {
    let search = view.case.search.as_ref()?;
    let unit = units::printable(&search.unit);
    let tried = units::counted(search.probes.len() as u64, "round", "rounds");
    if let Some(undetermined) = search.undetermined() {
        return Some(Remark::new(
            Tone::Bad,
            format!("no rate is shown to meet every limit: {}", units::printable(undetermined)),
        ));
    }
    let Some(found) = search.highest_passing else {
        let below = search
            .lowest_failing
            .map_or_else(String::new, |failing| format!(": if one does, it is below {} {unit}", units::plain(failing)));
        return Some(Remark::new(Tone::Bad, format!("no rate met every limit in {tried}{below}")));
    };
    if let (false, Some(failing)) = (search.confirmed, search.lowest_failing) {
        let (low, high) = (units::plain(found), units::plain(failing));
        let words = format!(
            "the highest rate is between {low} and {high} {unit}: only short rounds met every limit at {low}, {tried} in all"
        );
        return Some(Remark::new(Tone::Bad, words));
    }
    let above = search.lowest_failing.map_or_else(
        || ", and no tried rate was too high".to_owned(),
        |refuted| format!(", {} {unit} does not", units::plain(refuted)),
    );
    let confirmed = if search.confirmed { "this run of full length confirms it" } else { "not confirmed" };
    let tone = if search.confirmed { Tone::Good } else { Tone::Bad };
    let arrivals = view.case.workload.parameters.iter().find(|it| it.name == Workload::ARRIVALS);
    let arrivals = arrivals.map(|it| format!(" --arrivals {}", units::printable(&it.value))).unwrap_or_default();
    // Limits of a specification are in its section.
    let of_person = match view.case.workload.kind {
        WorkloadKind::Brokerage => &[],
        WorkloadKind::Micro => search.limits.as_slice(),
    };
    let limits: Vec<String> = of_person.iter().map(|limit| units::printable(&limit.to_string()).to_string()).collect();
    let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join(", ")) };
    // The second one can be typed: no grouping, and all digits of the round's rate.
    let asked = units::plain(found);
    let option = if search.unit == Search::PACE { "--pace" } else { "--rate" };
    let words = format!(
        "{asked} {unit} meets every limit{limits}{above}: {tried}, and {confirmed}; repeat it with {option} {found}{arrivals}"
    );
    Some(Remark::new(tone, words))
}

/// Fate of the operations that were due by a schedule.
fn arrivals(view: &CaseView<'_>, say: &mut impl FnMut(Tone, String)) {
    let Some(arrivals) = view.arrivals() else { return };
    if let Some([_, asked]) = view.short_of_rate() {
        let asked = units::plain(asked);
        let unit = units::printable(&view.case.workload.headline_unit);
        say(
            Tone::Plain,
            format!(
                "the requested rate is {asked} {unit}: one order in five waits for its price, up to 15 minutes, before it has a \
                 result"
            ),
        );
    }
    let noun = view.case.workload.kind.noun();
    let due = units::counted(arrivals.due, &format!("{noun} was due"), &format!("{noun}s were due"));
    if let Some(behind_s) = view.behind_s() {
        let late = units::duration_ns(behind_s * 1e9);
        return say(
            Tone::Bad,
            format!("{due} by the schedule, which was not kept: the last one was started {late} late"),
        );
    }
    if arrivals.dropped + arrivals.unstarted == 0 {
        return say(Tone::Good, format!("{due} by the schedule, and all were started"));
    }
    let (started, dropped, waited) =
        (units::count(arrivals.started), units::count(arrivals.dropped), units::count(arrivals.unstarted));
    // Operations that wait when the interval ends are no sign of trouble until they are more than a few.
    let tone = if arrivals.dropped > 0 || arrivals.unstarted * 100 > arrivals.due { Tone::Bad } else { Tone::Plain };
    // Far above the engine's capacity, only operations of the warm-up are completed.
    let before = Some(arrivals.started_of_warm_up).filter(|count| *count > arrivals.started);
    let before = before.map_or_else(String::new, |count| {
        let were = units::counted(count, noun, &format!("{noun}s"));
        format!("; before them {were} that the warm-up had made due were started, which the figure counts")
    });
    say(
        tone,
        format!("{due} by the schedule: {started} started, {dropped} dropped, {waited} waiting at the end{before}"),
    );
}
