//! Options of application servers, and of drivers that share a round.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use super::{TokenFile, numbers};
use bourse_oltp::sut::Share;
use clap::Args;
use std::time::Duration;

/// Options of one of several drivers of a round.
#[derive(Debug, Clone, Args)]
pub(crate) struct DriverArgs {
    /// Number of this driver among several that share a round, on a server or with --coordinate, for example 1/3. They start
    /// together, and each drives mostly its own part of the customers
    #[arg(long, help_heading = "Server", value_name = "K/N", value_parser = part, env = "BOURSE_PART")]
    pub(crate) part: Option<Share>,
    /// Coordinate the drivers of a round that send their statements to the database themselves: driver 1 listens at this place,
    /// the others join it there. HOST:PORT, or unix:PATH; places that other machines can reach need a token
    #[arg(long, help_heading = "Server", value_name = "PLACE", requires = "part", env = "BOURSE_COORDINATE")]
    pub(crate) coordinate: Option<String>,
    /// Time that the drivers of a round wait for one another with --coordinate [default: 2m]
    #[arg(long, help_heading = "Server", value_name = "TIME", requires = "coordinate", value_parser = numbers::duration)]
    pub(crate) gather: Option<Duration>,
    #[command(flatten)]
    pub(crate) token: TokenFile,
}

impl DriverArgs {
    /// The only driver.
    pub(crate) const fn alone(token: TokenFile) -> Self {
        Self { part: None, coordinate: None, gather: None, token }
    }
}

/// Options of an application server, whatever the workload.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Database URL; the database is loaded if it does not exist
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Address to listen on: HOST:PORT, or unix:PATH for a socket that only this user and root can use. Addresses that other
    /// machines can reach need a token; port 0 chooses a free port
    #[arg(short, long, value_name = "PLACE", default_value = "127.0.0.1:4780", env = "BOURSE_LISTEN")]
    pub(crate) listen: String,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// Sessions on the database, shared by all users: the most transactions at a time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = numbers::workers)]
    pub(crate) workers: u16,
    /// Most connections at a time: one for each user and one for each driver
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = numbers::connections)]
    pub(crate) connections: u16,
    /// Time that the drivers of a round wait for one another
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = numbers::duration)]
    pub(crate) gather: Duration,
    /// Time without a message after which a driver in a round counts as lost; a live driver sends one every second
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = numbers::duration)]
    pub(crate) silence: Duration,
}

/// Exit codes of the server.
pub(crate) const SERVE_CODES: &str = "Ctrl-C stops the server after the transactions in progress.\n\nExit codes: 0 stopped while no driver was \
connected, 1 usage or configuration, 2 the target failed, was lost or is in use, 130 interrupted in a round.";

fn part(text: &str) -> Result<Share, String> {
    let parsed = text.split_once('/').and_then(|(number, of)| Share::new(number.parse().ok()?, of.parse().ok()?));
    parsed.ok_or_else(|| format!("expected NUMBER/COUNT of a driver, as 1/3, with a count of at most {}", Share::MOST))
}
