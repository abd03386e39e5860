//! Targets as a plan sees them: their text is parsed, their engines' capabilities are read; nothing is opened.

use super::{ClassicRound, Drivers, Job};
use crate::args::DatabaseArgs;
use crate::engines;
use crate::failure::{Failure, Result};
use crate::oltp::serve::failure;
use bourse_engine::{Capabilities, Engine, Hosting, Location};
use bourse_serve::address::socket_path;
use bourse_serve::{Address, ServeError, Token};

/// Requirements of a classic workload that a target does not meet; empty if it meets all.
pub(crate) fn lacking(target: &str, job: &ClassicRound) -> Result<Vec<String>> {
    let case = job.case()?;
    let engine = engines::open(target)?;
    let mut lacking = case.lacking(&engine.capabilities());
    let is_owned = matches!(engine.hosting(), Hosting::OwnedServer(_));
    if case.processes() > 1 && !engine.capabilities().processes {
        lacking.push(format!("several processes cannot use it: {}", not_shared(&*engine)));
    } else if case.has_faults() && case.processes() == 1 && !is_owned {
        lacking.push(
            "a process that shares it with others could be killed, and there is one: processes=2 or more".to_owned(),
        );
    }
    // A server is asked for its dialect.
    if let (true, Ok(sql)) = (case.has_holes(), engine.sql()) {
        lacking.extend(case.missing_holes(sql.dialect()));
    }
    Ok(lacking)
}

/// Refuses to time the statements of a job that sends none, or whose users are in other processes.
pub(crate) fn has_statements(target: &str, job: &Job) -> Result<()> {
    let refused = |why: &str| Err(Failure::usage(format!("--statements cannot be used with {target}: {why}")));
    if Address::has_scheme(target) {
        return refused("its statements are run by the server");
    }
    if job.is_shared()? {
        return refused("its statements are run by several processes");
    }
    match engines::open(target)?.capabilities().sql {
        Some(_) => Ok(()),
        None => refused("it has records and no SQL"),
    }
}

/// Reason that several processes cannot use the database of an engine at a time.
fn not_shared(engine: &dyn Engine) -> &'static str {
    match (engine.hosting(), engine.location()) {
        (Hosting::OwnedServer(_), _) => "its server belongs to one process, and ends with it",
        (_, Location::Memory | Location::Nowhere) => "its database is in the memory of one process",
        _ => "one process at a time can have its database open",
    }
}

/// Requirements of a transactional workload's rounds.
pub(crate) struct Requirements<'j> {
    /// Name of the workload.
    pub(crate) workload: &'static str,
    /// Reasons why an engine cannot run it.
    pub(crate) needs: fn(&Capabilities) -> Vec<String>,
    /// Whether a reference model replaces an engine that stores nothing.
    pub(crate) has_model: bool,
    /// Drivers that share a round.
    pub(crate) drivers: &'j Drivers,
    /// Whether an existing database is replaced.
    pub(crate) reloads: bool,
    /// Whether the highest rate is searched for.
    pub(crate) finds_max: bool,
}

/// Refuses a target that cannot run a transactional workload. A server is called only when its round begins: it would take two
/// calls for two drivers.
pub(crate) fn check(target: &str, of: &Requirements<'_>) -> Result<()> {
    let Drivers { processes, coordinate, .. } = of.drivers;
    if let (true, Some(_)) = (Address::has_scheme(target), coordinate) {
        return Err(Failure::usage(format!(
            "--coordinate cannot be used with the server {target}, which coordinates its drivers"
        ))
        .hint("leave --coordinate out; or name the database that the server has, once the server has ended"));
    }
    if Address::has_scheme(target) {
        if *processes > 1 {
            return Err(Failure::usage(format!("--processes cannot be used with the server {target}"))
                .hint("start several drivers, each with its --part K/N"));
        }
        return caller(target, of).map(|_| ());
    }
    if let (Some(driver), None) = (of.drivers.driver(), coordinate) {
        return Err(Failure::usage(format!(
            "--part {driver}: {target} is not a server, which several drivers could share"
        ))
        .hint("--coordinate HOST:PORT, the same for all drivers, has them share a database that each of them can reach")
        .hint(format!("`bourse {} serve {target}` serves it; then run each part on bourse://HOST:PORT", of.workload)));
    }
    let engine = engines::open(target)?;
    if !(of.has_model && matches!(engine.location(), Location::Nowhere)) {
        engines::needs(target, engine.as_ref(), of.needs)?;
    }
    if !of.drivers.are_several() || engine.capabilities().processes {
        return match coordinate {
            Some(coordinate) => place(&coordinate.place).map(|_| ()),
            None => Ok(()),
        };
    }
    let why = not_shared(&*engine);
    let option = if coordinate.is_some() { "--coordinate" } else { "--processes" };
    Err(Failure::usage(format!("{option} cannot be used with {target}: {why}"))
        .hint("for instance sqlite:PATH, or a running server such as mariadb://USER@HOST/DATABASE"))
}

