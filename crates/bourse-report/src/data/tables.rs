//! Every table: the meaning of its rows, and each column with its kind, its meaning and its value.

use super::latency::{Bucket, longest, mean, quantile};
use super::table::{DataColumn, DataKind, DataTable, DataValue, data_table};
use crate::view::{CaseView, OperationView, RoleSplit, RuleStatus, ServerTimeSplit, TimePart, warning};
use bourse_record::{
    Check, CheckStatus, Comparison, Estimate, FileActivity, LatencyPhase, MayLose, OutcomeCount, PartOfTime, Probe,
    Round, RunFile, StatementFigures, SteadyTest, Warning, WorkloadKind,
};

const RUN: DataColumn =
    key("run", DataKind::Count, "Number of the run among those exported, from 1: its row in `runs`");
const CASE: DataColumn = key("case_label", DataKind::Text, "Label of the case, unique in its run: its row in `cases`");
const ROUND: DataColumn = key("round", DataKind::Count, "Number of the round in its case, from 1: its row in `rounds`");
const OPERATION: DataColumn = key("operation", DataKind::Text, "Name of the operation, or transaction");
const CLOCK: DataColumn = key(
    "clock",
    DataKind::Text,
    "`response`: from the moment it was due; `service`: from its start, without waiting for a client; `failed_response` and \
     `failed_service`: those of failed operations",
);

const fn key(name: &'static str, kind: DataKind, meaning: &'static str) -> DataColumn {
    DataColumn { name, kind, meaning }
}

data_table! {
    "A run: when, how and on what it was measured."
    Runs "runs" [RUN] (run: &RunFile) {
        name: Text, "`tpce`, `micro-` and its workload, `quick`, `compare` or the name of a suite" => run.name.as_str();
        started_at: Text, "When it began: RFC 3339 with the machine's offset" => run.provenance.started_at.as_str();
        command: Text, "How to run it again" => crate::units::command_line(&run.provenance.command);
        seed: Text, "Seed of all random sequences" => run.provenance.seed.to_string();
        is_interrupted: Flag, "Whether it was ended before its time" => run.interrupted;
        revision: Text, "Revision of what was measured, if one was given" => run.provenance.revision.as_deref();
        bourse_version: Text, "Version of Bourse" => run.provenance.build.version.as_str();
        bourse_commit: Text, "Commit of Bourse's sources; empty where it is not known"
            => run.provenance.build.commit.as_deref();
        bourse_profile: Text, "`release` or `debug`" => run.provenance.build.profile.as_str();
        bourse_target: Text, "Platform that Bourse was compiled for" => run.provenance.build.target.as_str();
        system: Text, "Operating system with kernel release" => run.provenance.machine.system.as_str();
        processor: Text, "Processor model" => run.provenance.machine.processor.as_str();
        cores: Count, "Processors that Bourse may use" => run.provenance.machine.cores;
        memory_bytes: Count, "Memory of the machine" => run.provenance.machine.memory_bytes;
        load_average: Real, "Load average over one minute when the run began" => run.provenance.machine.load_average;
        harness_ns: Real, "CPU time that the harness takes by itself for an operation, calibrated before the run"
            => run.provenance.machine.harness_ns;
        notice: Text, "Notice that has to stand wherever the figures are shown" => crate::view::notices(run).join(" ");
    }
}

