use super::cost::{Cost, cost};
use super::{FigureValidity, OperationView, Remark, limits, validity, waits};
use crate::likeness::memory_words;
use crate::units;
use bourse_record::{
    Arrivals, Build, Case, Check, CheckStatus, Conditions, Estimate, FEWEST_ROUNDS, Machine, Outcome, PhaseKind, Round,
    RunFile, ServerUse, SharedRound, Steadiness, WorkloadKind,
};
use bourse_stats::center;
use std::collections::BTreeSet;

/// Age from which on a market owes as many Trade-Results as the mix has.
const FULL_AGE_S: f64 = 900.0;

/// A case with its rounds taken together.
pub struct CaseView<'a> {
    /// The run.
    pub file: &'a RunFile,
    /// The case.
    pub case: &'a Case,
    /// Operations in the specification's order, the others after them.
    pub operations: Vec<OperationView>,
    /// All operations as one, if the headline counts all.
    all: Option<OperationView>,
}

impl<'a> CaseView<'a> {
    /// View of a case of a run.
    pub fn new(file: &'a RunFile, case: &'a Case) -> Self {
        let all = case.workload.headline_operation.is_none().then(|| OperationView::all(&case.rounds)).flatten();
        Self { file, case, operations: OperationView::over(&case.rounds), all }
    }

    /// All cases of a run.
    pub fn all(file: &'a RunFile) -> Vec<Self> {
        file.cases.iter().map(|case| Self::new(file, case)).collect()
    }

