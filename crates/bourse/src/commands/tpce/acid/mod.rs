//! `bourse tpce acid`: the specification's tests of atomicity, consistency, isolation and durability.

mod load;
mod site;

pub(crate) use load::load;
pub(crate) use site::FileSite;

use crate::args::{self, DurabilityClass, TpceAcid};
use crate::failure::{Exit, Failure};
use crate::inputs::inputs;
use crate::oltp::database::engine_failure;
use crate::output::{PublishedDocument, ResultFolder, print};
use crate::plan::show::{LOADED, Steps, files};
use crate::progress::{ProgressStep, note};
use crate::provenance::provenance;
use crate::tpce::database::{ready, sized};
use crate::{engines, hold, interrupt};
use bourse_acid::{AcidSubject, Site, TESTS, TestConfig, run_tests};
use bourse_egen::Inputs;
use bourse_engine::Engine;
use bourse_record::Warning;
use bourse_record::acid::{AcidFile, AcidTest, AcidVerdict};
use bourse_tpce::check::{Depth, first_trade};
use bourse_tpce::load::{ExistingDatabase, FoundDatabase, identify, part_of};
use bourse_tpce::users;
use std::sync::atomic::{AtomicBool, Ordering};

/// Examines a target, writes the evidence, prints the verdicts.
pub(crate) fn run(arguments: &TpceAcid) -> Result<(), Failure> {
    let only = selected(&arguments.only)?;
    crate::tpce::whole(&arguments.database)?;
    let target = arguments.target.clone().unwrap_or_else(|| default_target(&arguments.database));
    let engine = engines::open(&target)?;
    engines::needs_tpce(&target, engine.as_ref())?;
    if arguments.plan.dry_run {
        return print(&steps(&target, &only, arguments).show());
    }
    let inputs = inputs(arguments.database.flat_in.as_deref())?;
    let interrupted = interrupt::flag()?;
    let _held = hold::for_writing([target.as_str()])?;
    let folder = ResultFolder::new(&arguments.output.directory, "acid")?;
    let (found, history) = database(&target, engine.as_ref(), &arguments.database, &inputs, &interrupted)?;
    let described = engine.description().map_err(|error| engine_failure(&target, &error))?;
    let class = arguments.demand.map_or(described.durability, DurabilityClass::durability);
    let class_reason = match arguments.demand {
        Some(_) => format!("demanded; its settings promise {}: {}", described.durability, described.durability_reason),
        None => described.durability_reason.clone(),
    };
    let site = FileSite::of(&target, arguments.database.flat_in.as_deref())?;
    let subject = AcidSubject {
        engine: engine.as_ref(),
        part: part_of(&found.fingerprint),
        first_free: first_trade(part_of(&found.fingerprint)),
        class,
        // A demanded class has no exceptions, unlike the class of the settings.
        may_lose: described.may_lose.filter(|_| arguments.demand.is_none()),
        class_reason: &class_reason,
        inputs: &inputs,
        site: site.as_ref().map(|site| site as &dyn Site),
        config: TestConfig { seed: arguments.seed, repeats: arguments.repeats, patience: arguments.patience },
        interrupted: &interrupted,
    };
    let warnings = described.warnings.iter().map(Warning::of_engine).collect();
    let engine_found = bourse_driver::described(described);
    let database = describe_database(&found, &history);
    let isolation = users::isolation(&engine.capabilities());
    let mut file =
        AcidFile { warnings, isolation, ..AcidFile::new(provenance(arguments.seed), engine_found, database) };
    let wanted = |id: &str| is_wanted(id, &only);
    let step = ProgressStep::waiting(format!("examining {target}"));
    let tests =
        run_tests(&subject, &wanted, &mut |test: &AcidTest| step.say(format!("{} {}", test.id, test.verdict.name())));
    step.done();
    file.tests =
        tests.map_err(|error| Failure::new(Exit::of(error.kind()), format!("cannot test {target}: {error}")))?;
    file.interrupted = interrupted.load(Ordering::Relaxed);
    drop(site);
    publish(&file, &folder, arguments)?;
    verdict(&file)
}

/// Whether a test is among the selected ones: names, or properties; none selects all.
fn is_wanted(id: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|name| id == name || (name.len() == 1 && id.starts_with(name.as_str())))
}

