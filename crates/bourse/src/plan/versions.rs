//! The plan of `bourse versions`: the versions of an engine, each with a library built from its source.

use super::classic::rounds_of;
use super::sweep::with_option;
use super::{CaseBlock, InstructionPlan, Plan, PlannedCase, compare, show, varied};
use crate::args::{CompareArgs, VersionsArgs};
use crate::engines;
use crate::failure::{Failure, Result};
use bourse_driver::SECOND;
use bourse_micro::short_digest;
use std::fs;
use std::path::{Path, PathBuf};

/// An engine whose versions are built from packages that carry its source.
pub(crate) struct VersionedEngine {
    /// Scheme of its targets.
    scheme: &'static str,
    /// Scheme of targets that name a library of it.
    loaded: &'static str,
    /// Name of the engine.
    pub(crate) name: &'static str,
    /// Package with the source.
    pub(crate) package: &'static str,
    /// File of the source, within the package.
    pub(crate) source: &'static str,
    /// Beginning of the line of the source that has the version.
    pub(crate) declared: &'static str,
    /// Arguments of the compiler, the same for each version.
    pub(crate) options: &'static [&'static str],
    /// Time to compile a version, about.
    compiled_ns: u64,
    /// Each version with the release of the package that carries it, the oldest first.
    versions: &'static [[&'static str; 2]],
}

/// Every engine with versions.
static ENGINES: [VersionedEngine; 1] = [VersionedEngine {
    scheme: "sqlite",
    loaded: "sqlite+lib",
    name: "SQLite",
    package: "libsqlite3-sys",
    source: "sqlite3/sqlite3.c",
    declared: "#define SQLITE_VERSION ",
    // Statistics, functions and tables that the built-in library has too; of version 3.38 JSON is a part.
    options: &[
        "-O2",
        "-DSQLITE_THREADSAFE=1",
        "-DSQLITE_ENABLE_STAT4",
        "-DSQLITE_ENABLE_COLUMN_METADATA",
        "-DSQLITE_ENABLE_FTS5",
        "-DSQLITE_ENABLE_RTREE",
        "-DSQLITE_ENABLE_JSON1",
        "-DHAVE_USLEEP=1",
    ],
    compiled_ns: 60 * SECOND,
    versions: &[
        ["3.17.0", "0.8.0"],
        ["3.24.0", "0.9.4"],
        ["3.26.0", "0.12.0"],
        ["3.31.1", "0.18.0"],
        ["3.35.4", "0.22.2"],
        ["3.41.2", "0.26.0"],
        ["3.45.0", "0.28.0"],
        ["3.46.0", "0.30.1"],
        ["3.50.2", "0.35.0"],
        ["3.54.1", "0.39.1"],
    ],
}];

/// Option in which the cases differ.
const VERSION: &str = "version";

/// A version with its library.
pub(crate) struct EngineVersion {
    /// The version.
    pub(crate) version: &'static str,
    /// Release of the package.
    pub(crate) release: &'static str,
    /// File of the library.
    pub(crate) library: PathBuf,
    /// Whether it is there as it was built.
    is_built: bool,
    /// Its database, as a target of the built-in engine.
    built_in: String,
    /// Its database, as a target of the library.
    target: String,
}

impl EngineVersion {
    /// File with the sum of a library's bytes, written next to it when it is built.
    pub(crate) fn sum_file(library: &Path) -> PathBuf {
        library.with_extension("sum")
    }

    /// The sum of these bytes, as its file has it.
    pub(crate) fn sum(bytes: &[u8]) -> String {
        short_digest(&[bytes]) + "\n"
    }
}

/// Whether a library is there as it was built: neither cut, nor another file.
fn is_built(library: &Path) -> bool {
    let read = |path: &Path| fs::read(path).ok();
    let sum = || read(&EngineVersion::sum_file(library));
    read(library).is_some_and(|bytes| sum() == Some(EngineVersion::sum(&bytes).into_bytes()))
}

