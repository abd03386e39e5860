//! The head of every document that this program writes.

use bourse_record::{Build, Machine, Provenance};
use std::ffi::OsString;
use std::sync::OnceLock;

/// Commit of these sources, as the build script found it.
const COMMIT: &str = env!("BOURSE_COMMIT");
/// Placeholder if the sources are not in a repository of Bourse.
const UNKNOWN: &str = "unknown";

/// Version and commit of this program, as `--version` prints them.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("BOURSE_COMMIT"), ")");

/// Revision of the measured software, if one was given.
static REVISION: OnceLock<Option<String>> = OnceLock::new();

/// Stores the given revision, for every document of this process.
pub(crate) fn set_revision(revision: Option<String>) {
    // A file of options is read after the command line, which wins.
    let _ = REVISION.set(revision.filter(|it| !it.is_empty()));
}

/// The head of a document that begins now, on this machine.
pub(crate) fn provenance(seed: u64) -> Provenance {
    let mut command = without_printing(std::env::args_os().map(text_of).collect());
    if !command.iter().any(|word| word == "--seed" || word.starts_with("--seed=")) {
        // Behind this another program's words begin.
        let end = command.iter().position(|word| word == "--").unwrap_or(command.len());
        command.splice(end..end, ["--seed".to_owned(), seed.to_string()]);
    }
    Provenance {
        started_at: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        command,
        seed,
        build: Build { commit: (COMMIT != UNKNOWN).then(|| COMMIT.to_owned()), ..Build::of(env!("CARGO_PKG_VERSION")) },
        machine: Machine::this(),
        revision: REVISION.get().cloned().flatten(),
    }
}

/// A command line without options of what is printed, which a person who runs it again does not need.
fn without_printing(words: Vec<String>) -> Vec<String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let of_printing = |word: &str| ["--json", "--format=json"].contains(&word) || word.starts_with("--progress=");
    let left = words.into_iter().enumerate().filter(|(at, word)| *at >= end || !of_printing(word));
    left.map(|(_, word)| word).collect()
}

/// An argument as text; one that is not UTF-8 in the form in which a shell reads any bytes, `$'…\377…'`.
fn text_of(word: OsString) -> String {
    word.into_string().unwrap_or_else(|word| {
        let escaped = |byte: &u8| match byte {
            b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\{byte:03o}"),
        };
        format!("$'{}'", word.as_encoded_bytes().iter().map(escaped).collect::<String>())
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn a_command_to_run_again_has_no_options_of_what_is_printed() {
        let of = |words: &str| without_printing(words.split(' ').map(str::to_owned).collect()).join(" ");
        assert_eq!(of("bourse compare --format=json A --json --progress=0s B"), "bourse compare A B");
        assert_eq!(of("bourse record t -- x --json"), "bourse record t -- x --json");
    }

    #[test]
    fn an_argument_that_is_not_utf8_is_shown_as_a_shell_reads_it() {
        let text = |bytes: &[u8]| text_of(OsString::from_vec(bytes.to_vec()));
        assert_eq!(text("it's ä".as_bytes()), "it's ä");
        assert_eq!(text(b"sqlite:a'\\ \xff.db"), r"$'sqlite:a\'\\ \377.db'");
    }
}
