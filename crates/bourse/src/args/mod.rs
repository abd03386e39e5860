//! Arguments of the command line. Most options can also be set in the environment as `BOURSE_…`; the command line wins.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

mod bisect;
mod classic;
mod crash;
mod documents;
mod faults;
mod history;
mod isolation;
mod memory;
mod mix;
pub(crate) mod numbers;
mod record;
mod serve;
mod tpce;
mod tune;
mod versions;
mod workload;

pub(crate) use bisect::BisectArgs;
pub(crate) use classic::{ConductArgs, MicroCommand, MicroInit, MicroRun, SuiteCommand, SuiteRun, TimingMode};
pub(crate) use crash::{CrashArgs, CrashCases, CrashPart};
pub(crate) use documents::{CsvCells, EnginesArgs, ReportArgs, SchemaDocument, TableFormat};
pub(crate) use faults::{FaultWork, FaultsArgs};
pub(crate) use history::{DATA_FOLDER, DataCommand, RunsCommand, WatchArgs};
pub(crate) use isolation::IsolationArgs;
pub(crate) use memory::MemoryArgs;
pub(crate) use mix::{MixAcidArgs, MixCommand, MixDatabase, MixRun, MixVerify, OltpRun};
pub(crate) use record::{RecordArgs, RecordCommand, ReplayArgs};
pub(crate) use serve::{DriverArgs, SERVE_CODES, ServerArgs};
pub(crate) use tpce::{
    AcidLoad, AcidOptions, ArrivalsArg, CheckDepth, DurabilityClass, GenFormat, LoadArgs, MarketAge, RunSettings,
    ServeArgs, TpceAcid, TpceCheck, TpceCommand, TpceGen, TpceRun, TpceVerify, VerifySettings,
};
pub(crate) use tune::TuneArgs;
pub(crate) use versions::VersionsArgs;
pub(crate) use workload::{CountedWorkArgs, WorkloadArgs};

use bourse_record::PageCache;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Last line of the program's help.
const PROGRAMS: &str = "bourse help --json [COMMAND] prints the same for programs: commands, options, exit codes, and a command \
for each question.";

/// Benchmark embedded and in-memory databases with a TPC-E-derived workload and classic micro-workloads.
#[derive(Debug, Parser)]
#[command(name = "bourse", version = crate::provenance::VERSION, propagate_version = true, arg_required_else_help = true, max_term_width = 100, after_help = PROGRAMS)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Revision of what is measured, such as a commit of the engine: stored with the results, and shown in their history
    #[arg(long, global = true, hide_short_help = true, value_name = "REV", env = "BOURSE_REVISION")]
    pub(crate) revision: Option<String>,
    /// Interval of progress lines about a running step, if stderr is no terminal; 0s prints none
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "TIME",
        value_parser = numbers::duration,
        default_value = "10s",
        env = "BOURSE_PROGRESS"
    )]
    pub(crate) progress: Duration,
    /// Wait until another command that uses the database has ended, at most so long if a time is given, instead of ending with
    /// exit code 2
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "TIME",
        value_parser = numbers::duration,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "365d",
        env = "BOURSE_WAIT"
    )]
    pub(crate) wait: Option<Duration>,
    /// Time limit for connecting a session to a server: to be reached, and to answer first
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "TIME",
        value_parser = numbers::call_limit,
        default_value = "10s",
        env = "BOURSE_CONNECT_LIMIT"
    )]
    pub(crate) connect_limit: Duration,
}

impl Arguments {
    /// The command line. The help of commands that open no database leaves out the options of those that do.
    pub(crate) fn shown() -> clap::Command {
        const OF_RUNS: [&str; 4] = ["revision", "progress", "wait", "connect_limit"];
        let plain = |command: clap::Command| {
            command.mut_args(|it| if OF_RUNS.contains(&it.get_id().as_str()) { it.hide(true) } else { it })
        };
        let mut command = Self::command();
        // Options of every command are added to each as it is built.
        command.build();
        command
            .mut_subcommand("runs", |runs| plain(runs.mut_subcommands(plain)))
            .mut_subcommand("data", |data| data.mut_subcommand("ls", plain))
    }

