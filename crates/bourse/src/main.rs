//! The program: arguments → plan → run → report. It alone prints.

mod args;
mod commands;
mod config;
mod engines;
mod execute;
mod export;
mod failure;
mod hold;
mod inputs;
mod interrupt;
mod limits;
mod live;
mod memory_group;
mod oltp;
mod output;
mod outside;
mod panics;
mod plan;
mod progress;
mod provenance;
mod spent;
mod tpce;
mod work_folder;

use args::{Arguments, Command, FromFile, MicroCommand, SchemaDocument, SuiteCommand};
use bourse_engine::server_wait;
use bourse_record::acid::AcidFile;
use bourse_record::crash::CrashFile;
use bourse_record::faults::FaultsFile;
use bourse_record::{Document as _, RunFile};
use bourse_verdict::suite::SuiteFile;
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue};
use failure::{Exit, Failure, Result};
use std::collections::BTreeSet;
use std::process::ExitCode;

fn main() -> ExitCode {
    spent::begin();
    panics::install();
    // A panic of a thread that was never joined is no success either.
    let ended = panics::catch_panic(command).and_then(|code| panics::unreported().map_or(Ok(code), Err));
    ended.unwrap_or_else(|failure| {
        progress::lines(&failure.render());
        ExitCode::from(failure.exit as u8)
    })
}

fn command() -> Result<ExitCode> {
    #[cfg(feature = "planted-bug")]
    plant()?;
    limits::raise_open_files();
    limits::report_file_sizes();
    // clap's own `help` has no options.
    let typed: Vec<String> = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    if typed.first().is_some_and(|it| it == "help") && typed.iter().any(|it| it == "--json") {
        let names: Vec<_> = typed.into_iter().skip(1).filter(|it| it != "--json").collect();
        return output::print(&format!("{:#}\n", commands::help::json(&names)?)).map(|()| ExitCode::SUCCESS);
    }
    let arguments = match Arguments::shown().try_get_matches().and_then(|matches| Arguments::of(&matches)) {
        Ok(arguments) => arguments,
        Err(mut refused) => {
            // The forms of a report follow from the name of its file, not from --format.
            if let Some(ContextValue::String(format)) = refused.get(ContextKind::InvalidValue)
                && ["markdown", "md", "html"].contains(&&**format)
            {
                let tip = "-o FILE.md writes a report as Markdown, -o FILE.html as a page";
                refused.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
            }
            // Help and version arrive here too, and are no failures.
            let code = if refused.use_stderr() { Exit::Usage as u8 } else { 0 };
            // An error cannot be printed to a terminal that is gone.
            let _ = refused.print();
            return Ok(ExitCode::from(code));
        }
    };
    panics::panic_if_requested("start");
    provenance::set_revision(arguments.revision);
    progress::set_report_interval(arguments.progress);
    hold::wait_for_others(arguments.wait);
    server_wait::set_connect_limit(arguments.connect_limit);
    server_wait::report_waits_with(live::print_note);
    // A recording passes signals on to its program.
    if !matches!(arguments.command, Command::Record(_)) {
        interrupt::handle_signals()?;
    }
    run(arguments.command)
}

/// Plants the bug named in the environment.
#[cfg(feature = "planted-bug")]
fn plant() -> Result<()> {
    use bourse_oltp::planted::HARNESS;
    let Ok(name) = std::env::var("BOURSE_PLANTED_BUG") else { return Ok(()) };
    let bugs = [HARNESS, bourse_tatp::planted::BUGS, bourse_tpcc::planted::BUGS, bourse_tpce::planted::BUGS].concat();
    let Some(bug) = bugs.iter().find(|bug| bug.name == name) else {
        let names: Vec<_> = bugs.iter().map(|bug| bug.name).collect();
        return Err(Failure::usage(format!("invalid value '{name}' for BOURSE_PLANTED_BUG"))
            .hint(format!("expected one of: {}", names.join(", "))));
    };
    bourse_oltp::planted::plant(Some(bug));
    progress::note(&format!("planted bug: {}", bug.words));
    Ok(())
}

