//! Histories of a million transactions on every engine that is here, for nights and machines of their own.

use super::scaling::program;
use std::path::Path;

/// Users of each target.
const USERS: u64 = 4;

/// Examines a million transactions at each level of every engine that is available. Argument: another number of them.
/// `BOURSE_PROGRAM` names the program; otherwise a release build with every engine is made.
pub(crate) fn run(root: &Path, transactions: Option<&str>) -> Result<(), String> {
    let transactions: u64 = match transactions {
        None => 1_000_000,
        Some(typed) => typed.parse().map_err(|_| format!("expected a number, found '{typed}'"))?,
    };
    let (each, all) = ((transactions / USERS).max(1).to_string(), format!("transactions={transactions}"));
    let arguments = [
        "isolation",
        "--all",
        "--rounds",
        "1",
        "--warmup",
        "0s",
        "--users",
        &USERS.to_string(),
        "--count",
        &each,
        "-s",
        &all,
    ];
    let ended = std::process::Command::new(program(root, &["--features", "full"])?).args(arguments).status();
    match ended.map_err(|error| error.to_string())?.success() {
        true => Ok(()),
        false => Err("an engine broke its promise, or failed: see above".to_owned()),
    }
}