data_table! {
    "A case: one workload on one target with one set of settings, with its result over all rounds."
    Cases "cases" [RUN, CASE] (view: &CaseView<'_>) {
        workload: Text, "Name of the workload" => view.case.workload.name.as_str();
        engine: Text, "Engine with its build variant" => view.case.engine.name.as_str();
        engine_version: Text, "The engine's own version" => view.case.engine.version.as_str();
        target: Text, "Target as given, without secrets" => view.case.engine.target.as_str();
        durability: Text, "What an acknowledged commit survives: `volatile`, `process`, `consistent` or `durable`"
            => view.case.engine.durability.name();
        may_lose: Text, "What may be lost of acknowledged commits: by power loss in the class `consistent`, with the process in `process`"
            => view.case.engine.may_lose.map(MayLose::name);
        durability_reason: Text, "Settings that the class follows from" => view.case.engine.durability_reason.as_str();
        users: Count, "Users, each with its own session" => view.conditions().users;
        customers: Count, "Configured customers of the database" => view.conditions().scale.map(|it| it.customers);
        initial_days: Count, "Days of initial trades of the database"
            => view.conditions().scale.map(|it| it.initial_days);
        requested_rate_per_s: Real, "Headline operations a second that were asked for; empty in closed loops"
            => view.conditions().requested_rate;
        round_count: Count, "Rounds that count" => view.case.rounds.len();
        measured_s: Real, "Seconds measured, over all rounds" => view.measured_s();
        standing: Text, "`counts`, `not confirmed` (a search found no rate), `void` (a check failed, or a round has no figure) or `nothing measured`"
            => view.validity().name();
        result: Real, "Headline figure, in `result_unit`; empty unless it counts" => view.valid_figure();
        result_unit: Text, "Unit of the headline figure" => view.unit();
        result_low: Real, "Lower end of its interval" => interval(view).map(|it| it.low);
        result_high: Real, "Upper end of its interval" => interval(view).map(|it| it.high);
        interval_level: Real, "Probability with which such intervals hold the true figure"
            => interval(view).map(|it| it.level);
        trade_results_per_s: Real, "Valid Trade-Results a second, of the brokerage workload"
            => view.results_per_second().filter(|_| view.case.workload.kind == WorkloadKind::Brokerage);
        failed: Count, "Operations that failed" => view.failed();
        retries: Count, "Retries after lock conflicts" => view.retries();
        instructions_per_operation: Real, "Instructions of a headline operation in user mode, in counts of their own, without the harness's; empty unless they were counted"
            => view.instructions();
        instructions_counted_by: Text, "Counter of the instructions: `processor`, or the version of valgrind"
            => view.case.instructions.as_ref().map(|it| it.counted_by.as_str());
        cpu_ns_per_operation: Real, "CPU time for each valid headline operation, a server's included; empty where the server cannot be looked at, or works for other drivers too"
            => view.cost().and_then(|it| it.cpu_ns);
        own_cpu_ns_per_operation: Real, "Of it that of Bourse's process: the client's, and the engine's where that works in it"
            => view.cost().and_then(|it| it.own_cpu_ns);
        server_cpu_ns_per_operation: Real, "Of it that of the server's process; empty without one, where it cannot be looked at, and in a part of shared rounds"
            => view.cost().and_then(|it| it.server_cpu_ns);
        cost_covers: Text, "Processes whose CPU time and bytes are known: `process` (Bourse's, which the engine works in), \
            `client_and_server`, or `client` (Bourse's alone: the server's cannot be looked at, or is that of other drivers too)"
            => view.cost().map(|it| it.covers.name());
        written_bytes_per_operation: Real, "Bytes written to storage for each valid headline operation, as the CPU time"
            => view.cost().and_then(|it| it.written_bytes);
        server_counted_bytes_per_operation: Real, "Bytes written by the server for each valid headline operation, by its own count; empty where it has none"
            => view.cost().and_then(|it| it.server_counted_bytes);
        syncs_per_operation: Real, "Syncs for each valid headline operation; empty where the engine cannot say"
            => view.cost().and_then(|it| it.syncs);
        checks_passed: Count, "Checks that passed" => view.checks_that(CheckStatus::Passed);
        checks_failed: Count, "Checks that failed" => view.checks_that(CheckStatus::Failed);
        bottleneck: Text, "What kept the figure from being higher" => view.limited_by().map(|it| it.sentence());
    }
}

data_table! {
    "The comparison of a run of two targets in interleaved rounds, as `bourse compare` decided it."
    Comparisons "comparisons" [RUN] (it: &Comparison) {
        base_label: Text, "Label of the case that is compared with: A" => it.base.as_str();
        head_label: Text, "Label of the case that is compared: B" => it.head.as_str();
        ratio: Real, "Figure of B divided by that of A: the Hodges-Lehmann estimate over the pairs of rounds" => it.ratio;
        ratio_low: Real, "Lower end of its interval" => it.interval.map(|[low, _]| low);
        ratio_high: Real, "Upper end of its interval" => it.interval.map(|[_, high]| high);
        interval_level: Real, "Level of the interval" => it.level;
        decided_by: Text, "`instructions` or `figure`: what decided" => if it.by_instructions { "instructions" } else { "figure" };
        tolerance: Real, "Part of one by which B may be slower" => it.tolerance;
        verdict: Text, "Verdict: [every input of the gate](gate.md) lists them" => word(&it.verdict);
    }
}

