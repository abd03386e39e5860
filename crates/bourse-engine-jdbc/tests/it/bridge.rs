//! The bridge's class equals the one compiled from its source.

use std::path::Path;
use std::process::Command;

/// Instructions of a class, without the numbers of its constants.
fn instructions(class: &Path) -> Option<String> {
    let output = Command::new("javap").args(["-p", "-c"]).arg(class).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let words = text.lines().map(|line| {
        let words = line.split_whitespace().filter(|word| !word.starts_with('#'));
        words.collect::<Vec<_>>().join(" ")
    });
    Some(words.collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_class_is_compiled_from_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/bourse/jdbc/Bridge.java");
    let compiled = Command::new("javac")
        .args(["--release", "11", "-g:none", "-XDstringConcat=inline", "-d"])
        .args([folder.path(), &source])
        .output();
    let Ok(compiled) = compiled else {
        bourse_testkit::skipped("bridge::the_class_is_compiled_from_its_source", "no javac");
        return;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let [of_source, kept] = [folder.path().join("bourse/jdbc/Bridge.class"), source.with_extension("class")]
        .map(|class| instructions(&class).expect("javap comes with javac"));
    assert!(of_source.len() > 10_000, "{of_source}");
    assert_eq!(of_source, kept, "docs/jdbc.md says how the class is made from its source");
}
