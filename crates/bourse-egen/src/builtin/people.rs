//! Names of people: well-known ones first, then ones assembled from syllables, up to the number that the algorithms
//! need.
//!
//! Weights fall, so that the well-known names are common in the database and the invented ones rare, each borne by few.

use std::collections::HashSet;

use super::weights::weighted_lines;
use super::words;

/// Well-known names of a kind, and the syllables for the long tail of invented ones. Syllables that would form an offensive
/// word with another are omitted, and so is the rare "u" between two of them.
struct NameWords {
    known: &'static str,
    roots: &'static str,
    links: &'static [&'static str],
    endings: &'static str,
}

const FEMALE: NameWords = NameWords {
    known: include_str!("words/female_names.txt"),
    roots: include_str!("words/female_roots.txt"),
    links: &[""],
    endings: include_str!("words/female_endings.txt"),
};

const MALE: NameWords = NameWords {
    known: include_str!("words/male_names.txt"),
    roots: include_str!("words/male_roots.txt"),
    links: &[""],
    endings: include_str!("words/male_endings.txt"),
};

const LAST: NameWords = NameWords {
    known: include_str!("words/last_names.txt"),
    roots: include_str!("words/last_roots.txt"),
    // No link is repeated so that names of two parts, which are the shorter, are as many as those of three.
    links: &["", "", "", "", "", "", "a", "e", "i", "o"],
    endings: include_str!("words/last_endings.txt"),
};

/// `FemaleFirstName`: weight, name.
pub(super) fn female_first_names() -> String {
    let names = distinct_names(4_275, &FEMALE);
    weighted_lines(&names, 11_890, 9)
}

/// `MaleFirstName`: weight, name.
pub(super) fn male_first_names() -> String {
    let names = distinct_names(1_220, &MALE);
    weighted_lines(&names, 9_554, 7)
}

/// `LastName`: weight, name. They are the words of news texts as well; their average length (about 6.7 letters) is
/// fixed, since it determines how many draws a text takes.
pub(super) fn last_names() -> String {
    let names = distinct_names(65_000, &LAST);
    weighted_lines(&names, 69_195, 10)
}

/// The known names, then combinations of root, link and ending that are not among them, until there are `count`.
fn distinct_names(count: usize, kind: &NameWords) -> Vec<String> {
    let (known, roots, links, endings) = (words(kind.known), words(kind.roots), kind.links, words(kind.endings));
    let mut names: Vec<String> = known.iter().map(|name| name.to_string()).collect();
    names.reserve_exact(count - known.len());
    let mut seen: HashSet<u128> = known.iter().map(|name| packed(name)).collect();
    seen.reserve(count);
    // Every combination comes by once, in an order that does not show: a stride prime to their number goes through all.
    let combinations = roots.len() * links.len() * endings.len();
    let stride = coprime_near(combinations * 382 / 1_000, combinations);
    let mut at = stride / 2;
    let mut name = String::new();
    for _ in 0..combinations {
        if names.len() == count {
            break;
        }
        at = (at + stride) % combinations;
        let (root, rest) = (roots[at % roots.len()], at / roots.len());
        let (link, ending) = (links[rest % links.len()], endings[rest / links.len()]);
        if !reads_well(root, link) || !reads_well(if link.is_empty() { root } else { link }, ending) {
            continue;
        }
        name.clear();
        name.extend([root, link, ending]);
        if seen.insert(packed(&name)) {
            names.push(name.clone());
        }
    }
    assert_eq!(names.len(), count, "our syllables give too few names");
    names
}

/// A name of up to 16 letters as one number: sets of these are several times faster than sets of texts.
fn packed(name: &str) -> u128 {
    assert!(name.len() <= 16, "our syllables are short");
    name.bytes().fold(0, |packed, letter| packed << 8 | u128::from(letter))
}

/// Whether two parts can be adjacent: no two vowels meet, no letter is doubled at the seam, and no part begins with
/// several consonants after a consonant (except after the shortest roots, which need it).
fn reads_well(left: &str, right: &str) -> bool {
    let (Some(&last), Some(&first)) = (left.as_bytes().last(), right.as_bytes().first()) else {
        return true;
    };
    match (is_vowel(last), is_vowel(first)) {
        (true, true) => false,
        (false, false) => last != first && (left.len() <= 2 || right.len() < 2 || is_vowel(right.as_bytes()[1])),
        _ => true,
    }
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// The first number from `from` on that shares no factor with `modulus`.
fn coprime_near(from: usize, modulus: usize) -> usize {
    let divisor = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (from.max(1)..).find(|&candidate| divisor(candidate, modulus) == 1).expect("primes do not end")
}
