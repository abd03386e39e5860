//! `bourse tpce serve`: the application server, for drivers elsewhere.

use crate::args::TpceServe;
use crate::failure::Failure;
use crate::hold;
use crate::output::print;
use crate::tpce::serve::{failure, resolved, serve_as};
use bourse_serve::{ServerOptions, Token};

/// Loads if needed, listens, serves until it is interrupted.
pub(crate) fn serve(arguments: &TpceServe) -> Result<(), Failure> {
    let options = ServerOptions {
        workers: arguments.workers.into(),
        connections: arguments.connections.into(),
        gather: arguments.gather,
        silence: arguments.silence,
        token: Token::find(arguments.token.path.as_deref()).map_err(|error| failure(&arguments.target, &error))?,
        ..ServerOptions::new(resolved("--listen", &arguments.listen)?, env!("CARGO_PKG_VERSION"))
    };
    let target = arguments.target.as_str();
    let _held = hold::for_writing([target])?;
    serve_as(target, &arguments.database, arguments.explicitly_set, options, |address| print(&format!("{address}\n")))
}
