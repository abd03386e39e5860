//! `bourse tpce …`.

pub(crate) mod acid;
mod generate;
mod verify;

use super::oltp;
use crate::args::{ALL_GIVEN, LoadArgs, ServeArgs, TpceCommand};
use crate::failure::Result;
use crate::plan::brokerage;
use crate::tpce::database::TpceDatabase;
use bourse_tpce::workload::Tpce;

/// Runs a command of TPC-E.
pub(crate) fn run(command: &TpceCommand) -> Result<()> {
    match command {
        TpceCommand::Run(arguments) => {
            super::run_oltp(&brokerage::plan(arguments)?, &arguments.targets, &arguments.settings.run)
        }
        TpceCommand::Load(LoadArgs { target, database, plan }) => {
            oltp::load::load(target, &TpceDatabase::of(database, &ALL_GIVEN), *plan)
        }
        TpceCommand::Gen(arguments) => generate::generate(arguments),
        TpceCommand::Serve(ServeArgs { server, database, given }) => {
            oltp::serve::serve(server, &TpceDatabase::of(database, given))
        }
        TpceCommand::Check(arguments) => oltp::check::check(&Tpce, arguments),
        TpceCommand::Acid(arguments) => acid::run(arguments),
        TpceCommand::AcidLoad(arguments) => acid::load(arguments),
        TpceCommand::Verify(arguments) => verify::run(arguments),
    }
}