fn run(command: Command) -> Result<ExitCode> {
    let done = match command {
        Command::Tpce(command) => commands::tpce::run(&command),
        Command::Tatp(command) => commands::mix::run(&bourse_tatp::Tatp, command),
        Command::Tpcc(command) => commands::mix::run(&bourse_tpcc::Tpcc, command),
        Command::Micro(MicroCommand::List { workload, json: false }) => {
            output::print(&commands::micro::list::list(workload.as_deref())?)
        }
        Command::Micro(MicroCommand::List { workload, json: true }) => {
            output::print(&format!("{:#}\n", commands::micro::list::json(workload.as_deref())?))
        }
        Command::Micro(MicroCommand::Run(arguments)) => commands::micro::run::run(&arguments),
        Command::Micro(MicroCommand::Init(arguments)) => commands::micro::init::init(&arguments),
        Command::Round => execute::child::answer(),
        Command::Crash(arguments) => commands::crash::run(&arguments),
        Command::Faults(arguments) => commands::faults::run(&arguments),
        Command::FaultWork(arguments) => commands::faults::work(&arguments),
        Command::CrashWork { work } => commands::crash::work(&work),
        Command::Isolation(arguments) => commands::isolation::run(&arguments),
        Command::Suite(SuiteCommand::List { json: false }) => output::print(&commands::suite::list::list()?),
        Command::Suite(SuiteCommand::List { json: true }) => {
            output::print(&format!("{:#}\n", commands::suite::list::json()?))
        }
        Command::Suite(SuiteCommand::Show { name }) => output::print(&commands::suite::list::show(&name)?),
        Command::Suite(SuiteCommand::Run(arguments)) => commands::suite::run::run(&arguments),
        Command::Quick(arguments) => commands::quick::run(&arguments),
        Command::Run(FromFile { file, more }) => match config::arguments(&file, &more)?.command {
            Command::Run(_) => Err(Failure::usage("invalid command 'run' in the file: a file cannot run another file")),
            command => return run(command),
        },
        Command::Record(arguments) => return commands::record::run(&arguments),
        Command::Replay(arguments) => commands::micro::run::replay(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Bisect(arguments) => commands::bisect::run(&arguments),
        Command::Versions(arguments) => commands::versions::run(&arguments),
        Command::Report(arguments) => commands::report::report(&arguments),
        Command::Watch(arguments) => commands::watch::watch(&arguments),
        Command::Runs(command) => commands::runs::runs(&command),
        Command::Data(command) => commands::data::data(&command),
        Command::Engines(arguments) => commands::engines::list(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            let mut shown = visible(&with_known_names(Arguments::command()));
            clap_complete::generate(shell, &mut shown, "bourse", &mut script);
            let stored = if shell == clap_complete::Shell::Bash { STORED } else { "" };
            output::print(&format!("{}{stored}", String::from_utf8_lossy(&script)))
        }
        Command::Man { directory, overwrite } => {
            let mut root = Arguments::command().disable_help_subcommand(true);
            root.build();
            output::OwnedFolder::at(&directory, overwrite)?.write(&manual_pages(&root))?;
            progress::note(&format!("manual pages: {}", directory.display()));
            Ok(())
        }
        Command::Schema { document } => {
            let schema = match document {
                SchemaDocument::Run => RunFile::schema(),
                SchemaDocument::Acid => AcidFile::schema(),
                SchemaDocument::Crash => CrashFile::schema(),
                SchemaDocument::Faults => FaultsFile::schema(),
                SchemaDocument::Suite => SuiteFile::schema(),
                SchemaDocument::Options => config::schema(),
            };
            output::print(&format!("{schema:#}\n"))
        }
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Completion of stored runs and of databases that runs left, in bash.
const STORED: &str = r#"
_bourse_stored() {
    _bourse "$@"
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]} $2" in
        *" -"*) ;;
        "runs show "*|"runs diff "*|"runs rm "*) COMPREPLY=($(compgen -W "$(ls bourse-runs 2>/dev/null)" -- "$2")) ;;
        "data rm "*) COMPREPLY=($(compgen -f -- "${2:-bourse-data/}")) ;;
    esac
}
complete -F _bourse_stored -o bashdefault -o default bourse
"#;

