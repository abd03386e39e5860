//! Finds the commit of Bourse's sources, for `--version` and run files: `BOURSE_COMMIT` in the program's environment when it is
//! compiled. It is `unknown` where the sources lie in no repository of their own, as in a package.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit =
        std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).and_then(|crate_folder| commit(&crate_folder));
    println!("cargo:rustc-env=BOURSE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// The commit of the repository whose `crates/bourse` this is, with `-modified` where its sources differ.
fn commit(crate_folder: &Path) -> Option<String> {
    let crate_folder = crate_folder.canonicalize().ok()?;
    let root = crate_folder.parent()?.parent()?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // Not a repository that sources of Bourse were copied into.
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != root {
        return None;
    }
    // The log changes with each commit and checkout; sources change what is modified. Each compiles this crate anew anyway.
    let log = root.join(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    let sources = std::fs::read_dir(root.join("crates")).ok()?.filter_map(|entry| Some(entry.ok()?.path().join("src")));
    for path in sources.chain([log]).filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_modified =
        git(&["status", "--porcelain", "--untracked-files=no", "--", "crates", "Cargo.lock"])?.lines().count() > 0;
    Some(if is_modified { format!("{commit}-modified") } else { commit })
}