    /// The machine it was measured on.
    pub fn machine(&self) -> &'a Machine {
        self.case.origin.as_ref().map_or(&self.file.provenance.machine, |origin| &origin.machine)
    }

    /// The program that measured it.
    pub fn build(&self) -> &'a Build {
        self.case.origin.as_ref().map_or(&self.file.provenance.build, |origin| &origin.build)
    }

    /// Sum of the arrivals of all rounds: due, started and dropped operations; `None` in closed loops.
    pub fn arrivals(&self) -> Option<Arrivals> {
        self.case.rounds.iter().filter_map(|round| round.arrivals).reduce(|sum, each| Arrivals {
            due: sum.due + each.due,
            started: sum.started + each.started,
            dropped: sum.dropped + each.dropped,
            unstarted: sum.unstarted + each.unstarted,
            backlog_limit: each.backlog_limit,
            unstarted_ns_longest: sum.unstarted_ns_longest.max(each.unstarted_ns_longest),
            backlog_longest: sum.backlog_longest.max(each.backlog_longest),
            started_of_warm_up: sum.started_of_warm_up + each.started_of_warm_up,
            behind_ns: sum.behind_ns.max(each.behind_ns),
        })
    }

    /// Seconds that a round went on after its last operation was due, if they are more than a twentieth of a round.
    pub fn behind_s(&self) -> Option<f64> {
        let behind_s = self.arrivals()?.behind_ns as f64 / 1e9;
        (behind_s * 20.0 * self.case.rounds.len() as f64 > self.measured_s()).then_some(behind_s)
    }

    /// Whether each round was in steady state. Empty for workloads whose intervals need not be.
    pub fn steadiness(&self) -> Vec<Steadiness> {
        let workload = &self.case.workload;
        if !workload.may_be_steady() {
            return Vec::new();
        }
        let measured = self.case.rounds.iter().filter(|round| round.measured_s > 0.0);
        measured.map(|round| Steadiness::of(round, workload)).collect()
    }

    /// Seconds measured, over all rounds.
    pub fn measured_s(&self) -> f64 {
        self.case.rounds.iter().map(|round| round.measured_s).sum()
    }

    /// The rounds' headline figures, of rounds that measured anything; sorted. For the brokerage transactions of all kinds a
    /// second.
    pub fn figures(&self) -> Vec<f64> {
        let mut figures = self.case.figures();
        figures.sort_by(f64::total_cmp);
        figures
    }

    /// The headline with its interval. `None` if nothing was measured; [`Self::validity`] has whether it counts.
    pub fn estimate(&self) -> Option<Estimate> {
        self.case.estimate()
    }

    /// The headline figure of a round.
    pub fn figure_of(&self, round: &Round) -> f64 {
        round.figure(&self.case.workload)
    }

    /// Valid completions of the headline's operation a second, if the figure counts: Trade-Results for the brokerage.
    pub fn results_per_second(&self) -> Option<f64> {
        let rate = center(&self.case.headlines()).map(|it| it.value);
        rate.filter(|_| self.validity() == FigureValidity::Counts)
    }

    /// Second figure of the brokerage: its Trade-Results a second, and for a market that still owes fewer of them the part
    /// of the mix that is due: `346.0 TR/s, 8.4 % of the mix (target 10 %)`. Short: it shares a line of a terminal.
    pub fn results(&self) -> Option<String> {
        let is_brokerage = self.case.workload.kind == WorkloadKind::Brokerage;
        let results = self.results_per_second().filter(|_| is_brokerage)?;
        let due = self.due().map(|[due, full]| format!(", {due:.1} % of the mix (target {} %)", units::plain(full)));
        let unit = units::printable(&self.case.workload.headline_unit);
        let figure = units::number(results);
        // Fewer are completed than were due while the orders of a new market wait for their prices.
        let rate = match self.conditions().requested_rate {
            Some(asked) => format!("{figure} of {} {unit} due", units::plain(asked)),
            None => format!("{figure} {unit}"),
        };
        Some(rate + &due.unwrap_or_default())
    }

    /// Completions per minute of the operation that the workload names, as `12,345 New-Order transactions per minute ± 2.6 %`.
    pub fn per_minute(&self) -> Option<String> {
        let operation = self.case.workload.per_minute.as_ref()?;
        let rate = self.case.rate_of(operation).filter(|_| self.validity() == FigureValidity::Counts)?;
        let sure = rate.interval.filter(|_| rate.value > 0.0).map(|interval| {
            let percent = 100.0 * interval.half_width() / rate.value;
            format!(" ± {} %", units::significant(percent, 2))
        });
        let figure = units::number(60.0 * rate.value);
        Some(format!("{figure} {operation} transactions per minute{}", sure.unwrap_or_default()))
    }

    /// Results a second and the requested ones, of a brokerage with clearly fewer: orders that wait for their price have no
    /// result yet.
    pub fn short_of_rate(&self) -> Option<[f64; 2]> {
        let requested =
            self.conditions().requested_rate.filter(|_| self.case.workload.kind == WorkloadKind::Brokerage)?;
        let results = self.results_per_second().filter(|results| *results < 0.97 * requested)?;
        Some([results, requested])
    }

    /// The share of the mix, in percent, that the headline's operation owed in these intervals, and the share once the
    /// market is old enough; `None` for an old market.
    fn due(&self) -> Option<[f64; 2]> {
        let youngest = self.case.rounds.iter().filter_map(|round| round.market_age_s).reduce(f64::min)?;
        let operation = self.headline_operation().filter(|_| youngest < FULL_AGE_S)?;
        Some([operation.expected_percent?, operation.target_percent?])
    }

    /// Half the width of a single round's interval, in percent of its figure, as `± 2.6 %`; the ends of an interval that is
    /// wider than that on both sides of it. `None` for a figure that does not count, or a series too short for its
    /// autocorrelation.
    pub fn plus_minus(&self) -> Option<String> {
        let [_] = self.case.rounds.as_slice() else { return None };
        let figure = self.valid_figure().filter(|figure| *figure > 0.0)?;
        let interval = self.estimate()?.interval?;
        let percent = 100.0 * interval.half_width() / figure;
        Some(match percent < 100.0 {
            true => format!("± {} %", units::significant(percent, 2)),
            false => format!("({})", units::interval(&interval, units::number)),
        })
    }

    /// Uncertainty of the figure of a single round: `± 2.6 % in this run`, or in brackets the reason why there is no interval
    /// and the remedy. Runs can lie farther apart: no round shows what changes from one to the next.
    pub fn uncertainty(&self) -> Option<String> {
        self.plus_minus()
            .map(|it| format!("{it} in this run"))
            .or_else(|| validity::no_interval(self).map(|it| format!("({it})")))
    }

    /// Customers' response times at a part of the rate, in a sentence with its tone; `None` if they were not measured.
    pub fn waits(&self) -> Option<Remark> {
        waits::sentence(self)
    }

    /// The headline. `None` if nothing was measured; [`Self::validity`] has whether it counts.
    pub fn figure(&self) -> Option<f64> {
        self.estimate().map(|it| it.value)
    }

    /// Uncertainty of the headline of several rounds: its interval with its level, and their spread. `None` for a figure
    /// that does not count.
    pub fn spread(&self) -> Option<String> {
        let figures = self.figures();
        let interval = self.estimate().filter(|_| self.validity().has_rounds())?.interval;
        let sure = interval.map(|it| units::interval(&it, units::number));
        // The ± next to the figure of a single round has it already.
        let ([low, .., high], rounds) = (figures.as_slice(), figures.len()) else { return None };
        let (low, high) = (units::number(*low), units::number(*high));
        let sure = sure.unwrap_or_else(|| format!("an interval needs {FEWEST_ROUNDS} rounds"));
        Some(format!("over {}, from {low} to {high}; {sure}", units::counted(rounds as u64, "round", "rounds")))
    }

    /// Figures of this run and earlier ones of the case, with the interval for a further run, as `5 runs here: 6,008 to 7,341;
    /// 95 % of further runs from 5,260 to 8,290`. `None` of the first run.
    pub fn runs_here(&self) -> Option<String> {
        let earlier = &self.case.earlier.as_ref()?.figures;
        let figures: Vec<f64> = self.valid_figure().into_iter().chain(earlier.iter().copied()).collect();
        let (low, high) = figures.iter().fold((f64::MAX, 0.0), |(low, high), it| (it.min(low), it.max(high)));
        let range = match low < high {
            true => format!("{} to {}", units::number(low), units::number(high)),
            false => units::number(low),
        };
        let runs = units::counted(figures.len() as u64, "run", "runs");
        let of_next = bourse_stats::prediction(&figures).map(|next| {
            let percent = 100.0 * next.level;
            format!("; {percent:.0} % of further runs from {} to {}", units::number(next.low), units::number(next.high))
        });
        Some(format!("{runs} here: {range}{}", of_next.unwrap_or_default()))
    }

    /// The headline, if it counts.
    pub fn valid_figure(&self) -> Option<f64> {
        self.figure().filter(|_| self.validity() == FigureValidity::Counts)
    }

    /// Validity of the figure.
    pub fn validity(&self) -> FigureValidity {
        validity::of(self)
    }

    /// Remarks on the figure.
    pub fn remarks(&self) -> Vec<Remark> {
        validity::remarks(self)
    }

    /// Answer to a search for the highest rate, if the case was one whose rounds are valid.
    pub fn search_answer(&self) -> Option<validity::SearchAnswer> {
        validity::search_answer(self)
    }

    /// Result of a search for the highest rate, if the case was one.
    pub fn searched(&self) -> Option<Remark> {
        validity::search(self)
    }

    /// Bottleneck that limited the figure, as far as the run file shows it.
    pub fn limited_by(&self) -> Option<limits::Bottleneck> {
        limits::limited_by(self)
    }

    /// Cost of one operation of the headline; `None` for a case without a figure.
    pub fn cost(&self) -> Option<Cost> {
        cost(self)
    }

    /// Instructions of an operation of the headline, without the harness's own; `None` unless they were counted.
    pub fn instructions(&self) -> Option<f64> {
        self.case.instructions.as_ref()?.middle()
    }

    /// Every check of every round, with the round's number from 1.
    pub fn checks(&self) -> impl Iterator<Item = (usize, &'a Check)> + use<'a> {
        self.case
            .rounds
            .iter()
            .enumerate()
            .flat_map(|(at, round)| round.with_latency().map(move |round| (at, round)))
            .flat_map(|(at, round)| round.checks.iter().map(move |check| (at + 1, check)))
    }

    /// The rounds without a figure, with their numbers from 1 and the reasons.
    pub fn void_rounds(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        self.case.rounds.iter().enumerate().filter_map(|(at, round)| Some((at + 1, round.void.as_deref()?)))
    }

    /// The driver whose part of shared rounds it is, and drivers that were lost: `driver 1 of 3`, `driver 2 of 3 is missing`.
    pub fn drivers(&self) -> Option<String> {
        let shared = || self.case.rounds.iter().filter_map(|round| round.shared.as_ref());
        let SharedRound { number, of, .. } = shared().next()?;
        let own = shared().next().filter(|it| it.is_part()).map(|_| format!("driver {number} of {of}"));
        let lost: BTreeSet<String> = shared().flat_map(|it| &it.vanished).map(u32::to_string).collect();
        let numbers = lost.iter().cloned().collect::<Vec<_>>().join(", ");
        let lost = match lost.len() {
            0 => None,
            1 => Some(format!("driver {numbers} of {of} is missing")),
            _ => Some(format!("drivers {numbers} of {of} are missing")),
        };
        let words: Vec<String> = own.into_iter().chain(lost).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Number of the other drivers of its shared rounds, whose commands are not those of this run file.
    pub fn other_drivers(&self) -> u32 {
        let shared = self.case.rounds.iter().find_map(|round| round.shared.as_ref());
        shared.map_or(0, |shared| shared.of.saturating_sub(1))
    }

    /// Number of checks with that status.
    pub fn checks_that(&self, status: CheckStatus) -> u64 {
        self.checks().filter(|(_, check)| check.status == status).count() as u64
    }

    /// Age of the market when each interval began, and the share of Trade-Results it then owed; `None` for workloads without
    /// a market.
    pub fn market_age(&self) -> Option<String> {
        let youngest = self.case.rounds.iter().filter_map(|round| round.market_age_s).reduce(f64::min)?;
        let owed = self.due().map(|[expected, target]| {
            format!(
                ": {expected:.2} % of the mix are Trade-Results that are due, {} % once it is {} old",
                units::plain(target),
                units::seconds(FULL_AGE_S)
            )
        });
        Some(format!("{} when the interval began{}", units::seconds(youngest), owed.unwrap_or_default()))
    }

    /// Conditions of the case.
    pub fn conditions(&self) -> &'a Conditions {
        &self.case.conditions
    }

    /// Whether its operations can have this outcome at all.
    pub fn can_end(&self, outcome: Outcome) -> bool {
        self.case.workload.outcomes.contains(&outcome)
    }

    /// Unit of the headline.
    pub fn unit(&self) -> &'a str {
        self.case.workload.figure_unit()
    }

    /// The driver's own queue, as text, if an operation's response times include it.
    pub fn driver_queue(&self, operation: &str) -> Option<String> {
        self.case.conditions.queue_of(operation).map(|queue| format!("driver's queue of {}", queue.room))
    }

    /// The operation of the headline; all as one if it counts all.
    pub fn headline_operation(&self) -> Option<&OperationView> {
        match &self.case.workload.headline_operation {
            Some(name) => self.operations.iter().find(|operation| operation.name == *name),
            None => self.all.as_ref(),
        }
    }

    /// Noun for one of its operations.
    pub fn noun(&self) -> &'static str {
        self.case.workload.kind.noun()
    }

    /// Valid completions that the headline counts.
    pub fn headline_count(&self) -> u64 {
        self.headline_operation().map_or(0, OperationView::valid)
    }

    /// Retries, over all operations.
    pub fn retries(&self) -> u64 {
        self.operations.iter().map(|operation| operation.retries).sum()
    }

    /// Failures, over all operations, including the phase at a part of the rate.
    pub fn failed(&self) -> u64 {
        let after = self.case.rounds.iter().filter_map(|round| Some(round.latency.as_ref()?.round.failed()));
        self.operations.iter().map(|operation| operation.failed).sum::<u64>() + after.sum::<u64>()
    }

    /// Processor seconds per second of measuring, the server's among them if there is one.
    pub fn cores_busy(&self) -> Option<f64> {
        Some(self.own_cores_busy()? + self.server_cores_busy().unwrap_or(0.0))
    }

    /// Resource usage of the server's process in all rounds, if it could be read in each.
    pub fn server_use(&self) -> Option<ServerUse> {
        let each: Option<Vec<ServerUse>> = self.case.rounds.iter().map(|round| round.server).collect();
        each?.into_iter().reduce(|sum, each| ServerUse {
            cpu_user_s: sum.cpu_user_s + each.cpu_user_s,
            cpu_system_s: sum.cpu_system_s + each.cpu_system_s,
            read_bytes: sum.read_bytes + each.read_bytes,
            written_bytes: sum.written_bytes + each.written_bytes,
        })
    }

    /// Processor seconds of the server's process per second of measuring.
    pub fn server_cores_busy(&self) -> Option<f64> {
        if let Some(server) = self.server_use().filter(|_| self.measured_s() > 0.0) {
            return Some((server.cpu_user_s + server.cpu_system_s) / self.measured_s());
        }
        Some(self.mean("server_cpu_user")? + self.mean("server_cpu_system")?)
    }

    /// This process's share of its CPU time and the server's together, in percent; `None` without a server whose time is
    /// known.
    pub fn client_percent(&self) -> Option<f64> {
        let (own, server) = (self.own_cores_busy()?, self.server_cores_busy()?);
        Some(100.0 * own / (own + server)).filter(|percent| percent.is_finite())
    }

    /// CPU seconds of the process that ran the rounds, per second of measuring.
    fn own_cores_busy(&self) -> Option<f64> {
        let used: f64 = self.case.rounds.iter().map(|round| round.cpu_user_s + round.cpu_system_s).sum();
        (self.measured_s() > 0.0).then(|| used / self.measured_s())
    }

    /// A metric's values within the measurement intervals of all rounds.
    pub fn measured(&self, metric: &str) -> Vec<f64> {
        self.case.rounds.iter().flat_map(|round| measured(round, metric)).map(|(_, value)| value).collect()
    }

    /// A metric's mean within the measurement intervals.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        let values = self.measured(metric);
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The page cache that rounds begin with, and the limit of their memory, if they were set.
    pub fn memory(&self) -> Option<String> {
        memory_words(self.conditions())
    }

    /// Size of the database as a multiple of the limit of memory, if there is one.
    pub fn times_memory(&self) -> Option<f64> {
        let sizes = self.case.rounds.iter().flat_map(|round| values(round, "data_bytes"));
        let largest = sizes.filter_map(|(_, bytes)| bytes).reduce(f64::max)?;
        Some(largest / self.case.conditions.memory_limit_bytes? as f64)
    }

    /// Size of the library that its engine was loaded from; `None` unless the engine says it.
    pub fn library_bytes(&self) -> Option<f64> {
        let setting = self.case.engine.settings.iter().find(|it| it.name == "library_bytes")?;
        setting.value.parse().ok()
    }

    /// A metric's peak within the measurement intervals.
    pub fn peak(&self, metric: &str) -> Option<f64> {
        self.measured(metric).into_iter().reduce(f64::max)
    }
}

/// A metric's values with their times; the closer samples of a metric that has them.
pub fn values<'a>(round: &'a Round, metric: &str) -> impl Iterator<Item = (f64, Option<f64>)> + use<'a> {
    let fine = round.fine_series.column(metric).map(|values| (&round.fine_series, values));
    let (series, values) = fine.unwrap_or_else(|| (&round.series, round.series.column(metric).unwrap_or_default()));
    let finite = |value: &Option<f64>| value.filter(|value| value.is_finite());
    series.time_s.iter().copied().zip(values.iter().map(finite))
}

/// A metric's values within the measurement interval, with their times. A row belongs to the interval it ends in.
pub(crate) fn measured(round: &Round, metric: &str) -> Vec<(f64, f64)> {
    let within = |time: f64| {
        let measurement = |phase: &&bourse_record::Phase| phase.kind == PhaseKind::Measurement;
        round.phases.iter().filter(measurement).any(|phase| phase.from_s < time && time <= phase.to_s + 1e-6)
    };
    values(round, metric).filter(|(time, _)| within(*time)).filter_map(|(time, value)| Some((time, value?))).collect()
}
