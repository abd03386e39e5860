//! Masks: values replaced by others of the same type and length, so that equality and order are as they were.
//!
//! One mask serves a trace and its database, so that equal values stay equal across columns too. Values are put into a tree by
//! their bytes; at each node the branches get other bytes in the same order, drawn at random within the byte's class: digits,
//! capitals, small letters, last bytes of other characters; any byte of a blob. All else of a text stays. A node whose branches
//! fill its class has nothing to draw: values that are dense, such as all numbers up to 999, stay as they are.
//!
//! Whole numbers get others of as many digits in the same order, between two powers of two. A double has the mask of its whole part,
//! and one for its fraction: so whole numbers and doubles keep their order, and a double without a fraction equals the same number.
//!
//! Kept are numbers of one digit, and values that stand in texts of statements ([`MaskPlan::keep_literals`]): those are part of
//! the program, and texts are not masked.

use crate::{StatementText, TraceValue, digest};
use std::collections::BTreeMap;

/// Kind of values, and group of those that are masked together: sign, digits and exponent of whole numbers, the signed whole part of
/// doubles, sign and exponent of those below one.
type Group = (u8, u64);

/// Part of a value that may be masked: its number or byte, the lowest and the highest one that may replace it, whether it is kept.
type Branch = (u64, (u64, u64), bool);

/// Values to be masked.
#[derive(Debug, Default)]
pub struct MaskPlan {
    values: BTreeMap<Group, BTreeMap<Vec<u8>, bool>>,
}

impl MaskPlan {
    /// Adds a value that may be masked.
    pub fn add(&mut self, value: &TraceValue) {
        self.insert(value, matches!(value, TraceValue::Int(-9..=9)));
    }

    /// Keeps a value as it is.
    pub fn keep(&mut self, value: &TraceValue) {
        self.insert(value, true);
    }

    fn insert(&mut self, value: &TraceValue, is_kept: bool) {
        let Some((group, key)) = key(value) else { return };
        if let Some(whole) = whole(value) {
            self.insert(&whole, is_kept || matches!(whole, TraceValue::Int(-9..=9)));
            // No fraction becomes zero, nor zero a fraction.
            self.values.entry(group).or_default().insert(vec![0; key.len()], true);
        }
        *self.values.entry(group).or_default().entry(key).or_default() |= is_kept;
    }

    /// Keeps the literals of a statement as they are, wherever they stand.
    pub fn keep_literals(&mut self, sql: &str) {
        Tokens(sql).filter_map(|token| token.literal()).for_each(|value| self.keep(&value));
    }

    /// Draws the mask.
    #[must_use]
    pub fn draw(self, seed: u64) -> Mask {
        let mut random = seed;
        let groups = self.values.into_iter();
        Mask { masked: groups.map(|(group, values)| (group, masked(group, values, &mut random))).collect() }
    }
}

