//! `bourse tpce verify`: targets and the reference model compared over the transactions of TPC-E.

use crate::args::{ALL_GIVEN, ConstraintsArg, DatabaseArgs, TpceVerify};
use crate::engines;
use crate::failure::{Failure, Result};
use crate::oltp::verify::{Verification, compared};
use crate::progress::ProgressStep;
use crate::tpce::database::TpceDatabase;
use crate::tpce::whole;
use bourse_engine::Engine;
use bourse_tpce::model::Model;
use bourse_tpce::transactions::Status;
use bourse_tpce::verify::{Plan, TpceSubject, sql_subject};

/// Runs and compares, or with `--replay` shows one transaction.
pub(crate) fn run(arguments: &TpceVerify) -> Result<()> {
    let TpceVerify { targets, settings, rate, database: options } = arguments;
    let database = TpceDatabase::of(options, &ALL_GIVEN);
    let fits = |target: &str, engine: &dyn Engine| engines::needs_sql(target, engine, "tpce");
    let Some(compared) = compared(targets, settings, &database, &fits)? else { return Ok(()) };
    let (part, inputs) = (whole(options)?, database.inputs()?);
    let of_driver = bourse_egen::driver::Database::of(part.total_customers(), part.scale_factor(), part.days());
    let plan = Plan { seed: settings.seed, requests_per_second: *rate, ..Plan::of(of_driver) };
    let subject = |(name, session): (String, Option<_>)| -> Box<TpceSubject> {
        match session {
            Some(session) => Box::new(sql_subject(&name, session, of_driver.first_free_trade())),
            None => {
                let step = ProgressStep::waiting("filling the model");
                let model = Model::new(inputs, part);
                step.done();
                Box::new(model)
            }
        }
    };
    let mut subjects: Vec<_> = compared.systems.into_iter().map(subject).collect();
    let mut stream = plan.stream(inputs).map_err(|error| Failure::usage(error.to_string()))?;
    let verification = Verification {
        targets,
        settings,
        database: &database,
        meaning: &|code| Status::of(code).meaning().filter(|_| code != 0),
        own_options: own_options(arguments),
        has_keys_only: options.constraints == ConstraintsArg::Keys,
    };
    verification.run(&mut subjects, &mut stream, &compared.interrupted)
}

/// Options of the command that repeats the verification, those of TPC-E alone.
fn own_options(arguments: &TpceVerify) -> String {
    let TpceVerify { database: DatabaseArgs { customers, days, scale_factor, flat_in, .. }, rate, .. } = arguments;
    let folder = flat_in.as_ref().map(|folder| format!(" --flat-in '{}'", folder.display())).unwrap_or_default();
    format!(" --customers {customers} --days {days} --scale-factor {scale_factor} --rate {rate}{folder}")
}