    /// Arguments matched by clap, with the ids of the options that were set explicitly for commands that use them.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::from_arg_matches(matches)?;
        let mut of_command = matches;
        while let Some((_, within)) = of_command.subcommand() {
            of_command = within;
        }
        let given = GivenOptions::of(of_command);
        let is_cold = matches!(of_command.try_get_one("cache"), Ok(Some(PageCache::Cold)));
        let warms_up = matches!(of_command.try_get_one::<Duration>("warmup"), Ok(Some(time)) if !time.is_zero());
        if is_cold && warms_up && given.given("warmup") {
            let why = "--warmup cannot be used with --cache cold: a round begins cold, and a warm-up would end that";
            return Err(Self::command().error(clap::error::ErrorKind::ArgumentConflict, why));
        }
        match &mut arguments.command {
            Command::Tatp(MixCommand::Run(run)) | Command::Tpcc(MixCommand::Run(run)) => run.given = given,
            Command::Tatp(MixCommand::Serve(serve)) | Command::Tpcc(MixCommand::Serve(serve)) => serve.given = given,
            Command::Tpce(TpceCommand::Run(run)) => run.given = given,
            Command::Tpce(TpceCommand::Acid(acid)) => acid.given = given,
            Command::Crash(crash) => crash.given = given,
            Command::Tpce(TpceCommand::Serve(serve)) => serve.given = given,
            Command::Compare(compare) => compare.given = given,
            Command::Tune(tune) => tune.work.given = given,
            Command::Bisect(bisect) => bisect.work.of.given = given,
            Command::Versions(versions) => versions.work.of.given = given,
            _ => {}
        }
        Ok(arguments)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run, load, check and verify the brokerage workload derived from TPC-E
    #[command(subcommand)]
    Tpce(TpceCommand),
    /// Run, load, check and verify TATP: short transactions on a register of subscribers
    #[command(subcommand, mut_subcommands(mix::of_tatp))]
    Tatp(MixCommand),
    /// Run, load, check and verify the order-entry workload derived from TPC-C
    #[command(subcommand, mut_subcommands(mix::of_tpcc))]
    Tpcc(MixCommand),
    /// Run microbenchmarks: point reads, bulk loads, updates and others
    #[command(subcommand)]
    Micro(MicroCommand),
    /// Test what survives a killed process and a power loss, for each durability setting
    Crash(CrashArgs),
    /// Inject I/O errors while engines work, and test what they report and what they lose
    Faults(FaultsArgs),
    /// Work on a database while faults are injected: started by `bourse faults`
    #[command(hide = true)]
    FaultWork(FaultWork),
    /// Work on a database while its file operations are recorded: started by `bourse crash`
    #[command(hide = true)]
    CrashWork {
        /// Work to do, as JSON
        work: String,
    },
    /// Record histories of transactions, and find what isolation engines really give, and at what cost
    Isolation(Box<IsolationArgs>),
    /// Record what any program does with SQLite, as a trace that can be replayed
    Record(RecordArgs),
    /// Replay a recording with other settings, another SQLite or another engine, and compare its results with those recorded
    Replay(Box<ReplayArgs>),
    /// Rerun published experiments and show your figures next to theirs
    #[command(subcommand)]
    Suite(SuiteCommand),
    /// Compare every available in-process engine in short rounds, in a few minutes
    Quick(QuickArgs),
    /// Run a command with options from a TOML file
    Run(FromFile),
    /// Compare two stored runs, or two targets in interleaved rounds
    Compare(Box<CompareArgs>),
    /// Find the settings of a target that make a workload fastest, and prove them on fresh rounds and by crashes
    Tune(Box<TuneArgs>),
    /// Compare versions of an engine, from libraries that are built from their sources: ten years of SQLite in one chart
    Versions(Box<VersionsArgs>),
    /// Find the commit of a working tree that changed speed, instructions or a plan
    Bisect(Box<BisectArgs>),
    /// Run one round that stdin describes: for the program itself
    #[command(hide = true)]
    Round,
    /// Draw the report of stored runs, or an index of all runs in a folder
    Report(ReportArgs),
    /// Follow an unfinished run, from another terminal or in a browser
    Watch(WatchArgs),
    /// List, show, compare and remove stored runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// List, remove and adopt the databases that runs left
    #[command(subcommand)]
    Data(DataCommand),
    /// List the engines and whether they are available, or the options of one
    Engines(EnginesArgs),
    /// Print a completion script for a shell
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Folder to write the pages to
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Replace existing files even if Bourse did not make them
        #[arg(long)]
        overwrite: bool,
    },
    /// Print the JSON Schema of run files or of another document
    Schema {
        /// Document to describe
        #[arg(value_enum, default_value_t = SchemaDocument::Run)]
        document: SchemaDocument,
    },
}