data_table! {
    "A statement in an operation of a case, over all its rounds, if statements were timed."
    Statements "statements" [RUN, CASE, OPERATION] (it: &StatementFigures) {
        statement: Text, "Text of the statement; `BEGIN`, `COMMIT` and `ROLLBACK` for calls that are no statements of the workload"
            => it.statement.as_str();
        calls: Count, "Calls in the measurement intervals" => it.calls();
        failed: Count, "Calls that returned an error" => it.failed;
        rows: Count, "Rows returned or changed by all calls" => it.rows;
        total_ns: Real, "Time of all calls" => it.total_ns();
        mean_ns: Real, "Time of a call, mean" => it.service.summary.mean_ns;
        p50_ns: Count, "Time of a call, median" => it.service.summary.p50_ns;
        p99_ns: Count, "Time of a call, 99th percentile" => it.service.summary.p99_ns;
        max_ns: Count, "Time of a call, longest" => it.service.summary.max_ns;
        scanned_rows: Count, "Rows stepped over in scans of whole tables, by the engine's counter; empty if it has none"
            => it.work.map(|work| work.scanned_rows);
        sorts: Count, "Sorts of rows that no index had in order, as before" => it.work.map(|work| work.sorts);
        automatic_index_rows: Count, "Rows put into indexes made for one run of the statement, as before"
            => it.work.map(|work| work.automatic_index_rows);
        instructions: Count, "Instructions of the engine's virtual machine, as before" => it.work.map(|work| work.instructions);
        plan: Text, "Plan, with line feeds between its steps; empty where the engine shows none" => it.plan.join("\n");
    }
}