/// Address and token of a server; options that it would refuse, or cannot apply, are refused before it is called.
pub(crate) fn caller(target: &str, of: &Requirements<'_>) -> Result<(Address, Option<Token>)> {
    if of.reloads {
        return Err(Failure::usage(format!("--reload cannot be used with the server {target}"))
            .hint("stop the server, and start it again with --reload"));
    }
    if let Some(part) = of.drivers.driver().filter(|part| part.of() > 1 && of.finds_max) {
        return Err(Failure::usage(format!("--find-max cannot be used with driver {part} of several"))
            .hint("use one driver, without --part; or give each driver its share of a known --rate"));
    }
    let address: Address = target.parse().map_err(|error| failure(target, &error))?;
    let token = Token::find(of.drivers.token_file.as_deref()).map_err(|error| failure(target, &error))?;
    Ok((address, token))
}

/// The place of `--coordinate`, as an address.
pub(crate) fn place(text: &str) -> Result<Address> {
    let refused = |why: String| {
        Failure::usage(format!("invalid value '{text}' for --coordinate: {why}"))
            .hint("expected HOST:PORT, as 127.0.0.1:4781, or unix:PATH; the same for all drivers")
    };
    if let Some(path) = text.strip_prefix("unix:") {
        return socket_path(path).map(|path| Address::Unix { path }).map_err(|why| refused(why.to_owned()));
    }
    format!("bourse://{text}").parse().map_err(|error: ServeError| match error {
        ServeError::Address { why, .. } => refused(why.to_owned()),
        other => refused(other.to_string()),
    })
}

/// File of the default target, whose name describes its content.
pub(super) fn default_target(database: &DatabaseArgs) -> String {
    let mut name = format!("tpce{}", size(database));
    if database.constraints == crate::args::ConstraintsArg::Keys {
        name.push_str("-keys");
    }
    if database.flat_in.is_some() {
        name.push_str("-official");
    }
    engines::usual_target(&name)
}

/// Part of a name that distinguishes databases of different sizes.
pub(super) fn size(database: &DatabaseArgs) -> String {
    let mut size = format!("-c{}-d{}", database.customers, database.days);
    if database.scale_factor != 500 {
        size.push_str(&format!("-f{}", database.scale_factor));
    }
    size
}

/// The target for a database of another size: files of different sizes need names of their own.
pub(super) fn with_size(target: &str, database: &DatabaseArgs) -> String {
    with_suffix(target, &size(database))
}

/// A target with a suffix of its file's name; a target without a file unchanged.
pub(super) fn with_suffix(target: &str, size: &str) -> String {
    let (place, query) = target.split_once('?').map_or((target, None), |(place, query)| (place, Some(query)));
    if !engines::location(target).is_ok_and(|location| location.file().is_some()) {
        return target.to_owned();
    }
    let place = match place.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')) {
        Some((stem, ending)) => format!("{stem}{size}.{ending}"),
        None => format!("{place}{size}"),
    };
    query.map_or(place.clone(), |query| format!("{place}?{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ConstraintsArg;

    #[test]
    fn files_of_other_sizes_have_other_names() {
        let database = DatabaseArgs {
            customers: 5_000,
            days: 2,
            scale_factor: 500,
            flat_in: None,
            constraints: ConstraintsArg::Full,
            threads: None,
            reload: false,
        };
        for (target, sized) in [
            ("sqlite:x.db?journal=wal", "sqlite:x-c5000-d2.db?journal=wal"),
            ("sqlite+lib:x.db", "sqlite+lib:x-c5000-d2.db"),
            ("redb::memory:", "redb::memory:"),
            ("sqlite:a.b/x", "sqlite:a.b/x-c5000-d2"),
            ("sqlite::memory:?memory=memdb", "sqlite::memory:?memory=memdb"),
        ] {
            assert_eq!(with_size(target, &database), sized);
        }
    }
}