/// Options of the database: its size and its input data.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Database")]
pub(crate) struct DatabaseArgs {
    /// Number of customers, a multiple of 1,000, for example 5000 or 5k
    #[arg(long, value_name = "N", default_value_t = Self::CUSTOMERS, value_parser = numbers::customers, env = "BOURSE_CUSTOMERS")]
    pub(crate) customers: u64,
    /// Days of initial trades
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = numbers::days, env = "BOURSE_DAYS")]
    pub(crate) days: u32,
    /// TPC-E scale factor: customers per TR/s of the nominal rate
    #[arg(long, value_name = "N", default_value_t = Self::SCALE_FACTOR, value_parser = numbers::scale_factor, env = "BOURSE_SCALE_FACTOR")]
    pub(crate) scale_factor: u32,
    /// Folder with EGen's official input files (flat_in) [default: built-in data]
    #[arg(long, value_name = "DIR", env = "BOURSE_FLAT_IN_DIR")]
    pub(crate) flat_in: Option<PathBuf>,
    /// Constraints that the database declares and enforces
    #[arg(long, value_enum, default_value_t = ConstraintsArg::Full, env = "BOURSE_CONSTRAINTS")]
    pub(crate) constraints: ConstraintsArg,
    /// Threads that generate rows while loading; concurrent clients are --users [default: number of CPUs]
    #[arg(long = "load-threads", value_name = "N", value_parser = numbers::threads, env = "BOURSE_THREADS")]
    pub(crate) threads: Option<usize>,
    /// Replace an existing database
    #[arg(long)]
    pub(crate) reload: bool,
}

impl DatabaseArgs {
    /// Default number of customers.
    pub(crate) const CUSTOMERS: u64 = 1_000;
    /// Default scale factor.
    pub(crate) const SCALE_FACTOR: u32 = 500;

    /// Options with the size of a database that exists.
    pub(crate) fn of_size(&self, part: bourse_egen::Part) -> Self {
        Self {
            customers: u64::try_from(part.customers()).unwrap_or(self.customers),
            days: u32::try_from(part.days()).unwrap_or(self.days),
            scale_factor: u32::try_from(part.scale_factor()).unwrap_or(self.scale_factor),
            ..self.clone()
        }
    }