/// The plan of `bourse versions`.
pub(crate) struct VersionsPlan {
    work: CompareArgs,
    pub(crate) engine: &'static VersionedEngine,
    /// Versions, the one that others are compared with first.
    pub(crate) versions: Vec<EngineVersion>,
}

impl VersionsPlan {
    /// The requested versions, with their libraries in `folder`. One that another compiler built is
    /// another file: `compiler` is what the compiler calls itself.
    pub(crate) fn new(arguments: &VersionsArgs, folder: &Path, compiler: &str) -> Result<Self> {
        let work = compare::counted(&arguments.work, "versions")?;
        let (scheme, place) = arguments.engine.split_once(':').unwrap_or((&arguments.engine, ""));
        let Some(engine) = ENGINES.iter().find(|it| it.scheme == scheme) else { return Err(unversioned(scheme)) };
        let base = match place {
            "" => engines::usual_target(&format!("versions-{}", arguments.work.of.workload)),
            _ => arguments.engine.clone(),
        };
        let built = short_digest(&[engine.options.concat().as_bytes(), compiler.as_bytes()]);
        let of = |[version, release]: &[&'static str; 2]| {
            let library = folder.join(format!("{scheme}-v{version}-{built}.{}", std::env::consts::DLL_EXTENSION));
            let built_in = of_version(&base, version);
            let loaded = built_in.replacen(scheme, engine.loaded, 1);
            let target = with_option(&loaded, "library", &library.display().to_string());
            EngineVersion { version, release, is_built: is_built(&library), library, built_in, target }
        };
        let mut versions: Vec<EngineVersion> = engine.between(arguments)?.iter().map(of).collect();
        if let Some(against) = &arguments.against {
            let first = versions.iter().position(|it| is_prefix(against, it.version));
            let first =
                first.ok_or_else(|| engine.unknown(&format!("version {against} among those that were asked for")))?;
            versions[..=first].rotate_right(1);
        }
        Ok(Self { work, engine, versions })
    }

    /// Rounds of all versions in turn: of their libraries, or before these are built of the built-in engine.
    pub(crate) fn plan(&self, are_built: bool) -> Result<Plan> {
        let target = |it: &EngineVersion| if are_built { it.target.clone() } else { it.built_in.clone() };
        let cases = compare::cases(&self.work, self.versions.iter().map(target).collect())?;
        let named = |(case, it): (PlannedCase, &EngineVersion)| PlannedCase {
            label: format!("{} {}", self.engine.name, it.version),
            subject: it.target.clone(),
            varied: varied(&[(VERSION, it.version)]),
            ..case
        };
        let cases: Vec<PlannedCase> = cases.into_iter().zip(&self.versions).map(named).collect();
        let run = &self.work.settings.run;
        let instructions = InstructionPlan::of(self.work.instructions, run.memory, &cases)?;
        let rounds = run.rounds.unwrap_or_else(|| rounds_of(cases.len()));
        let plan = Plan::of("versions", CaseBlock { cases, rounds }, &run.execution, &run.output);
        Plan { instructions, memory: run.memory, ..plan }.checked()
    }

    /// Versions whose libraries are not built.
    pub(crate) fn unbuilt(&self) -> impl Iterator<Item = &EngineVersion> {
        self.versions.iter().filter(|it| !it.is_built)
    }

    /// Time to build the libraries that are not there, in nanoseconds.
    pub(crate) fn builds_ns(&self) -> u64 {
        self.engine.compiled_ns.saturating_mul(self.unbuilt().count() as u64)
    }

