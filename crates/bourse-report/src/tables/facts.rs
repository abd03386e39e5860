use super::{SheetTable, TableCell, Tone, heads, row};
use crate::units;
use crate::view::{CaseView, RuleStatus, isolation_words, rules, storage_words, sync_words, values};
use bourse_record::{
    Build, CheckStatus, Conditions, CostCovers, FileActivity, FileKind, Machine, NameValue, Round, RunFile, Scale,
    Steady, UsersOfProcess, WorkloadKind,
};
use bourse_stats::grouped;

fn named<'f>(title: &str, facts: impl IntoIterator<Item = Fact<'f>>) -> SheetTable {
    let mut table = SheetTable::new(title, heads![left "what", left "value"]);
    facts.into_iter().for_each(|(name, value)| table.push(row![name, value]));
    table
}

/// A fact: its name and its value.
type Fact<'f> = (&'f str, TableCell);

fn pairs(values: &[NameValue]) -> impl Iterator<Item = Fact<'_>> {
    values.iter().map(|pair| (pair.name.as_str(), TableCell::text(&pair.value)))
}

/// The workload's effective parameters, with those of the whole run.
pub(crate) fn parameters(view: &CaseView<'_>) -> SheetTable {
    let facts = [
        ("durability", Some(durability(view))),
        ("seed", Some(view.file.provenance.seed.to_string())),
        ("rounds", Some(view.case.rounds.len().to_string())),
        ("phases", Some(view.case.rounds.first().map(phases).unwrap_or_default())),
        ("age of the market", view.market_age()),
        ("memory", view.memory()),
    ];
    let conditions = conditions(view.conditions(), &view.case.workload.headline_unit);
    let known = facts.into_iter().chain(conditions).filter_map(|(name, words)| Some((name, words?.into())));
    named("Run configuration", known.chain(pairs(&view.case.workload.parameters)))
}

/// Conditions by their names; `None` if not known.
fn conditions(conditions: &Conditions, unit: &str) -> [(&'static str, Option<String>); 17] {
    let Conditions {
        users,
        further_users,
        processes,
        scale,
        requested_rate,
        market_aged_at,
        driver_queue,
        arrival_streams,
        isolation,
        tunables,
        constraints,
        input_data,
        storage,
        raw_syncs,
        free_bytes,
        page_cache: _,
        memory_limit_bytes: _,
    } = conditions;
    let of_scale = |of: fn(&Scale) -> u64| scale.as_ref().map(|scale| of(scale).to_string());
    let each =
        |of: fn(&UsersOfProcess) -> u64| processes.iter().map(|it| of(it).to_string()).collect::<Vec<_>>().join(" + ");
    let (of_users, further) = (each(|it| it.users), each(|it| it.further_users));
    let in_processes = format!("{}, with {of_users} users and {further} market users", processes.len());
    let rate = |rate: f64| format!("{} {unit}", units::plain(rate));
    let aged = |it| format!("aged at {}: its pending orders were placed before each round", rate(it));
    let queue = driver_queue.as_ref();
    [
        ("customers", of_scale(|it| it.customers)),
        ("scale factor", of_scale(|it| it.scale_factor)),
        ("initial trade days", of_scale(|it| it.initial_days)),
        ("users", users.map(|users| users.to_string())),
        ("market users", further_users.map(|users| users.to_string())),
        ("processes", (!processes.is_empty()).then_some(in_processes)),
        ("requested rate", requested_rate.map(rate)),
        ("market", market_aged_at.map(aged)),
        ("driver's queue", queue.map(|it| format!("room for {} of {}", it.room, it.operations.join(" and ")))),
        ("arrivals", arrival_streams.map(|streams| streams.name().to_owned())),
        ("constraints", constraints.clone()),
        ("isolation", (!isolation.is_empty()).then(|| isolation_words(isolation))),
        ("workload parameters", tunables.map(|tunables| tunables.name().to_owned())),
        ("input data", input_data.clone()),
        ("storage", storage.as_ref().map(storage_words)),
        ("raw syncs", raw_syncs.as_ref().map(sync_words)),
        ("free space", free_bytes.map(|bytes| units::bytes(bytes as f64))),
    ]
}

fn durability(view: &CaseView<'_>) -> String {
    let engine = &view.case.engine;
    let mut class = engine.durability.to_string();
    if let Some(what) = engine.may_lose {
        class.push_str(&format!(", may lose: {}", what.name()));
    }
    if engine.durability_reason.is_empty() {
        return class;
    }
    format!("{class} ({})", engine.durability_reason)
}

fn phases(round: &Round) -> String {
    use bourse_record::PhaseKind::{Drain, Measurement, WarmUp};
    let phases = round.phases.iter().map(|phase| {
        let name = match phase.kind {
            WarmUp => "warm-up",
            Measurement => "measurement",
            Drain => "drain",
        };
        format!("{name} {}", units::seconds(phase.to_s - phase.from_s))
    });
    phases.collect::<Vec<_>>().join(", ")
}

/// The engine's settings, as read back from it.
pub(crate) fn engine_settings(view: &CaseView<'_>) -> SheetTable {
    named("Settings in force, read back from the engine", pairs(&view.case.engine.settings))
}

/// The machine and the program; for merged runs, every machine with the cases that ran on it.
pub(crate) fn machines(file: &RunFile) -> Vec<SheetTable> {
    let own = (&file.provenance.machine, &file.provenance.build);
    let mut seen = grouped(file.cases.iter().map(|case| {
        (case.origin.as_ref().map_or(own, |origin| (&origin.machine, &origin.build)), case.label.as_str())
    }));
    if seen.is_empty() {
        seen.push((own, Vec::new()));
    }
    let several = seen.len() > 1;
    let table = |((machine, build), labels): ((&Machine, &Build), Vec<&str>)| {
        let title = if several { format!("Machine and program of {}", labels.join(", ")) } else { MACHINE.to_owned() };
        named(&units::printable(&title), machine_facts(machine, build))
    };
    seen.into_iter().map(table).collect()
}

/// The machine and the program of a case.
pub(crate) fn machine(view: &CaseView<'_>) -> SheetTable {
    named(MACHINE, machine_facts(view.machine(), view.build()))
}

const MACHINE: &str = "Machine and program";

fn machine_facts<'f>(machine: &'f Machine, build: &Build) -> Vec<Fact<'f>> {
    let Machine { system, processor, cores, memory_bytes, load_average, harness_ns: _, details } = machine;
    let load =
        load_average.map_or_else(TableCell::missing, |load| TableCell::figure(load, |load| format!("{load:.2}")));
    let mut facts = vec![
        ("system", system.into()),
        ("processor", processor.into()),
        ("cores", cores.to_string().into()),
        ("memory", TableCell::figure(*memory_bytes as f64, units::bytes)),
        ("load average at the start", load),
    ];
    facts.extend(pairs(details));
    facts.push(("bourse", format!("{} ({}, {})", build.words(), build.profile, build.target).into()));
    facts
}