    /// The smallest database with this number of days of trades, and default options otherwise.
    pub(crate) const fn of_days(days: u32) -> Self {
        Self {
            customers: Self::CUSTOMERS,
            days,
            scale_factor: Self::SCALE_FACTOR,
            flat_in: None,
            constraints: ConstraintsArg::Full,
            threads: None,
            reload: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConstraintsArg {
    /// Primary keys, foreign keys and checks
    Full,
    /// Primary keys only
    Keys,
}

/// Exit codes, for the help of each command that runs something.
const EXIT_CODES: &str = "Exit codes: 0 success, 1 usage or configuration, 2 the target failed, was lost or is in use, 3 a \
check failed, 130 interrupted (what was measured is still written).";

/// Examples of a command that has --require-steady, and its exit codes; `no_search` of one without --find-max.
macro_rules! run_help {
    (no_search: $($example:literal),+ $(,)?) => {
        run_help!(codes: ""; $($example),+)
    };
    (codes: $more:literal; $($example:literal),+) => {
        concat!(
            "Examples:\n",
            $("  ", $example, "\n",)+
            "\nExit codes: 0 success, 1 usage or configuration, 2 the target failed, was lost or is in use, 3 a check failed, 5 \
not steady with --require-steady", $more, ", 130 interrupted (what was measured is still written)."
        )
    };
    ($($example:literal),+ $(,)?) => {
        run_help!(codes: ", 6 rounds too short for a limit of --find-max"; $($example),+)
    };
}
pub(crate) use run_help;

/// The file of a server's token.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenFile {
    /// File with the server's access token; BOURSE_TOKEN can hold the token itself
    #[arg(long = "token-file", help_heading = "Server", value_name = "FILE", env = "BOURSE_TOKEN_FILE")]
    pub(crate) path: Option<PathBuf>,
}

/// Options of the execution of rounds, for any workload.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct ExecutionArgs {
    /// Seed of all random numbers [default: drawn, and shown]
    #[arg(long, value_name = "N", value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    /// Exit with code 5 unless every round reaches steady state
    #[arg(long, env = "BOURSE_REQUIRE_STEADY")]
    pub(crate) require_steady: bool,
    /// Longest wait before each round for background load to drop, until two waits were in vain [default: no wait; 20s in
    /// `compare`, 5s in `suite run` at full scale]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_WAIT_QUIET")]
    pub(crate) wait_quiet: Option<Duration>,
    /// Do not wait for background load to drop
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Do not repeat rounds that other processes or the host disturb
    #[arg(long, env = "BOURSE_NO_REPEAT")]
    pub(crate) no_repeat: bool,
    /// Time after the end of a measurement interval from which on a call that has not returned is lost, and the run ends
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = numbers::call_limit, env = "BOURSE_CALL_LIMIT")]
    pub(crate) call_limit: Duration,
    /// Time each statement: calls, rows, times, plans and the engine's counters, the most time first; of two targets also the
    /// plans that differ. The figure bears what the timing costs
    #[arg(long, visible_alias = "plans", env = "BOURSE_STATEMENTS", overrides_with = "statements")]
    pub(crate) statements: bool,
    /// Show the run live, full-screen: throughput, response times by operation, resources, time left; q leaves
    #[arg(long, env = "BOURSE_LIVE")]
    pub(crate) live: bool,
    /// Serve the figures of each second at /metrics in Prometheus's text format, as 127.0.0.1:9464 or just 9464; port 0 takes a
    /// free one
    #[arg(long, value_name = "ADDR", value_parser = numbers::address, env = "BOURSE_METRICS")]
    pub(crate) metrics: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) plan: DryRun,
}

/// Options of counts of instructions.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct InstructionArgs {
    /// Count the instructions of one user's operations too, after the rounds and without their noise: a fixed number of operations
    /// (--count, 10,000 by default), twice, by the processor's counters or else by valgrind. `compare` decides by them and
    /// shows time next to them
    #[arg(long, env = "BOURSE_INSTRUCTIONS")]
    pub(crate) instructions: bool,
    /// Show the functions whose instructions differ most, or of one case those with the most; counted by valgrind
    #[arg(long, requires = "instructions")]
    pub(crate) profile: bool,
}