    /// The libraries, for a person.
    pub(crate) fn show(&self) -> String {
        let VersionedEngine { name, package, options, .. } = self.engine;
        let mut text = format!("libraries\n     cc {}\n", options.join(" "));
        for it in &self.versions {
            let (version, library) = (it.version, it.library.display());
            text.push_str(&match it.is_built {
                true => format!("     {name} {version}: {library} is there\n"),
                false => {
                    let from = format!("{package} {}", it.release);
                    format!("     {name} {version}: {from} is downloaded by cargo, if cargo has not got it, and compiled to {library}\n")
                }
            });
        }
        text.push_str(&match self.builds_ns() {
            0 => "     nothing is downloaded or built\n\n".to_owned(),
            ns => format!("     about {} before the rounds\n\n", show::minutes(ns)),
        });
        text
    }
}

impl VersionedEngine {
    /// Versions within the requested bounds.
    fn between(&self, arguments: &VersionsArgs) -> Result<&'static [[&'static str; 2]]> {
        let VersionsArgs { from, to, .. } = arguments;
        let bound = |text: &Option<String>| {
            let read =
                text.as_deref().map(|text| numbers(text).ok_or_else(|| self.unknown(&format!("version {text}"))));
            read.transpose()
        };
        let (low, high) = (bound(from)?, bound(to)?);
        if let (Some(low), Some(high)) = (&low, &high)
            && low.iter().take(high.len()).gt(high)
        {
            return Err(Failure::usage("--from is a later version than --to").hint("--from is the oldest version"));
        }
        let of = |[version, _]: &[&str; 2]| numbers(version).unwrap_or_default();
        let first = self.versions.partition_point(|it| low.as_ref().is_some_and(|low| of(it) < *low));
        // 3.54 includes 3.54.1.
        let is_within = |it: &[&str; 2]| high.as_ref().is_none_or(|high| of(it).iter().take(high.len()).le(high));
        let end = self.versions.partition_point(is_within);
        let found = self.versions.get(first..end).filter(|found| !found.is_empty());
        found.ok_or_else(|| {
            let ends = [("from", from), ("to", to)].map(|(name, it)| it.as_ref().map(|it| format!(" {name} {it}")));
            self.unknown(&format!("version{}", ends.into_iter().flatten().collect::<String>()))
        })
    }

    /// The refusal of versions that are not in the table.
    fn unknown(&self, what: &str) -> Failure {
        let known: Vec<&str> = self.versions.iter().map(|[version, _]| *version).collect();
        Failure::usage(format!("unknown {what} of {}", self.name)).hint(format!("known are {}", known.join(", ")))
    }
}

/// The refusal of an engine without versions.
fn unversioned(scheme: &str) -> Failure {
    let failure = Failure::usage(format!("versions of '{scheme}' are not known"));
    let known: Vec<&str> = ENGINES.iter().map(|it| it.scheme).collect();
    let known = format!("`bourse versions` builds {}", known.join(", "));
    match engines::of_scheme(scheme) {
        None => failure.hint(known),
        Some(_) if engines::stays_loaded(&format!("{scheme}:")) => failure.hint(known).hint(format!(
            "its library is loaded: `bourse compare '{scheme}:a?library=OLD' '{scheme}:b?library=NEW'` compares two"
        )),
        Some(_) => failure.hint(known).hint(format!(
            "{scheme} is a part of this program or a server, and the program has one: run it on two, or build two revisions of \
             Bourse, and compare their runs: `bourse compare RUN RUN`"
        )),
    }
}

/// Numbers of a version, as of 3.17.
fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// Whether a version begins with the numbers of another.
fn is_prefix(asked: &str, version: &str) -> bool {
    numbers(asked).zip(numbers(version)).is_some_and(|(asked, version)| version.starts_with(&asked))
}