fn steps(target: &str, only: &[String], arguments: &TpceAcid) -> Steps<'static> {
    let args::DatabaseArgs { customers, days, .. } = arguments.database;
    let tests: Vec<&str> = TESTS.iter().map(|test| test.id).filter(|id| is_wanted(id, only)).collect();
    let steps = vec![
        format!("{target}: {} of trades, {LOADED}", sized(customers, days.into())),
        format!("{target}: tests {}", tests.join(", ")),
    ];
    let mut writes = vec![format!("{}/<time>-acid/: acid.json, acid.html", arguments.output.directory.display())];
    writes.extend(files([(target, format!("{LOADED}; the tests leave trades in it"))]));
    Steps { name: "tpce acid", steps, seed: Some(arguments.seed), about_ns: 0, writes }
}

fn publish(file: &AcidFile, folder: &ResultFolder, arguments: &TpceAcid) -> Result<(), Failure> {
    PublishedDocument { document: file, sheet: bourse_report::acid(file) }.put(folder, &arguments.output)
}

fn verdict(file: &AcidFile) -> Result<(), Failure> {
    let failed: Vec<_> =
        file.tests.iter().filter(|test| test.verdict == AcidVerdict::Failed).map(|test| test.id.as_str()).collect();
    if !failed.is_empty() {
        return Err(Failure::new(Exit::Check, format!("{} of {} tests failed", failed.len(), file.tests.len()))
            .detail("failed", failed.join(", ")));
    }
    if file.interrupted {
        return Err(interrupt::interrupted("the tests run until then are reported"));
    }
    Ok(())
}

/// The selected tests, each by its name or a property's letter; empty for all.
fn selected(only: &[String]) -> Result<Vec<String>, Failure> {
    let names: Vec<String> = only.iter().map(|name| name.trim().to_ascii_uppercase()).collect();
    for name in &names {
        let is_known = |id: &str| id == name || (name.len() == 1 && id.starts_with(name.as_str()));
        if !TESTS.iter().any(|spec| is_known(spec.id)) {
            let known: Vec<_> = TESTS.iter().map(|spec| spec.id).collect();
            return Err(Failure::usage(format!("unknown test '{name}' in --only"))
                .hint(format!("tests: {}; or A, C, I, D for all of a property", known.join(", "))));
        }
    }
    Ok(names)
}

/// A file apart from those of runs: the tests leave trades in it.
pub(crate) fn default_target(database: &args::DatabaseArgs) -> String {
    let target = format!("sqlite:{}/acid-c{}-d{}.db", crate::tpce::DATA_FOLDER, database.customers, database.days);
    note(&format!("no target given: using {target}"));
    target
}

/// The existing database of whatever size, or a new one of the requested size.
pub(crate) fn database(
    target: &str,
    engine: &dyn Engine,
    wanted: &args::DatabaseArgs,
    inputs: &Inputs,
    interrupted: &AtomicBool,
) -> Result<(FoundDatabase, String), Failure> {
    let look = || identify(engine).map_err(|error| engine_failure(target, &error));
    if !wanted.reload
        && let ExistingDatabase::Matches(found) = look()?
    {
        if found.fingerprint.inputs != format!("{:032x}", inputs.fingerprint()) {
            return Err(Failure::usage(format!("{target} was loaded with other input data"))
                .hint("give --flat-in with the folder of that input data"));
        }
        let words = ExistingDatabase::Matches(found.clone()).to_string();
        note(&format!("{target}: {words}"));
        return Ok((found, words));
    }
    let history = ready(target, engine, wanted, args::ExplicitlySet::ALL, inputs, Depth::Quick, interrupted)?.history;
    match look()? {
        ExistingDatabase::Matches(found) => Ok((found, history)),
        other => Err(Failure::new(Exit::Target, format!("{target}: {other}"))),
    }
}

pub(crate) fn describe_database(found: &FoundDatabase, history: &str) -> String {
    let part = part_of(&found.fingerprint);
    format!(
        "{} of trades, constraints {}; {history}",
        sized(part.customers(), part.days()),
        found.fingerprint.constraints
    )
}