/// Mask of the values that were added to its plan.
#[derive(Debug, Default)]
pub struct Mask {
    masked: BTreeMap<Group, BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl Mask {
    /// The masked value; the value itself if the plan has it not.
    #[must_use]
    pub fn of(&self, value: &TraceValue) -> TraceValue {
        let masked = || {
            let (group, key) = key(value)?;
            let masked = self.masked.get(&group)?.get(&key)?;
            Some(match value {
                TraceValue::Text(_) => TraceValue::Text(masked.clone()),
                TraceValue::Blob(_) => TraceValue::Blob(masked.clone()),
                TraceValue::Int(number) => {
                    let masked = i64::try_from(u64::from_be_bytes(masked.as_slice().try_into().ok()?)).ok()?;
                    TraceValue::Int(if *number < 0 { masked.saturating_neg() } else { masked })
                }
                TraceValue::Real(number) => {
                    let fraction = masked.iter().fold(0_u64, |bits, bit| (bits << 1) | u64::from(*bit));
                    let above = match whole(value).map(|whole| self.of(&whole)) {
                        Some(TraceValue::Int(whole)) => (whole as f64).to_bits(),
                        _ => number.to_bits() >> 52 << 52,
                    };
                    TraceValue::Real(f64::from_bits(above | fraction))
                }
                _ => return None,
            })
        };
        masked().unwrap_or_else(|| value.clone())
    }
}

/// Doubles from here on have no fraction.
const WHOLE_FROM: f64 = 9_007_199_254_740_992.0;

/// Signed whole part of a double between one and [`WHOLE_FROM`].
fn whole(value: &TraceValue) -> Option<TraceValue> {
    match value {
        TraceValue::Real(number) if (1.0..WHOLE_FROM).contains(&number.abs()) => Some(TraceValue::Int(*number as i64)),
        _ => None,
    }
}

/// Group and bytes by which a value is masked; `None` for those that stay as they are.
fn key(value: &TraceValue) -> Option<(Group, Vec<u8>)> {
    /// The lowest bits of a number, one in each byte.
    fn bits(number: u64, count: u64) -> Vec<u8> {
        (0..count).rev().map(|at| (number >> at) as u8 & 1).collect()
    }
    Some(match value {
        TraceValue::Text(bytes) => ((3, 0), bytes.clone()),
        TraceValue::Blob(bytes) => ((4, 0), bytes.clone()),
        TraceValue::Int(number) => {
            let (size, sign) = (number.unsigned_abs(), u64::from(*number < 0));
            let digits = u64::from(size.checked_ilog10()?).saturating_add(1);
            // Others of nineteen digits could leave the range.
            if digits > 18 {
                return None;
            }
            ((1, (u64::from(size.checked_ilog2()?) << 8) | (digits << 1) | sign), size.to_be_bytes().to_vec())
        }
        TraceValue::Real(number) if number.is_normal() => match whole(value) {
            Some(TraceValue::Int(whole)) => {
                let exponent = u64::from(whole.unsigned_abs().checked_ilog2()?);
                ((5, whole.cast_unsigned()), bits(number.to_bits(), 52_u64.saturating_sub(exponent)))
            }
            _ if number.abs() < 1.0 => ((2, number.to_bits() >> 52), bits(number.to_bits(), 52)),
            _ => return None,
        },
        _ => return None,
    })
}

/// Lowest and highest whole number of a group of them.
fn range(group: u64) -> (u64, u64) {
    let (exponent, digits) = ((group >> 8) as u32, (group >> 1) as u32 & 127);
    let (two, ten) = (2_u64.saturating_pow(exponent), 10_u64.saturating_pow(digits.saturating_sub(1)));
    (two.max(ten), two.saturating_mul(2).min(ten.saturating_mul(10)).saturating_sub(1))
}

/// Masked values of a group, by the values; `true` follows those that are unchanged.
fn masked((kind, group): Group, values: BTreeMap<Vec<u8>, bool>, random: &mut u64) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let values: Vec<(Vec<u8>, bool)> = values.into_iter().collect();
    if kind == 1 {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
        let branches: Vec<Branch> = values.iter().map(|(value, kept)| (number(value), range(group), *kept)).collect();
        let drawn = drawn(&branches, random).into_iter().map(|number| number.to_be_bytes().to_vec());
        return values.into_iter().map(|(value, _)| value).zip(drawn).collect();
    }
    let mut masked: Vec<Vec<u8>> = values.iter().map(|(value, _)| value.clone()).collect();
    // Nodes: values from and to, which have the bytes before that depth in common.
    let mut nodes = vec![(0, values.len(), 0)];
    while let Some((from, to, depth)) = nodes.pop() {
        let byte_of = |at: usize| values.get(at).and_then(|(value, _)| value.get(depth).copied());
        let mut branches = Vec::new();
        let mut begin = from;
        while begin < to {
            let byte = byte_of(begin);
            let end = (begin..to).find(|at| byte_of(*at) != byte).unwrap_or(to);
            if let (Some(byte), Some((value, _))) = (byte, values.get(begin)) {
                let is_kept = values.get(begin..end).is_some_and(|branch| branch.iter().any(|(_, is_kept)| *is_kept));
                branches.push((begin, end, byte, class(kind, value, depth), is_kept));
                nodes.push((begin, end, depth.saturating_add(1)));
            }
            begin = end;
        }
        let of_byte = |(low, high): (u8, u8)| (u64::from(low), u64::from(high));
        let bytes: Vec<Branch> =
            branches.iter().map(|(.., byte, class, is_kept)| (u64::from(*byte), of_byte(*class), *is_kept)).collect();
        for ((begin, end, ..), byte) in branches.iter().zip(drawn(&bytes, random)) {
            for value in masked.get_mut(*begin..*end).into_iter().flatten() {
                value.get_mut(depth).into_iter().for_each(|at| *at = byte as u8);
            }
        }
    }
    values.into_iter().map(|(value, _)| value).zip(masked).collect()
}

/// Lowest and highest byte that may replace the byte at that depth.
fn class(kind: u8, value: &[u8], depth: usize) -> (u8, u8) {
    let Some(&byte) = value.get(depth) else { return (0, 0) };
    match kind {
        2 | 5 => (0, 1),
        4 => (0, 255),
        _ => match byte {
            b'0'..=b'9' => (b'0', b'9'),
            b'A'..=b'Z' => (b'A', b'Z'),
            b'a'..=b'z' => (b'a', b'z'),
            0x80..=0xBF if is_last(value, depth) => (0x80, 0xBF),
            _ => (byte, byte),
        },
    }
}