/// The manual page of a command and those of its subcommands, by the names of their files.
fn manual_pages(command: &clap::Command) -> Vec<(String, Vec<u8>)> {
    let mut pages: Vec<_> = command.get_subcommands().filter(|it| !it.is_hide_set()).flat_map(manual_pages).collect();
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text).expect("a vector takes all that is written to it");
    pages.push((page.get_filename(), text));
    pages
}

/// A command without its hidden subcommands. Names are leaked: the process ends once it has printed them.
fn visible(command: &clap::Command) -> clap::Command {
    let subcommands = command.get_subcommands().filter(|it| !it.is_hide_set()).map(visible);
    let shown = clap::Command::new(&*command.get_name().to_owned().leak()).args(command.get_arguments());
    match command.get_about() {
        Some(about) => shown.about(about.clone()),
        None => shown,
    }
    .subcommands(subcommands)
}

/// The arguments with the names known to this build as values: workloads, suites, and engines as beginnings of targets.
fn with_known_names(command: clap::Command) -> clap::Command {
    /// Sets the possible values of an argument. The declarations are leaked: the process ends once it has printed them.
    fn values(argument: clap::Arg, names: impl IntoIterator<Item = String>) -> clap::Arg {
        argument.value_parser(PossibleValuesParser::new(names.into_iter().map(|name| &*name.leak())))
    }
    let workloads = || bourse_micro::WORKLOADS.iter().map(|spec| spec.name.to_owned());
    let compared = || ["tpce", "tatp", "tpcc"].map(str::to_owned).into_iter().chain(workloads());
    let suites = || bourse_verdict::suite::all().unwrap_or_default().into_iter().map(|suite| suite.name);
    let targets = || engines::schemes().map(|scheme| format!("{scheme}:"));
    let options = || -> BTreeSet<String> {
        bourse_micro::WORKLOADS.iter().flat_map(|spec| spec.options).map(|it| format!("{}=", it.name)).collect()
    };
    let with_set = |command: clap::Command| command.mut_arg("set", |it| values(it, options()));
    command
        .mut_subcommand("engines", |it| it.mut_arg("engine", |it| values(it, engines::schemes().map(str::to_owned))))
        .mut_subcommand("micro", |micro| {
            let of_workload = |command: clap::Command| command.mut_arg("workload", |it| values(it, workloads()));
            micro
                .mut_subcommand("list", of_workload)
                .mut_subcommand("run", |run| with_set(of_workload(run)).mut_arg("targets", |it| values(it, targets())))
        })
        .mut_subcommand("tpce", |tpce| {
            tpce.mut_subcommand("run", |run| run.mut_arg("targets", |it| values(it, targets())))
        })
        .mut_subcommand("tatp", |tatp| {
            tatp.mut_subcommand("run", |run| run.mut_arg("targets", |it| values(it, targets())))
        })
        .mut_subcommand("tpcc", |tpcc| {
            tpcc.mut_subcommand("run", |run| run.mut_arg("targets", |it| values(it, targets())))
        })
        .mut_subcommand("compare", |it| with_set(it).mut_arg("workload", |it| values(it, compared())))
        .mut_subcommand("tune", |it| with_set(it).mut_arg("workload", |it| values(it, compared())))
        .mut_subcommand("bisect", |bisect| bisect.mut_arg("workload", |it| values(it, compared())))
        .mut_subcommand("versions", |versions| versions.mut_arg("workload", |it| values(it, compared())))
        .mut_subcommand("suite", |suite| {
            let of_name = |command: clap::Command| command.mut_arg("name", |it| values(it, suites()));
            suite.mut_subcommand("show", of_name).mut_subcommand("run", of_name)
        })
}