data_table! {
    "An operation of a case, over all its rounds. A quantile is empty where fewer than ten operations are expected beyond it, or \
     where it is one that failed or never started."
    Operations "operations" [RUN, CASE, OPERATION] (view: &CaseView<'_>, it: &OperationView) {
        count: Count, "Operations that ended in the measurement intervals" => it.ended();
        rate_per_s: Real, "Valid ones a second" => rate(it.valid(), view.measured_s());
        mix_percent: Real, "Share of the mix" => it.share_percent;
        mix_target_percent: Real, "Share that it should have" => it.expected_percent.or(it.target_percent);
        response_mean_ns: Real, "Response time, mean" => mean(&it.response);
        response_p50_ns: Count, "Response time, median" => quantile(&it.response, 0.5);
        response_p90_ns: Count, "Response time, 90th percentile" => quantile(&it.response, 0.9);
        response_p95_ns: Count, "Response time, 95th percentile" => quantile(&it.response, 0.95);
        response_p99_ns: Count, "Response time, 99th percentile" => quantile(&it.response, 0.99);
        response_p999_ns: Count, "Response time, 99.9th percentile" => quantile(&it.response, 0.999);
        response_max_ns: Count, "Response time, longest" => longest(&it.response);
        service_min_ns: Count, "Service time, shortest" => it.service.known().map(|it| it.min_ns);
        service_mean_ns: Real, "Service time, mean" => mean(&it.service);
        service_p50_ns: Count, "Service time, median" => quantile(&it.service, 0.5);
        service_p90_ns: Count, "Service time, 90th percentile" => quantile(&it.service, 0.9);
        service_p95_ns: Count, "Service time, 95th percentile" => quantile(&it.service, 0.95);
        service_p99_ns: Count, "Service time, 99th percentile" => quantile(&it.service, 0.99);
        service_p999_ns: Count, "Service time, 99.9th percentile" => quantile(&it.service, 0.999);
        service_max_ns: Count, "Service time, longest" => longest(&it.service);
        slower: Count, "Operations without a time that count as slower than all others: failed, dropped or never started"
            => it.response.slower;
        clamped: Count, "Times longer than the histogram's range, counted at its end" => it.response.clamped + it.service.clamped;
        timed_together: Real, "Operations timed together, on average, where short ones are timed in batches" => it.batch;
        timed_one_in: Real, "Of how many one was timed, where the others were only counted" => it.one_in;
        harness_overhead_ns: Real, "What the harness itself takes of one; given for short ones" => it.harness_overhead_ns;
        limit_ns: Count, "90 % must be answered within this time" => it.limit_ns;
        is_limit_kept: Flag, "Whether they were" => it.limit_kept();
        late: Count, "Completed later than the limit" => it.late;
        completed: Count, "Completed as expected" => it.completed;
        warned: Count, "Completed with a warning of the workload" => it.warned;
        rolled_back: Count, "Rolled back as designed" => it.rolled_back;
        too_few_rows: Count, "Found less than a full-sized database would hold" => it.too_few_rows;
        failed: Count, "Failed" => it.failed;
        dropped: Count, "Never started, because the backlog was full" => it.dropped;
        retries: Count, "Retries after lock conflicts" => it.retries;
        round_trips_per_operation: Real, "How often one waited for a server's answer, on average; empty without a server" => it.round_trips;
        under_way: Count, "Under way when an interval ended: their times are in quantiles and maxima, and no count has them"
            => it.under_way.map(|it| it.count);
        under_way_failed: Count, "Of them, those that failed" => it.under_way.map(|it| it.failed);
        under_way_unended: Count, "Of them, those whose end is not known" => it.under_way.map(|it| it.unended);
        under_way_longest_ns: Count, "The longest of them" => it.under_way.map(|it| it.longest_ns);
        server_mean_ns: Real, "Time in an application server, mean; empty without one" => behind(it, |it| mean(&it.server));
        server_p90_ns: Count, "Time in it, 90th percentile" => behind(it, |it| quantile(&it.server, 0.9));
        engine_mean_ns: Real, "Of it that of the engine, mean" => behind(it, |it| mean(&it.engine));
        engine_p90_ns: Count, "Of it that of the engine, 90th percentile" => behind(it, |it| quantile(&it.engine, 0.9));
        network_mean_ns: Real, "Time in the network, mean" => behind(it, |it| mean(&it.network));
        network_p50_ns: Count, "Time in the network, median" => behind(it, |it| quantile(&it.network, 0.5));
        network_p90_ns: Count, "Time in the network, 90th percentile" => behind(it, |it| quantile(&it.network, 0.9));
        network_p99_ns: Count, "Time in the network, 99th percentile" => behind(it, |it| quantile(&it.network, 0.99));
        network_max_ns: Count, "Time in the network, longest" => behind(it, |it| longest(&it.network));
    }
}

data_table! {
    "A quantile of an operation's response times over the rounds of a case; from six rounds on."
    Quantiles "quantiles" [RUN, CASE, OPERATION] (quantile: f64, it: &Estimate) {
        percentile: Real, "From 0 to 100" => 100.0 * quantile;
        value_ns: Real, "The time that so many percent took at most, as estimated over the rounds" => it.value;
        value_low_ns: Real, "Lower end of its interval" => it.interval.map(|it| it.low);
        value_high_ns: Real, "Upper end of its interval" => it.interval.map(|it| it.high);
        interval_level: Real, "Level of the interval" => it.interval.map(|it| it.level);
    }
}

data_table! {
    "A figure of a case by that of the first case of the same workload, unit and durability class in its run."
    Ratios "ratios" [RUN, CASE] (metric: &str, it: &Estimate) {
        metric: Text, "`result`, `response_p90` or `response_p99`" => metric;
        ratio: Real, "The ratio: the estimate over the pairs of rounds" => it.value;
        ratio_low: Real, "Lower end of its interval" => it.interval.map(|it| it.low);
        ratio_high: Real, "Upper end of its interval" => it.interval.map(|it| it.high);
        interval_level: Real, "Level of the interval, so that all of a run hold together" => it.interval.map(|it| it.level);
    }
}

