//! The file in which valgrind's tool callgrind leaves its counts: instructions of each function itself.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads a file

use std::collections::BTreeMap;

/// Instructions that callgrind has counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Callgrind {
    /// All of them.
    pub(super) total: u64,
    /// Instructions of each function, without those of functions that it calls.
    pub(super) functions: BTreeMap<String, u64>,
}

/// Names that the file gives once, as `(7) name`, and refers to by their numbers afterwards.
#[derive(Default)]
struct Names<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> Names<'t> {
    fn name(&mut self, text: &'t str) -> &'t str {
        match text.split_once(' ') {
            Some((number, name)) if number.starts_with('(') => {
                self.0.insert(number, name);
                name
            }
            _ => self.0.get(text).copied().unwrap_or(text),
        }
    }
}

impl Callgrind {
    /// Reads the contents of the file.
    ///
    /// # Errors
    /// The file has no total, or another than its functions have together, as one that was cut short.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (mut functions, mut objects) = (Names::default(), Names::default());
        let (mut function, mut object) = ("", "");
        let mut read = Self::default();
        let (mut positions, mut total) = (1, None);
        let mut is_of_call = false;
        for line in text.lines() {
            let words = || line.split_whitespace();
            let number = |at: usize| words().nth(at).and_then(|word| word.parse::<u64>().ok());
            if let Some((key, value)) = line.split_once('=').filter(|(key, _)| !key.contains([':', ' '])) {
                match key {
                    "fn" => function = functions.name(value),
                    "ob" => object = objects.name(value),
                    "cfn" => drop(functions.name(value)),
                    "cob" => drop(objects.name(value)),
                    // The next line has what the called function and all below it cost.
                    "calls" => is_of_call = true,
                    _ => {}
                }
            } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
                if !std::mem::take(&mut is_of_call) {
                    let count = number(positions).unwrap_or(0);
                    let of = read.functions.entry(shown(function, object)).or_default();
                    *of = of.saturating_add(count);
                    read.total = read.total.saturating_add(count);
                }
            } else if line.starts_with("positions:") {
                positions = words().count().saturating_sub(1);
            } else if line.starts_with("totals:") {
                total = number(1);
            }
        }
        match total {
            Some(total) if total == read.total => Ok(read),
            Some(total) => {
                Err(format!("its functions have {} instructions together, and its total is {total}", read.total))
            }
            None => Err("it has no total".to_owned()),
        }
    }
}

/// Name of a function that two builds have in common: without the number that the Rust compiler adds, and without an address.
fn shown(function: &str, object: &str) -> String {
    if function.is_empty() || function.starts_with("0x") || function.starts_with("???") {
        let file = object.rsplit('/').next().unwrap_or(object);
        return format!("functions without a name in {file}");
    }
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit());
    let plain = function.rsplit_once("::h").filter(|(_, hash)| is_hash(hash));
    plain.map_or(function, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd:  bourse round a=b\npart: 1\n\n\
        desc: Trigger: Program termination\n\npositions: line\nevents: Ir\nsummary: 136\n\n\nob=(1) /lib/libsqlite3.so\n\
        fl=(1) ???\nfn=(1) sqlite3_step\n0 100\ncob=(2) /lib/libc.so.6\ncfi=(2) mem.c\ncfn=(2) memcpy\ncalls=3 12\n0 24\n+4 2\n\
        * 3\n\nob=(2)\nfl=(2)\nfn=(2)\n12 24\n\nob=(1)\nfl=(1)\nfn=(3) 0x0000000000012340\n0 5\nfn=(4) a::b::h0123456789abcdef\n\
        fi=(2)\n9 2\n\ntotals: 136\n";

    #[test]
    fn functions_have_their_own_instructions_without_those_of_calls() {
        let read = Callgrind::read(FILE).expect("it is whole");
        let wanted =
            [("a::b", 2), ("functions without a name in libsqlite3.so", 5), ("memcpy", 24), ("sqlite3_step", 105)];
        assert_eq!(
            read.functions.into_iter().collect::<Vec<_>>(),
            wanted.map(|(name, count)| (name.to_owned(), count))
        );
        assert_eq!(read.total, 136);
    }

    proptest! {
        /// Files that were cut short are refused, and so are those that say something else.
        #[test]
        fn a_part_of_a_file_is_refused(at in 0..FILE.len() - "136\n".len(), other in ".*") {
            prop_assert!(Callgrind::read(&FILE[..at]).is_err());
            let read = Callgrind::read(&other);
            prop_assert!(read.is_err() || other.contains("totals:"));
        }

        /// Costs are summed by function, wherever their lines are.
        #[test]
        fn costs_are_summed(costs in proptest::collection::vec((0..5_u8, 0..1_000_u64), 0..40)) {
            let lines: String = costs.iter().map(|(of, cost)| format!("fn=({of}) f{of}\n+1 {cost}\ncalls=1 1\n1 77\n")).collect();
            let total: u64 = costs.iter().map(|(_, cost)| cost).sum();
            let read = Callgrind::read(&format!("positions: line\nevents: Ir\n{lines}totals: {total}\n")).expect("whole");
            for of in 0..5 {
                let wanted: u64 = costs.iter().filter(|(it, _)| *it == of).map(|(_, cost)| cost).sum();
                prop_assert_eq!(read.functions.get(&format!("f{of}")).copied().unwrap_or(0), wanted);
            }
        }
    }
}
