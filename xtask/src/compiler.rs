//! The compiler of the workspace's crates in CI: Clippy, and after it rustdoc with the same libraries. `cargo doc` would compile
//! the metadata of every dependency again.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Environment variable with the folder that documentation is written to; without it none is.
pub(crate) const DOCUMENTED_IN: &str = "BOURSE_DOCUMENTED_IN";
/// Environment variable with Clippy's arguments, as `cargo clippy` sets it; without it rustc compiles.
const LINTS: &str = "CLIPPY_ARGS";

/// Environment in which cargo calls this program as the workspace's compiler.
pub(crate) fn environment(has_clippy: bool) -> Result<Vec<(&'static str, String)>, String> {
    let this = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let this = this.into_os_string().into_string().map_err(|_| "this program's path is no text")?;
    let lints = has_clippy.then(|| (LINTS, "--deny=warnings".to_owned()));
    Ok([("RUSTC_WORKSPACE_WRAPPER", this)].into_iter().chain(lints).collect())
}

/// Compiles a crate if the arguments are those of cargo for a compiler: the compiler, and the arguments for it.
pub(crate) fn compile(arguments: &[String]) -> Option<ExitCode> {
    let (rustc, arguments) = arguments.split_first().filter(|(first, _)| first.ends_with("rustc"))?;
    let mut compiler = match std::env::var_os(LINTS) {
        Some(_) => Command::new("clippy-driver"),
        None => Command::new(rustc),
    };
    compiler.args(std::env::var_os(LINTS).map(|_| rustc)).args(arguments);
    let folder = std::env::var(DOCUMENTED_IN).ok();
    let rustdoc = folder.zip(documented(arguments)).map(|(folder, documented)| {
        let mut rustdoc = Command::new(Path::new(rustc).with_file_name("rustdoc"));
        rustdoc.args(documented).args(["--deny", "warnings", "--out-dir", &folder]);
        rustdoc
    });
    let passes = |mut command: Command| command.status().is_ok_and(|status| status.success());
    let passed = passes(compiler) && rustdoc.is_none_or(passes);
    Some(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Arguments of rustdoc for a crate that is compiled with these: for each library, and for a program as it is compiled for its unit
/// tests, since only some programs are compiled without.
fn documented(arguments: &[String]) -> Option<Vec<&str>> {
    let has = |end: &str| arguments.iter().any(|argument| argument.ends_with(end));
    let is_program = has("--test") && has("src/main.rs");
    if !is_program && !arguments.windows(2).any(|pair| pair == ["--crate-type", "lib"]) {
        return None;
    }
    let mut kept = Vec::new();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "-C" | "-l" | "--out-dir" => drop(rest.next()),
            _ if argument == "--test" || argument.starts_with("--emit=") => {}
            _ => kept.push(argument),
        }
    }
    // As `cargo doc` documents programs.
    kept.extend(is_program.then_some(["--crate-type", "bin", "--document-private-items"]).into_iter().flatten());
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_programs_are_documented_once() {
        let of = |text: &str| {
            let arguments: Vec<String> = text.split(' ').map(str::to_owned).collect();
            documented(&arguments).map(|kept| kept.join(" "))
        };
        let library = "--crate-name a src/lib.rs --crate-type lib --emit=link -C opt-level=1 --out-dir d --extern b=b";
        assert_eq!(of(library).as_deref(), Some("--crate-name a src/lib.rs --crate-type lib --extern b=b"));
        let program = "--crate-name a src/main.rs --emit=link --test";
        let bin = "--crate-name a src/main.rs --crate-type bin --document-private-items";
        assert_eq!(of(program).as_deref(), Some(bin));
        assert_eq!(of("--crate-name a src/lib.rs --test"), None);
        assert_eq!(of("--crate-name a src/main.rs --crate-type bin"), None);
        assert_eq!(of("--crate-name it tests/it/main.rs --test"), None);
    }
}