/// Time of the run by part, in the parts' order; without rows if it is unknown.
pub(crate) fn time_spent(file: &RunFile) -> SheetTable {
    let heads = heads![left "part", right "time", right "share"];
    let Some(spent) = &file.time_spent else { return SheetTable::new("Time spent", heads) };
    let title = format!("Time spent: {} from the start to the results", units::seconds(spent.total_s));
    let mut table = SheetTable::new(title, heads);
    for part in &spent.parts {
        let share = 100.0 * part.seconds / spent.total_s;
        table.push(row![&part.name, TableCell::figure(part.seconds, units::seconds), TableCell::percent(share)]);
    }
    table
}

/// A machine in a line.
pub(crate) fn machine_line(machine: &Machine) -> String {
    let cores = units::counted(u64::from(machine.cores), "core", "cores");
    [machine.processor.clone(), cores, units::bytes(machine.memory_bytes as f64), machine.system.clone()].join(" · ")
}

/// Facts of the rounds: history of the database, trades found in it.
pub(crate) fn round_facts(view: &CaseView<'_>) -> SheetTable {
    let heads = heads![right "round", left "what", left "value"];
    let mut table = SheetTable::new("Run details", heads);
    for (at, round) in view.case.rounds.iter().enumerate() {
        for fact in &round.facts {
            table.push(row![(at + 1).to_string(), &fact.name, &fact.value]);
        }
    }
    table
}

/// Every check with its evidence.
pub(crate) fn checks(view: &CaseView<'_>) -> SheetTable {
    let heads = heads![
        right "round", left "check", left "verdict", left "what must hold", left "source", left "evidence",
        right "took",
    ];
    let mut table = SheetTable::new("Checks of the database", heads);
    for (round, check) in view.checks() {
        let verdict = match check.status {
            CheckStatus::Passed => TableCell::text("passed").tone(Tone::Good),
            CheckStatus::Failed => TableCell::text("FAILED").tone(Tone::Bad),
            CheckStatus::NotApplicable => TableCell::text("not run").tone(Tone::Faint),
        };
        table.push(row![
            round.to_string(),
            &check.name,
            verdict,
            &check.condition,
            &check.source,
            &check.evidence,
            TableCell::figure(check.took_s, units::seconds)
        ]);
    }
    table
}