data_table! {
    "A round of a case. Rounds that others disturbed and that were repeated have no number."
    Rounds "rounds" [RUN, CASE, ROUND] (view: &CaseView<'_>, round: &Round, is_repeated: bool) {
        is_repeated: Flag, "Whether it was disturbed and repeated: no part of any figure" => is_repeated;
        offset_s: Real, "Seconds from the run's beginning to the round's" => round.offset_s;
        measured_s: Real, "Length of the measurement interval" => round.measured_s;
        result: Real, "Headline figure of the round, in the case's `result_unit`; empty if the case is void"
            => (view.validity().has_rounds() && round.measured_s > 0.0).then(|| view.figure_of(round));
        void: Text, "Why the round has no figure" => round.void.as_deref();
        cpu_user_s: Real, "CPU time of Bourse's process in user mode, in the measurement interval" => round.cpu_user_s;
        cpu_system_s: Real, "CPU time of Bourse's process in the kernel" => round.cpu_system_s;
        read_bytes: Count, "Bytes that Bourse's process caused to be read from storage" => round.read_bytes;
        written_bytes: Count, "Bytes that Bourse's process caused to be written to storage" => round.written_bytes;
        server_cpu_user_s: Real, "CPU time of the server's process in user mode"
            => round.server.map(|it| it.cpu_user_s);
        server_cpu_system_s: Real, "CPU time of the server's process in the kernel"
            => round.server.map(|it| it.cpu_system_s);
        server_read_bytes: Count, "Bytes that the server's process caused to be read from storage"
            => round.server.map(|it| it.read_bytes);
        server_written_bytes: Count, "Bytes that the server's process caused to be written to storage"
            => round.server.map(|it| it.written_bytes);
        taken_cpus: Real, "CPUs that others took for certain, on average" => round.interference.map(|_| round.cpus_taken());
        slowdown: Real, "90th percentile of a fixed CPU loop after the round, as a multiple of its best time in the run"
            => round.slowdown;
        due: Count, "Operations that a schedule made due; empty in closed loops" => round.arrivals.map(|it| it.due);
        started: Count, "Of them, those that were started" => round.arrivals.map(|it| it.started);
        market_age_s: Real, "Age of the emulated market when the interval began" => round.market_age_s;
    }
}

data_table! {
    "An operation of a round: what statistics over rounds need."
    RoundOperations "round_operations" [RUN, CASE, ROUND, OPERATION] (round: &Round, it: &OperationView) {
        count: Count, "Operations that ended in the measurement interval" => it.ended();
        rate_per_s: Real, "Valid ones a second" => rate(it.valid(), round.measured_s);
        failed: Count, "Failed" => it.failed;
        retries: Count, "Retries after lock conflicts" => it.retries;
        round_trips_per_operation: Real, "How often one waited for a server's answer, on average; empty without a server" => it.round_trips;
        response_mean_ns: Real, "Response time, mean" => mean(&it.response);
        response_p50_ns: Count, "Response time, median" => quantile(&it.response, 0.5);
        response_p90_ns: Count, "Response time, 90th percentile" => quantile(&it.response, 0.9);
        response_p99_ns: Count, "Response time, 99th percentile" => quantile(&it.response, 0.99);
        response_p999_ns: Count, "Response time, 99.9th percentile" => quantile(&it.response, 0.999);
        response_max_ns: Count, "Response time, longest" => longest(&it.response);
        service_mean_ns: Real, "Service time, mean" => mean(&it.service);
        service_p50_ns: Count, "Service time, median" => quantile(&it.service, 0.5);
        service_p99_ns: Count, "Service time, 99th percentile" => quantile(&it.service, 0.99);
    }
}

data_table! {
    "An operation at a part of the rate that was reached, asked for after the rounds: what a customer waits. Without rows where that \
     was not measured, or where less than 99 % of what was due was started."
    Waits "waits" [RUN, CASE, OPERATION] (phase: &LatencyPhase, it: &OperationView) {
        rate_percent: Real, "Part of the rate that was asked for" => 100.0 * phase.part;
        requested_rate_per_s: Real, "Operations of all customers a second that were asked for" => phase.per_second;
        count: Count, "Operations that ended in the measurement intervals" => it.ended();
        response_mean_ns: Real, "Response time, mean" => mean(&it.response);
        response_p50_ns: Count, "Response time, median" => quantile(&it.response, 0.5);
        response_p90_ns: Count, "Response time, 90th percentile" => quantile(&it.response, 0.9);
        response_p95_ns: Count, "Response time, 95th percentile" => quantile(&it.response, 0.95);
        response_p99_ns: Count, "Response time, 99th percentile" => quantile(&it.response, 0.99);
        response_p999_ns: Count, "Response time, 99.9th percentile" => quantile(&it.response, 0.999);
        response_max_ns: Count, "Response time, longest" => longest(&it.response);
    }
}

