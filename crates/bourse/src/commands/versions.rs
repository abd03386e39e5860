//! `bourse versions`: versions of an engine side by side, from libraries that are built from their sources.

use crate::args::VersionsArgs;
use crate::failure::{Exit, Failure, Result};
use crate::output::{print, wrapped};
use crate::outside::output_of;
use crate::plan::about::lasting;
use crate::plan::show::show;
use crate::plan::versions::{EngineVersion, VersionedEngine, VersionsPlan};
use crate::progress::{ProgressStep, note};
use crate::work_folder::WorkFolder;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the libraries that are not there, runs all in turn, and reports.
pub(crate) fn run(arguments: &VersionsArgs) -> Result<()> {
    let (run, folder) = (&arguments.work.of.settings.run, libraries(arguments)?);
    let compiler = compiler();
    let versions = VersionsPlan::new(arguments, &folder, compiler.as_ref().map_or("none", |(_, name)| name.as_str()))?;
    // Options that are refused are refused before anything is built.
    let plan = versions.plan(false)?;
    if run.execution.plan.dry_run {
        return print(&(wrapped(&versions.show()) + &show(&plan, true)));
    }
    if versions.unbuilt().next().is_some() {
        let (compiler, _) = compiler?;
        let count = versions.unbuilt().count();
        if let Some(words) = lasting(versions.builds_ns(), &jiff::Zoned::now()) {
            note(&format!("versions: libraries are built first ({count}), {words}"));
        }
        fs::create_dir_all(&folder).map_err(|error| cannot("make the folder of libraries", &folder, error))?;
        for (nth, version) in versions.unbuilt().enumerate() {
            let what = format!("building {} {}, {} of {count}", versions.engine.name, version.version, nth + 1);
            let step = ProgressStep::waiting(what);
            let built = build(versions.engine, version, &folder, &compiler);
            step.end(&built);
            built?;
        }
    }
    super::run(&versions.plan(true)?, &run.execution, &run.output)
}

fn cannot(what: &str, path: &Path, error: std::io::Error) -> Failure {
    Failure::usage(format!("cannot {what} {}", path.display())).detail("cause", error.to_string())
}

/// Folder of the libraries: a cache of the user's, since any of them can be built again.
fn libraries(arguments: &VersionsArgs) -> Result<PathBuf> {
    if let Some(folder) = &arguments.libraries {
        return Ok(folder.clone());
    }
    let caches = env::var_os("XDG_CACHE_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = caches.or_else(|| Some(env::home_dir()?.join(".cache")));
    folder.map(|it| it.join("bourse")).ok_or_else(|| {
        Failure::usage("there is no home folder, in whose cache libraries could stay")
            .hint("--libraries DIR names another folder")
    })
}

/// The compiler that `CC` names, or `cc`: its program with arguments, and what it calls itself.
fn compiler() -> Result<(Vec<String>, String)> {
    let named = env::var("CC").unwrap_or_default();
    let mut words: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        words.push("cc".to_owned());
    }
    let said = output_of(command(&words).arg("--version"));
    let said = said.map_err(|failure| failure.hint("install a C compiler, or name one in CC"))?;
    let name = [&words[1..], &[said.lines().next().unwrap_or_default().to_owned()]].concat();
    Ok((words, name.join(" ")))
}

/// The command of a program with its first arguments.
fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Builds the library of a version in a folder that is removed, and moves it to its place when it is whole.
fn build(engine: &VersionedEngine, of: &EngineVersion, folder: &Path, compiler: &[String]) -> Result<()> {
    let work = WorkFolder::new("bourse-build-", folder).map_err(|error| cannot("build in", folder, error))?;
    let source = downloaded(engine, of.release, work.path())?;
    let declares = |text: &str| {
        let line = text.lines().find(|line| line.starts_with(engine.declared));
        line.is_some_and(|line| line.contains(&format!("\"{}\"", of.version)))
    };
    let text = fs::read(&source).map_err(|error| cannot("read the source", &source, error))?;
    if !declares(&String::from_utf8_lossy(&text)) {
        let what = format!("{} is not the source of {} {}", source.display(), engine.name, of.version);
        return Err(Failure::new(Exit::Target, what));
    }
    let library = work.path().join("library");
    let mut command = command(compiler);
    command.args(engine.options).args(["-w", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    command.args(["-lpthread", "-lm", "-ldl"]);
    output_of(&mut command)?;
    let bytes = fs::read(&library).map_err(|error| cannot("read what the compiler made,", &library, error))?;
    let sum_file = EngineVersion::sum_file(&of.library);
    fs::write(&sum_file, EngineVersion::sum(&bytes))
        .map_err(|error| cannot("keep the library's sum", &sum_file, error))?;
    fs::rename(&library, &of.library).map_err(|error| cannot("keep the library", &of.library, error))
}

/// File of the source in a release of the engine's package, which cargo downloads unless it has it.
fn downloaded(engine: &VersionedEngine, release: &str, folder: &Path) -> Result<PathBuf> {
    let VersionedEngine { package, source, .. } = engine;
    let mut manifest = "[package]\nname = \"bourse-versions\"\nversion = \"0.0.0\"\nedition = \"2021\"\n".to_owned();
    let dependency = format!("{package} = {{ version = \"={release}\", default-features = false }}");
    write!(manifest, "[lib]\npath = \"lib.rs\"\n[workspace]\n[dependencies]\n{dependency}\n")
        .expect("a text takes all");
    for (name, content) in [("Cargo.toml", manifest.as_str()), ("lib.rs", "")] {
        let path = folder.join(name);
        fs::write(&path, content).map_err(|error| cannot("write", &path, error))?;
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--quiet"]).current_dir(folder);
    let hint = format!(
        "cargo, from a Rust toolchain, downloads {package} {release}: it needs its registry, or a copy that it has got"
    );
    let output = output_of(&mut command).map_err(|failure| failure.hint(hint))?;
    let found: serde_json::Value = serde_json::from_str(&output).map_err(|error| {
        Failure::new(Exit::Target, "cargo metadata printed no JSON").detail("cause", error.to_string())
    })?;
    let packages = found["packages"].as_array().into_iter().flatten();
    let manifests = packages.filter(|it| it["name"] == *package).filter_map(|it| it["manifest_path"].as_str());
    let manifest = manifests.map(Path::new).next();
    let source = manifest.and_then(|it| Some(it.parent()?.join(source)));
    source.ok_or_else(|| Failure::new(Exit::Target, format!("cargo metadata names no {package} {release}")))
}