/// Rules of the specification, and whether they were met.
pub(crate) fn rules_met(view: &CaseView<'_>) -> SheetTable {
    let heads = heads![left "rule", left "verdict", left "demands", left "found"];
    let mut table = SheetTable::new("Compliance: rules of the specification", heads);
    for rule in rules(view) {
        let tone = match rule.status {
            RuleStatus::Yes => Tone::Good,
            RuleStatus::No => Tone::Doubtful,
            RuleStatus::Unknown => Tone::Faint,
        };
        let verdict = TableCell::text(rule.status.name()).tone(tone);
        table.push(row![rule.name, verdict, rule.demands, &rule.found]);
    }
    table
}

/// Results of the tests of steadiness, round by round.
pub(crate) fn steadiness(view: &CaseView<'_>) -> SheetTable {
    let heads = heads![right "round", left "test", left "verdict", left "demands", left "found"];
    let mut table = SheetTable::new("Steady state", heads);
    for (at, round) in view.steadiness().into_iter().enumerate() {
        for test in round.tests {
            let tone = match test.steady {
                Steady::Yes => Tone::Good,
                Steady::No => Tone::Bad,
                Steady::Unknown => Tone::Doubtful,
            };
            table.push(row![
                (at + 1).to_string(),
                test.name,
                TableCell::text(test.steady.name()).tone(tone),
                &test.demands,
                &test.found
            ]);
        }
    }
    table
}

/// The rounds of a search for the highest rate.
pub(crate) fn search(view: &CaseView<'_>) -> SheetTable {
    let heads = heads![
        right "asked", right "result", left "unit", right "measured", right "of its limit, at worst", left "verdict",
        left "why",
    ];
    let mut table = SheetTable::new("The search for the highest rate", heads);
    let Some(search) = &view.case.search else { return table };
    for probe in &search.probes {
        let verdict = match (probe.violations.as_slice(), probe.undetermined.as_slice()) {
            ([], []) => TableCell::text("within limits").tone(Tone::Good),
            ([], _) => TableCell::text("too few to tell").tone(Tone::Doubtful),
            _ => TableCell::text("beyond limits").tone(Tone::Doubtful),
        };
        table.push(row![
            TableCell::figure(probe.rate, units::plain),
            TableCell::figure(probe.reached, units::number),
            &search.unit,
            TableCell::figure(probe.measured_s, units::seconds),
            probe
                .worst_limit_ratio
                .map_or_else(|| TableCell::text("beyond"), |ratio| TableCell::percent(100.0 * ratio)),
            verdict,
            probe.reasons()
        ]);
    }
    table
}

