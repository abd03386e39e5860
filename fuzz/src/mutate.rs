//! Mutations of a seed by number: the same number gives the same bytes on every machine.

use bourse_record::SplitMix;

/// Typical problems of parsers: ends of ranges, signs, brackets, characters of several bytes.
const ODD: [&[u8]; 22] = [
    b"0",
    b"-1",
    b"1e308",
    b"-1e-308",
    b"18446744073709551615",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"4294967296",
    b"null",
    b"[]",
    b"{}",
    b"\"",
    b"'",
    b"%",
    b"%00",
    b"\\u0000",
    b"\xff",
    b"\n",
    b":",
    b"?",
    "☃".as_bytes(),
    "\u{202e}".as_bytes(),
];

/// Applies one to four changes to the bytes: a byte changed, a piece cut, doubled or moved, a number or unusual bytes
/// inserted.
pub fn mutated(seed: &[u8], number: u64) -> Vec<u8> {
    let mut random = SplitMix::new(number);
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        change(&mut bytes, &mut random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, random: &mut SplitMix) {
    let at = random.below(bytes.len() as u64 + 1) as usize;
    let length = (random.below(16) as usize).min(bytes.len() - at);
    let odd = ODD[random.below(ODD.len() as u64) as usize];
    match random.below(6) {
        0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
        1 => drop(bytes.drain(at..at + length)),
        2 => {
            let piece = bytes[at..at + length].to_vec();
            bytes.splice(at..at, piece);
        }
        3 => {
            let piece: Vec<u8> = bytes.drain(at..at + length).collect();
            let to = random.below(bytes.len() as u64 + 1) as usize;
            bytes.splice(to..to, piece);
        }
        // The next number becomes another.
        4 => {
            let from = bytes.iter().skip(at).position(u8::is_ascii_digit).map_or(at, |found| at + found);
            let digits = bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
            bytes.splice(from..from + digits, odd.iter().copied());
        }
        _ => drop(bytes.splice(at..at, odd.iter().copied())),
    }
}