/// The target with a database of a version's own: files of other versions have other names.
fn of_version(target: &str, version: &str) -> String {
    let (place, options) =
        target.split_once('?').map_or((target, String::new()), |(it, rest)| (it, format!("?{rest}")));
    if place.ends_with(":memory:") {
        return target.to_owned();
    }
    let (stem, ending) = match place.rsplit_once('.') {
        Some((stem, ending)) if !ending.contains('/') => (stem, format!(".{ending}")),
        _ => (place, String::new()),
    };
    format!("{stem}-v{version}{ending}{options}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser as _;

    #[track_caller]
    fn versions(typed: &str) -> Result<Vec<&'static str>, String> {
        let words = format!("bourse versions {typed} --workload point-read");
        let Command::Versions(arguments) = Arguments::parse_from(words.split(' ')).command else {
            panic!("another command")
        };
        let found = VersionsPlan::new(&arguments, Path::new("libraries"), "x").map_err(|failure| failure.render())?;
        let plan = found.plan(false).map_err(|failure| failure.render())?;
        let labels = plan.run_cases().map(|case| case.label.strip_prefix("SQLite ").expect("its name").to_owned());
        assert_eq!(labels.collect::<Vec<_>>(), found.versions.iter().map(|it| it.version).collect::<Vec<_>>());
        Ok(found.versions.iter().map(|it| it.version).collect())
    }

    #[test]
    fn versions_are_chosen_by_their_ends_and_the_reference_is_first() {
        assert_eq!(versions("sqlite").unwrap().len(), ENGINES[0].versions.len());
        assert_eq!(versions("sqlite --from 3.45 --to 3.50").unwrap(), ["3.45.0", "3.46.0", "3.50.2"]);
        assert_eq!(versions("sqlite --from 3.32 --to 3.41.2").unwrap(), ["3.35.4", "3.41.2"]);
        let against = versions("sqlite::memory: --from 3.45 --against 3.50").unwrap();
        assert_eq!(against, ["3.50.2", "3.45.0", "3.46.0", "3.54.1"]);
        for (typed, words) in [
            ("sqlite --from 3.99", "unknown version from 3.99 of SQLite"),
            ("sqlite --to x", "unknown version x of SQLite"),
            ("sqlite --to 3.17 --against 3.54", "unknown version 3.54 among those that were asked for"),
            ("redb", "versions of 'redb' are not known"),
            ("nothing", "`bourse versions` builds sqlite"),
        ] {
            let said = versions(typed).unwrap_err();
            let is_listed = said.contains("known are 3.17.0, ") || !typed.starts_with("sqlite");
            assert!(is_listed && said.contains(words), "{typed}: {said}");
        }
    }

    #[test]
    fn a_library_that_was_cut_or_replaced_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("x.so");
        fs::write(&library, "library").unwrap();
        assert!(!is_built(&library), "nothing says that it was built");
        fs::write(EngineVersion::sum_file(&library), EngineVersion::sum(b"library")).unwrap();
        assert!(is_built(&library));
        fs::write(&library, "lib").unwrap();
        assert!(!is_built(&library));
    }

    #[test]
    fn ends_in_the_wrong_order_are_refused() {
        assert!(versions("sqlite --from 3.50 --to 3.45").unwrap_err().contains("--from is a later version than --to"));
        assert_eq!(versions("sqlite --from 3.50.2 --to 3.50").unwrap(), ["3.50.2"]);
    }

    #[test]
    fn the_table_is_in_order_and_each_version_has_a_database_of_its_own() {
        for engine in &ENGINES {
            let all: Vec<_> = engine.versions.iter().map(|[version, _]| numbers(version).expect("numbers")).collect();
            assert!(all.is_sorted(), "{all:?}");
            assert!(engine.source.starts_with(|it: char| it.is_ascii_lowercase()), "within the package");
        }
        assert_eq!(of_version("sqlite:a.b/x.db?sync=off", "3.1"), "sqlite:a.b/x-v3.1.db?sync=off");
        assert_eq!(of_version("sqlite:a.b/x", "3.1"), "sqlite:a.b/x-v3.1");
        assert_eq!(of_version("sqlite::memory:?sync=off", "3.1"), "sqlite::memory:?sync=off");
    }
}