/// Resource usage: processor, memory, storage, locks.
pub(crate) fn resources(view: &CaseView<'_>) -> SheetTable {
    let rounds = &view.case.rounds;
    let total = |of: fn(&Round) -> f64| rounds.iter().map(of).sum::<f64>();
    let measured_s = view.measured_s();
    // An operation's share of a cost, nothing if there was no operation, or none that counts.
    let is_known = view.valid_figure().is_some() && rounds.iter().all(|round| round.usage_late_s.is_none());
    let valid = if is_known { view.headline_count() } else { 0 };
    let per = match (view.case.workload.kind, &view.case.workload.headline_operation) {
        (WorkloadKind::Brokerage, _) => "per TR".to_owned(),
        (WorkloadKind::Micro, Some(name)) if view.operations.len() > 1 => format!("per {}", units::printable(name)),
        (WorkloadKind::Micro, _) => "each".to_owned(),
    };
    let each = |cost: f64, text: fn(f64) -> String| (valid > 0).then(|| format!("{} {per}", text(cost / valid as f64)));
    // A server works for other drivers too, whose operations are not counted here.
    let is_part = rounds.iter().any(Round::is_part_on_server);
    let each_of_server = |cost: f64, text: fn(f64) -> String| each(cost, text).filter(|_| !is_part);
    let rate = |amount: f64| (measured_s > 0.0).then(|| format!("{} a second", units::bytes(amount / measured_s)));
    let join = |parts: &[Option<String>]| parts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    let mut facts: Vec<Fact<'_>> = Vec::new();
    let mut say = |name: &'static str, text: String| {
        if !text.is_empty() {
            facts.push((name, text.into()));
        }
    };

    let (user, system) = (total(|round| round.cpu_user_s), total(|round| round.cpu_system_s));
    let busy =
        view.cores_busy().map(|busy| format!("{} of {} cores busy", units::significant(busy, 3), view.machine().cores));
    let by_both = if view.server_cores_busy().is_some() { "by client and server; the client's " } else { "" };
    let used = format!("{by_both}{} user + {} system", units::seconds(user), units::seconds(system));
    let is_client = rounds.iter().any(|round| round.cost_covers() == CostCovers::Client);
    let is_unknown = is_client && !is_part;
    let whose = if is_unknown { "client's processor time (the server's is not known)" } else { "processor time" };
    say(whose, join(&[busy, Some(used), each((user + system) * 1e9, units::duration_ns)]));
    say("of it the engine's own threads", own_threads(rounds, user + system));
    if let (Some(instructions), Some(counted)) = (view.instructions(), &view.case.instructions) {
        let of = format!("of {} operations, without the harness's own", units::count(counted.operations));
        let by = format!("counted by {}", units::printable(&counted.counted_by));
        say("instructions of an operation", [units::instructions(instructions), of, by].join(", "));
    }

    let peak = |metric: &str, what: &str| view.peak(metric).map(|bytes| format!("{what} {}", units::bytes(bytes)));
    // A server's memory is not this process's.
    let is_here = view.server_cores_busy().is_none();
    let engine = view.peak("engine_memory_bytes").filter(|bytes| *bytes > 0.0 && is_here);
    let engine = engine.map(|bytes| format!("of it the engine's {}", units::bytes(bytes)));
    say("memory, at most", join(&[peak("memory_resident_bytes", "our process"), engine]));
    let swap = view.peak("machine_swap_used_bytes").filter(|bytes| *bytes > 0.0);
    let swap = swap.map(|bytes| format!("swap {}", units::bytes(bytes)));
    say("memory of the machine", join(&[peak("machine_memory_used_bytes", "used at most"), swap]));

    // The client's own reads and writes show nothing of a remote server's.
    let moved =
        [("written", total(|round| round.written_bytes as f64)), ("read", total(|round| round.read_bytes as f64))];
    for (name, bytes) in moved.into_iter().filter(|_| !is_client) {
        say(name, join(&[Some(units::bytes(bytes)), rate(bytes), each(bytes, units::bytes)]));
    }
    // The engine's own counts: exact, and including writes that are still in the file system's cache.
    let kinds = |of: fn(&FileActivity) -> u64| {
        summed(rounds.iter().flat_map(|round| &round.io).map(|file| (file.kind, of(file))))
    };
    let parts = |sums: &[(FileKind, u64)], text: fn(f64) -> String| {
        let used: Vec<_> = sums.iter().filter(|(_, sum)| *sum > 0).collect();
        let named = |(kind, sum): &&(FileKind, u64)| format!("{} {}", kind.name(), text(*sum as f64));
        (used.len() > 1).then(|| used.iter().map(named).collect::<Vec<_>>().join(" + "))
    };
    let syncs = kinds(|file| file.syncs);
    if !syncs.is_empty() {
        let all = syncs.iter().map(|(_, sum)| *sum as f64).sum::<f64>();
        let rate = (measured_s > 0.0).then(|| format!("{} a second", units::number(all / measured_s)));
        let whole = |count: f64| units::count(count as u64);
        let source = rounds.iter().map(|round| &round.io_source).find(|source| !source.is_empty());
        let source = source.map(|source| format!("counted by {}", units::printable(source)));
        let spent = rounds.iter().flat_map(|round| &round.io).map(|file| file.sync_ns).sum::<Option<u64>>();
        let spent = spent.filter(|_| all > 0.0 && measured_s > 0.0).map(|ns| {
            let in_them = units::significant(ns as f64 / 1e9 / measured_s, 3);
            format!("{} for one, {in_them} under way on average", units::duration_ns(ns as f64 / all))
        });
        say(
            "syncs",
            join(&[Some(whole(all)), parts(&syncs, whole), rate, each_of_server(all, units::number), spent, source]),
        );
    }
    for (name, sums) in [
        ("written by the engine", kinds(|file| file.written_bytes)),
        ("read by the engine", kinds(|file| file.read_bytes)),
    ] {
        let all = sums.iter().map(|(_, sum)| *sum as f64).sum::<f64>();
        if all > 0.0 {
            let each = each_of_server(all, units::bytes);
            say(name, join(&[Some(units::bytes(all)), parts(&sums, units::bytes), rate(all), each]));
        }
    }
    if let Some(percent) = view.client_percent() {
        say(
            "the client's share",
            format!("{} of the processor time, the rest is the server's", units::percent(percent)),
        );
    }
    if let Some(busy) = view.server_cores_busy() {
        let busy = format!("{} cores busy, of those above", units::significant(busy, 3));
        let memory =
            view.peak("server_memory_resident_bytes").map(|bytes| format!("at most {} of memory", units::bytes(bytes)));
        if let Some(server) = view.server_use() {
            let (user, system) = (server.cpu_user_s, server.cpu_system_s);
            let used = format!("{} user + {} system", units::seconds(user), units::seconds(system));
            let cost = each_of_server((user + system) * 1e9, units::duration_ns);
            say("the server's process", join(&[Some(busy), Some(used), cost, memory]));
            let written = server.written_bytes as f64;
            let amounts = [Some(units::bytes(written)), rate(written), each_of_server(written, units::bytes)];
            say("written by the server's process", join(&amounts));
        } else {
            // Its use was sampled, not counted over the interval.
            let written =
                view.mean("server_written_bytes").map(|bytes| format!("{} written a second", units::bytes(bytes)));
            say("the server's process", join(&[Some(busy), memory, written]));
        }
    }
    say("database", sizes(rounds));
    for (name, metric) in [("write-ahead log, at most", "log_bytes"), ("rollback journal, at most", "journal_bytes")] {
        let peak =
            rounds.iter().flat_map(|round| values(round, metric)).filter_map(|(_, bytes)| bytes).reduce(f64::max);
        say(name, peak.filter(|bytes| *bytes > 0.0).map(units::bytes).unwrap_or_default());
    }
    let waited =
        view.mean("lock_wait").map(|wait| format!("{} of waiting in each second", units::duration_ns(wait * 1e9)));
    say("locks", join(&[waited, Some(units::counted(view.retries(), "retry", "retries"))]));
    let conflicts = rounds.iter().flat_map(|round| &round.conflicts).map(|it| (it.name.as_str(), it.count));
    let conflicts = summed(conflicts).into_iter().map(|(name, count)| format!("{} × {name}", units::count(count)));
    say("conflicts", conflicts.collect::<Vec<_>>().join(", "));
    let counters = rounds.iter().flat_map(|round| &round.counters).map(|it| (it.name.as_str(), it.count));
    let counters = summed(counters).into_iter().map(|(name, count)| format!("{name} {}", units::count(count)));
    say("counted by the engine itself", counters.collect::<Vec<_>>().join(", "));
    named("Resource usage", facts)
}

