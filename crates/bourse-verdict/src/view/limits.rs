//! Bottlenecks: the largest part of the users' time.

use super::time_split::{RoleSplit, TimePart, not_available, roles};
use super::{CaseView, Remark};
use crate::Tone;
use crate::units;
use bourse_record::{BlockedOn, CUSTOMERS, Interference, MARKET_USERS};

/// Share of the CPUs from which on they are full; the rest is the operating system's and the sampling's.
const FULL: f64 = 0.85;
/// Share of the market users' time from which on they have no time left.
const ALWAYS_BUSY: f64 = 0.85;
/// Share of the customers' time from which on their pauses are reported.
const PAUSED: f64 = 0.10;

/// The bottleneck, with its evidence.
pub struct Bottleneck {
    cause: String,
    /// Amount, with its separator.
    amount: String,
    evidence: String,
}

impl Bottleneck {
    /// The cause alone, for a line that it shares with other verdicts.
    pub fn verdict(&self) -> String {
        format!("bottleneck: {}", self.cause)
    }

    /// The whole sentence.
    pub fn sentence(&self) -> String {
        format!("bottleneck: {}{}{}", self.cause, self.amount, self.evidence)
    }
}

/// Finds the bottleneck; `None` if nothing was measured, or the run file does not show it.
pub(super) fn limited_by(view: &CaseView<'_>) -> Option<Bottleneck> {
    view.figure()?;
    let used = processors(view);
    let roles = roles(view);
    // A schedule that was met is the limit: at a higher rate, users would have done more.
    let kept_pace =
        view.behind_s().is_none() && view.arrivals().is_some_and(|it| (it.dropped + it.unstarted) * 100 <= it.due);
    let alone = |cause: &str| Bottleneck { cause: cause.to_owned(), amount: String::new(), evidence: String::new() };
    let limit = if kept_pace {
        alone(if view.short_of_rate().is_some() {
            "the requested rate"
        } else {
            "the requested rate, which was reached"
        })
    } else if roles.is_empty() {
        match (not_available(view), view.cores_busy().filter(|busy| *busy >= FULL * cores(view))) {
            (_, Some(_)) => alone("CPU"),
            (Some(why), None) => alone(&format!("not available: {}", units::printable(why))),
            (None, None) => return None,
        }
    } else if let Some(market) = saturated_market(&roles) {
        of_market(view, market)?
    } else {
        let working = WorkingTime::of(&roles)?;
        let idle = 1.0 - working.seconds / working.all_s;
        let idle = if idle >= 0.5 {
            format!("; idle {} of all their time", units::percent(100.0 * idle))
        } else {
            String::new()
        };
        let amount = format!(": {} of the users' working time", units::percent(100.0 * working.share()));
        Bottleneck {
            cause: cause(view, working.first()).to_owned(),
            amount,
            evidence: format!("{}{idle}", working.rest()),
        }
    };
    let used = used.map_or_else(String::new, |used| format!("; {used}"));
    Some(Bottleneck { evidence: format!("{}{used}", limit.evidence), ..limit })
}

fn cores(view: &CaseView<'_>) -> f64 {
    f64::from(view.machine().cores.max(1))
}

/// CPUs used by the run, the server's among them, and CPUs taken by other processes.
fn processors(view: &CaseView<'_>) -> Option<String> {
    let busy = view.cores_busy().filter(|busy| busy.is_finite())?;
    let mut words = format!("{} of {} cores busy", units::significant(busy, 3), view.machine().cores);
    if let Some(server) = view.server_cores_busy() {
        words.push_str(&format!(", {} of it by the server", units::significant(server, 3)));
    }
    let taken = cpus_taken(view);
    if taken > Interference::NOTICED {
        words.push_str(&format!("; other processes took {}", units::significant(taken, 3)));
    }
    Some(words)
}

