//! Tables of simulation results, written in this crate and in the documentation.
#![cfg(test)]

/// Panics unless a table of this crate matches its simulation and appears unchanged in the documentation.
pub(crate) fn check(name: &str, written: &str, simulated: &str) {
    let number = |word: &str| word.replacen('.', "", 1).parse::<i32>().ok();
    let numbers = |text: &str| -> Vec<i32> { text.split([' ', '\n']).filter_map(number).collect() };
    let words = |text: &str| text.split([' ', '\n']).filter(|it| number(it).is_none()).collect::<String>();
    // Another machine's logarithms may differ in the last bit, and turn an answer of some hundred.
    let is_near = numbers(written).iter().zip(numbers(simulated)).all(|(one, other)| (one - other).abs() <= 1);
    assert!(words(written) == words(simulated) && is_near, "write this table to {name}:\n{simulated}");
    // Not where the crate is by itself, as in a package.
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    if !docs.is_dir() {
        return;
    }
    let page = |name: &str| std::fs::read_to_string(docs.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let is_shown = ["statistics.md", "intervals.md", "steady-state.md", "comparing.md", "tune.md"]
        .iter()
        .any(|name| page(name).contains(written.trim()));
    assert!(is_shown, "no page of docs has the table of {name}:\n{written}");
}
