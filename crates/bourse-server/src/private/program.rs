//! Program of a server, on PATH or in the usual folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Every file of that name in PATH and then in `usual` folders, where packages put servers: often not on a user's PATH.
pub fn everywhere(name: &str, usual: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(usual);
    folders.map(|folder| folder.join(name)).filter(|file| file.is_file()).collect()
}

/// Output of a program with those arguments, as `--version`; `None` if it cannot be run or fails.
pub fn version_text(program: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments);
    output_text(command)
}

/// Output of a command; `None` if it cannot be run or fails.
pub fn output_text(mut command: Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