/// CPUs that other processes took, on average over the rounds that measured it.
fn cpus_taken(view: &CaseView<'_>) -> f64 {
    let each: Vec<f64> = view.case.rounds.iter().filter_map(|it| Some(it.interference?.from_us())).collect();
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

/// The time in which users had something to do.
struct WorkingTime {
    /// Seconds of it, and of all the users' time.
    seconds: f64,
    all_s: f64,
    /// Its parts with their shares, the largest first.
    parts: Vec<(TimePart, f64)>,
}

impl WorkingTime {
    /// None where there is none.
    fn of(roles: &[RoleSplit]) -> Option<Self> {
        let seconds_of = |part: TimePart| roles.iter().map(|role| role.seconds(part)).sum::<f64>();
        let all_s: f64 = roles.iter().map(|role| role.wall_s).sum();
        let of_work = || TimePart::all().into_iter().filter(|part| !part.is_idle());
        let seconds: f64 = of_work().map(seconds_of).sum();
        let mut parts: Vec<(TimePart, f64)> = of_work().map(|part| (part, seconds_of(part) / seconds)).collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        (all_s > 0.0 && seconds > 0.0).then_some(Self { seconds, all_s, parts })
    }

    /// The largest part.
    fn first(&self) -> TimePart {
        self.parts[0].0
    }

    /// Its share.
    fn share(&self) -> f64 {
        self.parts[0].1
    }

    /// Text of the other parts.
    fn rest(&self) -> String {
        let rest = self.parts.iter().skip(1).filter(|(_, share)| *share >= 0.01);
        let rest: Vec<String> =
            rest.map(|(part, share)| format!("{} {}", part.name(), units::percent(100.0 * share))).collect();
        if rest.is_empty() { String::new() } else { format!(" ({})", rest.join(", ")) }
    }
}

/// Cause by the largest part of the working time.
fn cause(view: &CaseView<'_>, largest: TimePart) -> &'static str {
    let ours = view.cores_busy().unwrap_or(0.0);
    match largest {
        TimePart::Cpu | TimePart::Harness | TimePart::Blocked(_) if view.case.engine.is_null() => {
            "the harness and the workload's own code: null: is no database"
        }
        TimePart::Cpu | TimePart::Runnable if ours >= FULL * cores(view) => "CPU: the users need more than there are",
        TimePart::Runnable if cpus_taken(view) > Interference::NOTICED => "waiting for CPU (other processes)",
        TimePart::Runnable => "waiting for CPU",
        TimePart::Cpu => "computing, one core for each user at work",
        TimePart::Harness => "the harness's own CPU time",
        TimePart::Blocked(BlockedOn::Sync) => "syncs to disk",
        TimePart::Blocked(BlockedOn::Lock) => "locks: waiting for another writer",
        TimePart::Blocked(BlockedOn::Storage) => "reads and writes of files",
        TimePart::Blocked(BlockedOn::Server) => "the server and the network",
        TimePart::Blocked(BlockedOn::BackOff) => "pauses before retries",
        TimePart::Blocked(_) => "waits inside the engine that it does not tell apart",
    }
}

/// Bottleneck of market users that had no time left: the customers waited for them.
fn of_market(view: &CaseView<'_>, market: &RoleSplit) -> Option<Bottleneck> {
    let working = WorkingTime::of(std::slice::from_ref(market))?;
    let users = units::counted(market.threads, "market user, who was", "market users, who were");
    let amount = format!(": {} of the time of {users} always busy", units::percent(100.0 * working.share()));
    let has_room = view.cores_busy().is_none_or(|busy| busy < FULL * cores(view));
    // More users help if each needs a core, or a server works for several at a time; they do not if a disk syncs for one
    // writer after the other, or the writer itself is the limit.
    let would_help = match working.first() {
        TimePart::Cpu | TimePart::Harness | TimePart::Blocked(BlockedOn::Server | BlockedOn::Storage) => has_room,
        _ => false,
    };
    let more = 2 * market.threads;
    let advice = if would_help { format!("; --market-users {more} may bring more") } else { String::new() };
    let cause = match working.first() {
        TimePart::Cpu if would_help && !view.case.engine.is_null() => "too few market users, computing",
        part => cause(view, part),
    };
    Some(Bottleneck { cause: cause.to_owned(), amount, evidence: format!("{}{advice}", working.rest()) })
}

fn of<'r>(roles: &'r [RoleSplit], role: &str) -> Option<&'r RoleSplit> {
    roles.iter().find(|it| it.role == role)
}

/// The market users, if they had no time left while the customers paused for them.
fn saturated_market(roles: &[RoleSplit]) -> Option<&RoleSplit> {
    let (customers, market) = (of(roles, CUSTOMERS)?, of(roles, MARKET_USERS)?);
    let is_saturated = market.busy() >= ALWAYS_BUSY && customers.share(TimePart::Blocked(BlockedOn::Queue)) >= PAUSED;
    is_saturated.then_some(market)
}

/// Pauses of the customers, which the driver makes when its queue is full.
pub(super) fn pauses(view: &CaseView<'_>) -> Option<Remark> {
    view.conditions().driver_queue.as_ref()?;
    let roles = roles(view);
    let (customers, market) = (of(&roles, CUSTOMERS)?, of(&roles, MARKET_USERS)?);
    let paused = customers.share(TimePart::Blocked(BlockedOn::Queue));
    if paused < PAUSED {
        return None;
    }
    let busy = units::percent(100.0 * market.busy());
    let users = units::counted(market.threads, "market user was", "market users were");
    // A line of 80 columns: the line about the queue is below the table.
    let text = format!("customers paused {} of their time: {users} busy {busy}", units::percent(100.0 * paused));
    Some(Remark::new(Tone::Doubtful, text))
}
