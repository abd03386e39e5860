//! `bourse WORKLOAD serve`: the application server, for drivers elsewhere.

use crate::args::ServerArgs;
use crate::failure::Result;
use crate::hold;
use crate::oltp::database::DatabaseOptions;
use crate::oltp::serve::{failure, resolved, serve_as};
use crate::output::print;
use bourse_serve::{ServerOptions, Token};

/// Loads if needed, listens, serves until it is interrupted.
pub(crate) fn serve(arguments: &ServerArgs, database: &dyn DatabaseOptions) -> Result<()> {
    database.size()?;
    let target = arguments.target.as_str();
    let options = ServerOptions {
        workers: arguments.workers.into(),
        connections: arguments.connections.into(),
        gather: arguments.gather,
        silence: arguments.silence,
        token: Token::find(arguments.token.path.as_deref()).map_err(|error| failure(target, &error))?,
        ..ServerOptions::new(resolved("--listen", &arguments.listen)?, env!("CARGO_PKG_VERSION"))
    };
    let _held = hold::for_writing([target])?;
    serve_as(target, database, options, |address| print(&format!("{address}\n")))
}
