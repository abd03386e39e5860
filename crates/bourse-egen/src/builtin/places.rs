//! Addresses: area codes, streets, and zip codes with their towns.

use std::fmt::Write;

use crate::Rng;

use super::divisions::{DIVISIONS, Division};
use super::weights::{descending, weighted_lines};
use super::{pick, shuffle, words};

/// `AreaCode`: weight, area code of three digits.
pub(super) fn area_codes() -> String {
    let mut codes: Vec<u32> = (201..990).filter(|code| code % 100 != 11 && code / 10 % 10 != 9).collect();
    shuffle(&mut Rng::new(2_010), &mut codes);
    codes.truncate(284);
    weighted_lines(&codes, 306, 2)
}

/// `StreetSuffix`: weight 1, suffix.
pub(super) fn street_suffixes() -> String {
    let suffixes = words(include_str!("words/street_suffixes.txt"));
    weighted_lines(&suffixes, suffixes.len(), 1)
}

/// `StreetName`: weight 1, name: each feature alone, then features with what people call a place after them.
pub(super) fn street_names() -> String {
    let features = words(include_str!("words/street_features.txt"));
    let places = words(include_str!("words/street_places.txt"));
    let mut names: Vec<String> = features.iter().map(|feature| feature.to_string()).collect();
    let of_feature = |feature| places.iter().map(move |place| format!("{feature} {place}"));
    let mut pairs: Vec<String> = features.iter().flat_map(of_feature).collect();
    shuffle(&mut Rng::new(1_811), &mut pairs);
    names.extend(pairs.into_iter().take(1_000 - features.len()));
    weighted_lines(&names, 1_000, 1)
}

/// `ZipCode`: weight, division number, zip code, town, division. Divisions in order, each from its largest town down.
pub(super) fn zip_codes() -> String {
    let mut rng = Rng::new(14_741);
    let mut towns = town_names(&mut rng).into_iter();
    let (mut in_usa, mut in_canada) = (0, 0);
    let mut text = String::with_capacity(400_000);
    for (number, division) in (1..).zip(DIVISIONS.iter()) {
        let weights = descending(division.zips, division.weight, division.zips / 3 + 1);
        let (mut town, mut left_in_town, mut left) = (String::new(), 0, division.zips);
        for (nth, weight) in weights.into_iter().enumerate() {
            if left_in_town == 0 {
                // The next town has a quarter of the codes that are left, and not fewer than eight.
                left_in_town = (left / 4).max(8).min(left);
                left -= left_in_town;
                town = towns.next().expect("our words give too few towns");
            }
            left_in_town -= 1;
            let code = if division.letters.is_empty() {
                in_usa += 1;
                us_code(in_usa, &mut rng)
            } else {
                in_canada += 1;
                canadian_code(division, nth, in_canada)
            };
            writeln!(text, "{weight}\t{number}\t{code}\t{town}\t{}", division.code).expect("a string takes any text");
        }
    }
    text
}

/// Draws a code of five digits, ascending through the country in steps of about nine.
fn us_code(nth_in_country: u64, rng: &mut Rng) -> String {
    format!("{:05}", 600 + nth_in_country * 9 + rng.below(9))
}

/// Draws a code of the form letter, digit, letter, blank, digit, letter, digit; the first letter identifies the
/// province.
fn canadian_code(division: &Division, nth_in_division: usize, nth_in_country: u64) -> String {
    // The post uses no letter that can be read as another or as a digit.
    const LETTERS: &[u8; 20] = b"ABCEGHJKLMNPRSTVWXYZ";
    let first = division.letters.as_bytes()[nth_in_division * division.letters.len() / division.zips];
    // A number of the country's 400,000, so that provinces that share a letter share no code.
    let mut number = nth_in_country * 89;
    let mut digit = |base: u64| {
        let digit = number % base;
        number /= base;
        digit
    };
    let (last, letter2, middle, letter1, zone) = (digit(10), digit(20), digit(10), digit(20), digit(10));
    format!(
        "{}{zone}{} {middle}{}{last}",
        first as char, LETTERS[letter1 as usize] as char, LETTERS[letter2 as usize] as char
    )
}

/// Names of towns, all different, in an order that does not show how they are made.
fn town_names(rng: &mut Rng) -> Vec<String> {
    let (roots, endings) = (words(include_str!("words/town_roots.txt")), words(include_str!("words/town_endings.txt")));
    let (prefixes, suffixes) =
        (words(include_str!("words/town_prefixes.txt")), words(include_str!("words/town_suffixes.txt")));
    let of_root = |root| endings.iter().map(move |ending| format!("{root}{ending}"));
    let mut names: Vec<String> = roots.iter().flat_map(of_root).collect();
    shuffle(rng, &mut names);
    for name in &mut names {
        // One in four lies north of itself, at a fall, or by a lake; no two become alike, as they differed before.
        match rng.below(8) {
            0 => *name = format!("{} {name}", pick(rng, &prefixes)),
            1 => *name = format!("{name} {}", pick(rng, &suffixes)),
            _ => {}
        }
    }
    names
}