/// CPU time of the engine's own threads: as a share of so many seconds of this process, and of the warm-up's, on average.
fn own_threads(rounds: &[Round], process_s: f64) -> String {
    let mut works: Vec<&str> = Vec::new();
    for threads in rounds.iter().flat_map(|round| &round.engine_threads) {
        if !works.contains(&threads.work.as_str()) {
            works.push(&threads.work);
        }
    }
    let percent = |share: f64| format!("{} %", units::significant(share * 100.0, 2));
    let of = |work: &str| {
        let same: Vec<_> =
            rounds.iter().flat_map(|round| &round.engine_threads).filter(|threads| threads.work == work).collect();
        let used: f64 = same.iter().map(|threads| threads.cpu_s).sum();
        let shares: Vec<f64> = same.iter().filter_map(|threads| threads.warm_up_share).collect();
        let share = (process_s > 0.0).then(|| percent(used / process_s));
        let warm_up = (!shares.is_empty())
            .then(|| format!("{} of the warm-up's", percent(shares.iter().sum::<f64>() / shares.len() as f64)));
        let shown: Vec<_> = share.into_iter().chain(warm_up).collect();
        let shown = if shown.is_empty() { String::new() } else { format!(" ({})", shown.join("; ")) };
        format!("{} {}{shown}", units::printable(work), units::seconds(used))
    };
    works.into_iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Sums of the counts of each kind, in the order of first occurrence.
fn summed<K: PartialEq>(counts: impl Iterator<Item = (K, u64)>) -> Vec<(K, u64)> {
    grouped(counts).into_iter().map(|(kind, counts)| (kind, counts.into_iter().sum())).collect()
}

/// The database before and after, round by round.
fn sizes(rounds: &[Round]) -> String {
    let grown = rounds.iter().filter_map(|round| {
        let mut sizes = values(round, "data_bytes").filter_map(|(_, bytes)| bytes);
        let first = sizes.next()?;
        let last = sizes.last().unwrap_or(first);
        Some(format!("{} → {}", units::bytes(first), units::bytes(last)))
    });
    grown.collect::<Vec<_>>().join("; ")
}