data_table! {
    "An outcome of an operation, by status code."
    Outcomes "outcomes" [RUN, CASE, OPERATION] (it: &OutcomeCount) {
        outcome: Text, "`completed`, `warned`, `rolled_back`, `too_few_rows`, `failed` or `dropped`" => word(&it.outcome);
        status_code: Count, "The workload's status code; 0 where it has none" => it.code;
        count: Count, "Operations that ended so" => it.count;
        meaning: Text, "What the status code means" => it.meaning.as_deref();
        example: Text, "An example in words, for failures" => it.example.as_deref();
    }
}

data_table! {
    "A percentile of an operation's times, over all rounds; without those that are not known."
    Percentiles "percentiles" [RUN, CASE, OPERATION, CLOCK] (percentile: f64, ns: u64) {
        percentile: Real, "From 0 to 100" => percentile;
        value_ns: Count, "The time that so many percent took at most" => ns;
    }
}

data_table! {
    "A bucket of an operation's histogram of times, over all rounds; empty buckets are left out."
    Histograms "histograms" [RUN, CASE, OPERATION, CLOCK] (it: &Bucket) {
        from_ns: Count, "Shortest time of the bucket" => it.from_ns;
        to_ns: Count, "Longest time of the bucket" => it.to_ns;
        count: Count, "Operations in it" => it.count;
    }
}

data_table! {
    "A value of a metric at a moment of a round."
    SeriesRows "series" [RUN, CASE, ROUND] (series: &str, time_s: f64, phase: &str, metric: &str, value: Option<f64>) {
        series: Text, "`second`: once a second; `fine`: sizes of logs and journals in short steps, the largest of each; \
            `throughput`: completions ten times a second" => series;
        time_s: Real, "End of the row's interval, in seconds since the round began" => time_s;
        phase: Text, "`warm_up`, `measurement` or `drain`" => phase;
        metric: Text, "Name of the metric" => metric.split('.').next().unwrap_or(metric);
        operation: Text, "Operation that the metric is of; empty where it is of all"
            => metric.split_once('.').map(|(_, operation)| operation);
        unit: Text, "Unit of the value" => bourse_record::metric(metric).map(|it| it.unit);
        value: Real, "The value; empty where there was nothing to measure" => value;
    }
}

data_table! {
    "A check of a round: of the database, or of the figures against the driver's own count."
    Checks "checks" [RUN, CASE, ROUND] (it: &Check) {
        check_name: Text, "Short name" => it.name.as_str();
        status: Text, "`passed`, `failed` or `not_applicable`" => word(&it.status);
        demanded: Text, "The condition, as a sentence" => it.condition.as_str();
        source: Text, "Where it is demanded: a clause, or an invariant of Bourse" => it.source.as_str();
        evidence: Text, "What was found: counts, offending rows" => it.evidence.as_str();
        took_s: Real, "Time that the check took" => it.took_s;
    }
}

data_table! {
    "A test of the steady state of a round."
    SteadyTests "steadiness" [RUN, CASE, ROUND] (it: &SteadyTest) {
        test_name: Text, "Short name" => it.name;
        demands: Text, "What it demands" => it.demands.as_str();
        status: Text, "`steady`, `not steady` or `undetermined`" => it.steady.name();
        found: Text, "What was found" => it.found.as_str();
    }
}

data_table! {
    "A fact about a round, as the number of trades in the database at its start."
    Facts "facts" [RUN, CASE, ROUND] (name: &str, value: &str) {
        name: Text, "Name; `conflict: `, `engine counter: ` and `CPU seconds of the engine's threads: ` begin those of the engine" => name;
        value: Text, "Value" => value;
    }
}

data_table! {
    "A part of the time of a run, from its start to its results."
    TimeSpent "time_spent" [RUN] (it: &PartOfTime) {
        part: Text, "Activity" => it.name.as_str();
        time_s: Real, "Duration, over all rounds" => it.seconds;
    }
}