/// The option that prints a command's plan.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DryRun {
    /// Print the plan (what is done, order, duration, files that will be written) and exit without opening or writing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl ExecutionArgs {
    /// Longest wait of a round for a quiet machine, in nanoseconds.
    pub(crate) fn wait_quiet_ns(&self, default: Option<Duration>) -> Option<u64> {
        let limit = self.wait_quiet.or(default).filter(|_| !self.no_wait)?;
        Some(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Options that were set explicitly: typed, or set in the environment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct GivenOptions {
    /// Whether every option counts as set: a database must match each.
    all: bool,
    /// Ids of the options that were typed.
    typed: BTreeSet<String>,
    /// Ids of the options that were set in the environment.
    environment: BTreeSet<String>,
}

/// All options, as if each were set.
pub(crate) static ALL_GIVEN: GivenOptions =
    GivenOptions { all: true, typed: BTreeSet::new(), environment: BTreeSet::new() };

impl GivenOptions {
    fn of(matches: &ArgMatches) -> Self {
        let from = |wanted: ValueSource| {
            let all = matches.ids().map(clap::Id::as_str).filter(|id| matches.value_source(id) == Some(wanted));
            all.map(str::to_owned).collect()
        };
        Self { all: false, typed: from(ValueSource::CommandLine), environment: from(ValueSource::EnvVariable) }
    }

    /// Whether an option was typed.
    pub(crate) fn typed(&self, id: &str) -> bool {
        self.typed.contains(id)
    }

    /// Whether an option was typed or set in the environment.
    pub(crate) fn given(&self, id: &str) -> bool {
        self.all || self.typed(id) || self.environment.contains(id)
    }

    /// Typed options of a command, among those whose ids meet a condition: `--days, --seed`; empty if none was typed.
    pub(crate) fn typed_of(&self, command: &str, is_meant: impl Fn(&str) -> bool) -> String {
        let all = Arguments::command();
        let options = all.find_subcommand(command).into_iter().flat_map(clap::Command::get_arguments);
        let typed = options.filter(|it| self.typed(it.get_id().as_str()) && is_meant(it.get_id().as_str()));
        typed.filter_map(|it| Some(format!("--{}", it.get_long()?))).collect::<Vec<_>>().join(", ")
    }

    /// Counts an option as typed.
    pub(crate) fn add(&mut self, id: &str) {
        self.typed.insert(id.to_owned());
    }
}

/// Options of the results: their folder and their form.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Folder for results; each run creates a folder in it
    #[arg(short = 'o', long = "output", value_name = "DIR", default_value = "bourse-runs", env = "BOURSE_OUTPUT")]
    pub(crate) directory: PathBuf,
    /// Print the document (JSON) instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the whole report; without it the terminal shows its first screen, and the page has the rest
    #[arg(short, long, env = "BOURSE_VERBOSE")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
#[command(after_help = run_help!(no_search: "bourse quick", "bourse quick --all", "bourse quick --workloads point-read,commit --for 5s"))]
pub(crate) struct QuickArgs {
    /// Every engine that is available, private servers and clusters on this machine too
    ///
    /// Without it engines that work in this process, in about six minutes: where many are here, what would take longest is left
    /// out, and named. Microbenchmarks run in a file and, on engines that can, in memory; engines are compared within a durability
    /// class. It takes half as long again at most: on a busy machine rounds are left out rather than added. With --all also the system's library with SQLite's C interface, and a private server or cluster of each
    /// product that is installed, on a disk. Each round of a microbenchmark starts its own. The command says before how long it takes. An engine that fails is left out, and the others
    /// go on.
    #[arg(long)]
    pub(crate) all: bool,
    /// Measurement interval of the brokerage workload; microbenchmarks take a tenth of it [default: 10s, or a half or a third of
    /// it where all would take longer than six minutes; microbenchmarks of more than seven rounds have shorter ones]
    #[arg(short = 'T', long = "for", short_alias = 'd', aliases = ["duration", "time"], allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration)]
    pub(crate) duration: Option<Duration>,
    /// Microbenchmarks to run as well, by their names in `bourse micro list`
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "point-read,update,bulk-load")]
    pub(crate) workloads: Vec<String>,
    /// Rounds of each microbenchmark on each engine; the brokerage workload has one [default: 7, or as many as the ratios of the
    /// engines need for intervals: 9 for nine engines]
    #[arg(long, value_name = "N", value_parser = numbers::rounds)]
    pub(crate) rounds: Option<u32>,
    /// Days of initial trades in the brokerage databases
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = numbers::days)]
    pub(crate) days: u32,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FromFile {
    /// TOML file: a command, for example command = "tpce run", and its options by their long names
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Options of that command, which override the file
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) more: Vec<String>,
}

/// Exit codes of `compare`.
const COMPARE_HELP: &str = "Examples:
  bourse compare 'sqlite:x.db?sync=full' 'sqlite:x.db?sync=normal'
  bourse compare sqlite:x.db 'sqlite+lib:y.db?library=./libsqlite3.so' --workload point-read --fail-above 5%
  bourse compare bourse-runs/A bourse-runs/B --noise 3%
  bourse compare bourse-runs/B --baseline bourse-runs --fail-above 5%