/// Whether the byte is the last one of a character of several bytes.
fn is_last(value: &[u8], depth: usize) -> bool {
    (1..=3).any(|back| {
        let first = depth.checked_sub(back).and_then(|at| value.get(at)).copied().unwrap_or_default();
        let length = match first {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 0,
        };
        length == back.saturating_add(1)
    })
}

/// Numbers in the place of those of branches, in the same order, each in its class; kept branches have theirs.
fn drawn(branches: &[Branch], random: &mut u64) -> Vec<u64> {
    // Branches behind each that share its class, up to the next kept one, need room; and the number of that one.
    let mut behind = Vec::with_capacity(branches.len());
    let mut next: Option<(Branch, (u64, Option<u64>))> = None;
    for branch in branches.iter().rev() {
        let room = match next {
            Some(((number, class, true), _)) if class.1 == branch.1.1 => (0, Some(number)),
            Some(((_, class, false), (same, limit))) if class.1 == branch.1.1 => (same.saturating_add(1), limit),
            _ => (0, None),
        };
        behind.push(room);
        next = Some((*branch, room));
    }
    let mut drawn = Vec::with_capacity(branches.len());
    let mut least = 0_u64;
    for ((number, (lowest, highest), is_kept), (same, limit)) in branches.iter().zip(behind.into_iter().rev()) {
        let least_here = least.max(*lowest);
        let most = limit.map_or(*highest, |next| next.saturating_sub(1)).saturating_sub(same);
        let room = most.saturating_sub(least_here).saturating_add(1);
        // One of several branches takes a place near the front of the room, so that the others have a choice, too.
        let share = room.div_ceil(same.saturating_add(1)).max(1);
        *random = digest::mix(*random, 1);
        let chosen =
            if *is_kept { *number } else { least_here.saturating_add(random.checked_rem(share).unwrap_or_default()) };
        drawn.push(chosen);
        least = chosen.saturating_add(1);
    }
    drawn
}

/// Token of a statement that matters to masks.
enum Token<'s> {
    /// Text between quotes, without them.
    Quoted(char, &'s str),
    /// Number or word.
    Word(&'s str),
}

impl StatementText {
    /// Whether values stand within the text, which no mask changes; numbers of one digit do not count.
    #[must_use]
    pub fn has_literals(&self) -> bool {
        Tokens(&self.sql).any(|token| matches!(token.literal(), Some(it) if !matches!(it, TraceValue::Int(-9..=9))))
    }
}

impl Token<'_> {
    fn literal(&self) -> Option<TraceValue> {
        match self {
            Self::Quoted(quote @ ('\'' | '"'), text) => {
                let doubled = format!("{quote}{quote}");
                Some(TraceValue::Text(text.replace(&doubled, &quote.to_string()).into_bytes()))
            }
            Self::Word(word) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                word.parse().map(TraceValue::Int).or_else(|_| word.parse().map(TraceValue::Real)).ok()
            }
            _ => None,
        }
    }
}

/// Tokens of a statement; the rest of its text.
struct Tokens<'s>(&'s str);

impl<'s> Iterator for Tokens<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        loop {
            let text = self.0;
            let first = text.chars().next()?;
            let until = |end: &str| text.find(end).map_or(text.len(), |at| at.saturating_add(end.len()));
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = match first {
                '-' if text.starts_with("--") => until("\n"),
                '/' if text.starts_with("/*") => until("*/"),
                '[' => until("]"),
                '\'' | '"' | '`' => {
                    let inner = text.get(1..).unwrap_or_default();
                    let length = quoted_length(inner, first);
                    self.0 = inner.get(length.saturating_add(1)..).unwrap_or_default();
                    return Some(Token::Quoted(first, inner.get(..length).unwrap_or(inner)));
                }
                '?' | ':' | '@' | '$' => {
                    text.char_indices().skip(1).find(|(_, c)| !is_word(*c)).map_or(text.len(), |it| it.0)
                }
                _ if is_word(first) => {
                    let length = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
                    let (word, rest) = text.split_at(length);
                    self.0 = rest;
                    return Some(Token::Word(word));
                }
                _ => first.len_utf8(),
            };
            self.0 = text.get(length..).unwrap_or_default();
        }
    }
}

/// Bytes before the closing quote; a doubled one closes nothing.
fn quoted_length(inner: &str, quote: char) -> usize {
    let mut rest = inner.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if c == quote && rest.next_if(|(_, next)| *next == quote).is_none() {
            return at;
        }
    }
    inner.len()
}
