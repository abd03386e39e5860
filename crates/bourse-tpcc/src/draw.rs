//! Random values of rows and inputs: the non-uniform distribution, last names, texts.

use bourse_schema::{Text, Timestamp};
use bourse_stats::SplitMix;

/// Size of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Number of warehouses.
    pub warehouses: i64,
    /// Customers of a district, 3,000 as published; items, stock and orders follow from it.
    pub customers: i64,
}

/// Customers of a district as published.
pub const CUSTOMERS: i64 = 3_000;
/// Districts of a warehouse.
pub const DISTRICTS: i64 = 10;

impl Scale {
    /// Items, each in stock in every warehouse: 100,000 as published.
    pub const fn items(self) -> i64 {
        self.customers * 100 / 3
    }

    /// Initial orders of a district that are delivered: 2,100 as published. The others are new.
    pub const fn delivered(self) -> i64 {
        self.customers * 7 / 10
    }

    /// Last names: 1,000 as published.
    pub const fn names(self) -> i64 {
        self.customers / 3
    }
}

/// A distribution by which some numbers are drawn much more often than others: the bound A and the constant C of the published
/// formula.
#[derive(Debug, Clone, Copy)]
pub struct NonUniform {
    most: u64,
    constant: i64,
}

/// Last names of customers that are loaded.
pub const LOADED_NAME: NonUniform = NonUniform { most: 255, constant: 71 };
/// Last names that users draw. The published rule for the two constants: they are 65 to 119 apart, but neither 96 nor 112.
pub const NAME: NonUniform = NonUniform { most: 255, constant: 156 };
/// Customers that users draw.
pub const CUSTOMER: NonUniform = NonUniform { most: 1_023, constant: 602 };
/// Items that users draw.
pub const ITEM: NonUniform = NonUniform { most: 8_191, constant: 3_877 };

/// Source of random values.
#[derive(Debug, Clone)]
pub struct Draw(SplitMix);

impl Draw {
    /// Starts the sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// A number between two, each equally likely, both included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        least + self.0.below((most - least + 1).unsigned_abs()) as i64
    }

    /// [`between`](Self::between) of a small number.
    pub fn small(&mut self, least: u8, most: u8) -> u8 {
        self.between(least.into(), most.into()) as u8
    }

    /// Whether something happens that happens in so many of a hundred cases.
    pub fn percent(&mut self, share: u64) -> bool {
        self.0.below(100) < share
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// A number between two by the published formula `((random(0, A) | random(x, y)) + C) % (y - x + 1) + x`.
    pub fn non_uniform(&mut self, of: NonUniform, least: i64, most: i64) -> i64 {
        let some = self.0.below(of.most + 1) as i64 | self.between(least, most);
        (some + of.constant) % (most - least + 1) + least
    }

    /// Another number than `not` from 1 to `most`, each equally likely; `not` if there is no other.
    pub fn other(&mut self, most: i64, not: i64) -> i64 {
        if most < 2 {
            return not;
        }
        let other = self.between(1, most - 1);
        if other < not { other } else { other + 1 }
    }

    /// Characters of an alphabet, as many as are between two numbers.
    fn of(&mut self, alphabet: &[u8], least: usize, most: usize) -> String {
        let length = self.between(least as i64, most as i64);
        (0..length).map(|_| char::from(alphabet[self.0.below(alphabet.len() as u64) as usize])).collect()
    }

    /// Letters and digits.
    pub fn long_text(&mut self, least: usize, most: usize) -> String {
        self.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", least, most)
    }

    /// [`long_text`](Self::long_text) that a row has in place.
    pub fn text<const N: usize>(&mut self, least: usize, most: usize) -> Text<N> {
        Text::cut(&self.long_text(least, most))
    }

    /// Digits as long as the text.
    pub fn digits<const N: usize>(&mut self) -> Text<N> {
        Text::cut(&self.of(b"0123456789", N, N))
    }

    /// Two capital letters.
    pub fn state(&mut self) -> Text<2> {
        Text::cut(&self.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2, 2))
    }

    /// A zip code: four digits, and five that are the same in all.
    pub fn zip(&mut self) -> Text<9> {
        Text::cut(&format!("{}11111", self.digits::<4>()))
    }

    /// Data of an item or its stock: one in ten has the word that marks an original.
    pub fn data(&mut self) -> Text<50> {
        let mut data = self.long_text(26, 50);
        if self.percent(10) {
            let at = self.0.below((data.len() - ORIGINAL.len() + 1) as u64) as usize;
            data.replace_range(at..at + ORIGINAL.len(), ORIGINAL);
        }
        Text::cut(&data)
    }

    /// Numbers from 1 on in a random order.
    pub fn permutation(&mut self, most: i64) -> Vec<i64> {
        let mut numbers: Vec<i64> = (1..=most).collect();
        self.0.shuffle(&mut numbers);
        numbers
    }
}

/// The word that marks an original.
pub const ORIGINAL: &str = "ORIGINAL";

/// The last name of a number below 1,000: a syllable for each digit.
pub fn last_name(number: i64) -> Text<16> {
    const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
    let syllable = |digit: i64| SYLLABLES[(digit % 10).unsigned_abs() as usize];
    Text::cut(&[syllable(number / 100), syllable(number / 10), syllable(number)].concat())
}

/// The moment at which databases were loaded, in their rows.
pub const LOADED: Timestamp = Timestamp::at(bourse_schema::Date::from_ymd(2026, 1, 5), 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_follow_the_published_rule() {
        let apart = (NAME.constant - LOADED_NAME.constant).abs();
        assert!((65..=119).contains(&apart) && apart != 96 && apart != 112, "{apart}");
        assert!([LOADED_NAME, NAME, CUSTOMER, ITEM].iter().all(|of| (0..=of.most as i64).contains(&of.constant)));
    }

    #[test]
    fn names_are_of_three_syllables_and_all_fit() {
        assert_eq!(last_name(371).as_str(), "PRICALLYOUGHT");
        assert_eq!((last_name(0).as_str(), last_name(999).as_str()), ("BARBARBAR", "EINGEINGEING"));
        let mut names: Vec<_> = (0..1_000).map(last_name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 1_000);
    }

    #[test]
    fn numbers_are_drawn_unevenly_and_within_bounds() {
        let mut draw = Draw::new(7);
        let mut drawn = vec![0_u32; 3_001];
        (0..300_000).for_each(|_| drawn[draw.non_uniform(CUSTOMER, 1, 3_000) as usize] += 1);
        assert_eq!(drawn[0], 0);
        drawn.sort_unstable_by(|a, b| b.cmp(a));
        let most: u32 = drawn[..300].iter().sum();
        assert!(most > 100_000, "the tenth that is drawn most often: {most} of 300,000");
        assert!((0..1_000).all(|_| draw.other(3, 2) != 2) && draw.other(1, 1) == 1);
    }

    #[test]
    fn originals_are_one_in_ten() {
        let mut draw = Draw::new(7);
        let originals = (0..10_000).filter(|_| draw.data().as_str().contains(ORIGINAL)).count();
        assert!((880..1_120).contains(&originals), "{originals}");
    }
}