data_table! {
    "A setting of a case."
    Settings "settings" [RUN, CASE] (kind: &str, name: &str, value: &str) {
        kind: Text, "`engine`: read back from the engine; `compile_option`: of the engine; `workload`: options of the workload, \
            and what it ran with; `machine`: machine and program; `varied`: what a sweep or search varied" => kind;
        name: Text, "Name" => name;
        value: Text, "Value, as a person reads it" => value;
    }
}

data_table! {
    "A rule of the specification that a brokerage case is held against."
    Rules "rules" [RUN, CASE] (name: &str, demands: &str, status: RuleStatus, found: &str) {
        rule_name: Text, "Short name" => name;
        demands: Text, "What it demands" => demands;
        status: Text, "`met`, `not met` or `unknown`" => status.name();
        found: Text, "What was found" => found;
    }
}

data_table! {
    "What the engine asked of the file system in a round's measurement interval, by kind of file."
    Files "files" [RUN, CASE, ROUND] (it: &FileActivity) {
        file_kind: Text, "`database`, `log`, `journal`, `temporary` or `data_and_log`" => word(&it.kind);
        syncs: Count, "Syncs" => it.syncs;
        sync_ns: Count, "Time in them, all users' added up; empty where the engine does not take it" => it.sync_ns;
        writes: Count, "Writes" => it.writes;
        written_bytes: Count, "Bytes they wrote" => it.written_bytes;
        reads: Count, "Reads" => it.reads;
        read_bytes: Count, "Bytes they read" => it.read_bytes;
    }
}

data_table! {
    "A part of the time of one kind of user, over all rounds. The parts of a kind add up to 100 %."
    TimeSplit "time_split" [RUN, CASE] (role: &RoleSplit, part: TimePart) {
        user_kind: Text, "Kind of user" => role.role.as_str();
        threads: Count, "Their threads in a round" => role.threads;
        part: Text, "Where the time went" => part.key();
        share_percent: Real, "Share of their time" => 100.0 * role.share(part);
        time_s: Real, "Seconds of all their threads" => role.seconds(part);
    }
}

data_table! {
    "A warning about the figures."
    Warnings "warnings" [RUN, CASE, ROUND] (it: &Warning) {
        warning_code: Text, "Code that tells warnings apart" => code(it);
        text: Text, "The warning, with its advice" => warning(it);
    }
}

data_table! {
    "A round of a search for the highest rate."
    Probes "probes" [RUN, CASE] (it: &Probe) {
        requested_rate_per_s: Real, "Rate asked for" => it.rate;
        reached_rate_per_s: Real, "Rate reached" => it.reached;
        measured_s: Real, "Seconds measured" => it.measured_s;
        worst_limit_ratio: Real, "The worst of the limited quantiles, as a share of its limit" => it.worst_limit_ratio;
        violations: Text, "Why it did not keep every limit, or was too short to tell; empty if it did" => it.reasons();
    }
}

data_table! {
    "A column of a table of this export."
    Columns "columns" [] (table: &DataTable, column: &DataColumn) {
        table_name: Text, "Name of the table" => table.name;
        column_name: Text, "Name of the column, with its unit last" => column.name;
        kind: Text, "`text`, `integer`, `real` or `boolean`" => column.kind.name();
        meaning: Text, "What it holds" => column.meaning;
    }
}

data_table! {
    "A table of this export."
    Tables "tables" [] (table: &DataTable) {
        table_name: Text, "Name of the table" => table.name;
        row_count: Count, "Number of its rows" => table.rows.len();
        meaning: Text, "What a row is" => table.meaning;
    }
}

/// The interval of the headline, if it counts.
fn interval(view: &CaseView<'_>) -> Option<bourse_record::Interval> {
    view.valid_figure()?;
    view.estimate()?.interval
}

fn rate(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| count as f64 / seconds)
}

/// Part of the time of an operation that an application server performed; `None` without a server.
fn behind<T>(it: &OperationView, of: impl Fn(&ServerTimeSplit) -> Option<T>) -> Option<T> {
    it.server.as_ref().and_then(of)
}

/// A word of the run file's own, as `rolled_back`.
pub(super) fn word(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// Code of a warning in the run file.
fn code(warning: &Warning) -> Option<String> {
    serde_json::to_value(warning).ok()?.get("code")?.as_str().map(str::to_owned)
}
