//! Words for company names and descriptions; the words of each trade are listed with the industries.

use super::{Words, words};
use std::sync::LazyLock;

/// Family names of founders. None ends in s, so that "Founder's Bakeries" reads well.
pub(super) static FOUNDERS: Words = LazyLock::new(|| words(include_str!("words/company_founders.txt")));

/// Places, beasts and things that companies are named after.
pub(super) static EMBLEMS: Words = LazyLock::new(|| words(include_str!("words/company_emblems.txt")));

/// Halves of coined names: "Veridyne", "Optalor".
pub(super) static COINED_STARTS: Words = LazyLock::new(|| words(include_str!("words/company_coined_starts.txt")));

pub(super) static COINED_ENDS: Words = LazyLock::new(|| words(include_str!("words/company_coined_ends.txt")));

/// Legal forms after a company's name, repeated by frequency.
pub(super) const FORMS: [&str; 16] = [
    ", Inc.", ", Inc.", ", Inc.", ", Inc.", " Corporation", " Corporation", " Corp.", " Company", " Co.", " Limited",
    " Ltd.", " Group", " Group, Inc.", " Holdings", " Holdings, Ltd.", ", LLC",
];

/// Beginnings of a description; the goods follow.
pub(super) static ACTIVITIES: Words = LazyLock::new(|| words(include_str!("words/company_activities.txt")));

/// Last parts of a description: the place or the age of the business.
pub(super) static REACHES: Words = LazyLock::new(|| words(include_str!("words/company_reaches.txt")));

/// A last sentence that about half of the descriptions have.
pub(super) static REMARKS: Words = LazyLock::new(|| words(include_str!("words/company_remarks.txt")));