Exit codes: 0 success, 1 usage or configuration, 2 a target failed, was lost or is in use, 3 a check \
failed, 4 slower by more than --fail-above, 5 not steady with --require-steady, 6 --fail-above could not be decided, 130 \
interrupted.";

#[derive(Debug, Clone, Args)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct CompareArgs {
    /// Baseline: a stored run or a target; with --baseline and nothing else, the candidate: a stored run
    #[arg(value_name = "A")]
    pub(crate) base: String,
    /// Candidate: a stored run or a target
    #[arg(value_name = "B", required_unless_present = "baseline")]
    pub(crate) head: Option<String>,
    /// Workload to run on two targets: tpce, tatp, tpcc, or one of `bourse micro list`
    #[arg(long, value_name = "WORKLOAD", default_value = "tpce")]
    pub(crate) workload: String,
    /// Set an option of the workload, for example rows=1M
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    /// Operations per thread, instead of a length of time; the warm-up before them performs more, which are not counted
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) count: Option<u64>,
    /// Operations of a microbenchmark that are timed; sampled shows the tails of operations too short to be timed one by one
    #[arg(long, value_enum, default_value_t = TimingMode::Batched, conflicts_with = "rate", env = "BOURSE_TIMING")]
    pub(crate) timing: TimingMode,
    /// Exit with code 4 if B is slower by more than this, for example 5%: the whole confidence interval must be beyond it
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = numbers::percent, env = "BOURSE_FAIL_ABOVE")]
    pub(crate) fail_above: Option<f64>,
    /// End as soon as the verdict is decided: the interval is looked at after a quarter, a half, three quarters and all of --rounds
    /// [default: 32], and holds its level over all looks
    #[arg(long, conflicts_with = "instructions", env = "BOURSE_UNTIL_DECIDED")]
    pub(crate) until_decided: bool,
    /// Stored runs: difference to treat as noise between two runs, such as 3%; a larger difference is reported as real
    #[arg(long, value_name = "PERCENT", value_parser = numbers::percent, conflicts_with = "baseline", env = "BOURSE_NOISE")]
    pub(crate) noise: Option<f64>,
    /// Stored runs: folder of earlier runs that the noise is estimated from, five of the same case and build at least; with
    /// one run only, the newest of the same case before it is the baseline
    #[arg(long, value_name = "DIR", env = "BOURSE_BASELINE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Result of --fail-above where nothing can be decided: exit code 6, or 0
    #[arg(long, value_enum, default_value_t = Inconclusive::Fail, env = "BOURSE_INCONCLUSIVE")]
    pub(crate) inconclusive: Inconclusive,
    /// Format of the comparison
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    #[command(flatten)]
    pub(crate) instructions: InstructionArgs,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// Options that were set explicitly.
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

/// Effect of a gate that cannot be evaluated on the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Inconclusive {
    /// Exit code 6
    Fail,
    /// Exit code 0
    Pass,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Plain text for a terminal
    Text,
    /// Markdown for a comment on a change
    Markdown,
    /// An HTML page of its own
    Html,
    /// A line for each metric
    Csv,
    /// JSON for programs
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(typed: &str) -> Vec<String> {
        typed.split(' ').map(str::to_owned).collect()
    }

    #[track_caller]
    fn run_of(typed: &str) -> TpceRun {
        let matches = Arguments::command().try_get_matches_from(words(typed)).unwrap_or_else(|error| panic!("{error}"));
        match Arguments::of(&matches).unwrap().command {
            Command::Tpce(TpceCommand::Run(run)) => *run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_words_of_other_tools_are_understood() {
        for typed in ["-u 4 -T 5s", "--clients 4 --duration 5s", "-c 4 -d 5s", "--connections 4 --time 5"] {
            let run = run_of(&format!("bourse tpce run {typed}"));
            assert_eq!(
                (run.settings.run.users, run.settings.run.duration),
                (Some(4), Some(Duration::from_secs(5))),
                "{typed}"
            );
        }
        assert_eq!(run_of("bourse tpce run --customers 5k").settings.database.customers, 5_000);
    }
}
