//! Lines of the flat file, assembled in place: copies of constant size, one capacity check a line.

use bourse_schema::Text;

/// Two decimal digits of each number below a hundred.
static DIGITS: [[u8; 2]; 100] = {
    let mut table = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        table[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    table
};

/// Two digits of a number below a hundred.
#[inline]
pub(crate) fn two(number: u32) -> [u8; 2] {
    DIGITS[number as usize]
}

/// Eight digits of a number below a hundred million.
#[inline]
fn eight(number: u32) -> [u8; 8] {
    let (high, low) = (number / 10_000, number % 10_000);
    let [a, b, c, d] = [two(high / 100), two(high % 100), two(low / 100), two(low % 100)];
    [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
}

/// One line or a few, or a part of one that several lines share.
pub(crate) struct FlatLine<const CAPACITY: usize> {
    bytes: [u8; CAPACITY],
    len: usize,
}

/// A number that several lines share.
pub(crate) type PrintedNumber = FlatLine<24>;

impl<const CAPACITY: usize> FlatLine<CAPACITY> {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }
    }

    /// Appends a number that was printed before.
    #[inline]
    pub(crate) fn printed(&mut self, other: &PrintedNumber) -> &mut Self {
        self.put(&other.bytes, other.len);
        self
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Appends the first `used` bytes; the others are written too and overwritten by the next call.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], used: usize) {
        self.bytes[self.len..self.len + N].copy_from_slice(bytes);
        self.len += used;
    }

    #[inline]
    pub(crate) fn fixed<const N: usize>(&mut self, bytes: &[u8; N]) -> &mut Self {
        self.put(bytes, N);
        self
    }

    #[inline]
    pub(crate) fn bar(&mut self) -> &mut Self {
        self.fixed(b"|")
    }

    /// Ends a line.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.fixed(b"\n");
    }

    #[inline]
    pub(crate) fn text<const N: usize>(&mut self, text: &Text<N>) -> &mut Self {
        let (bytes, len) = text.padded();
        self.put(bytes, len);
        self
    }

    #[inline]
    pub(crate) fn flag(&mut self, flag: bool) -> &mut Self {
        self.fixed(if flag { b"1" } else { b"0" })
    }

    /// An integer in plain decimal.
    #[inline]
    pub(crate) fn number(&mut self, number: i64) -> &mut Self {
        if number < 0 {
            self.fixed(b"-");
        }
        // Digits end in the middle, so that twenty bytes can be copied from wherever they begin.
        let mut digits = [0; 40];
        let mut at = 20;
        let mut rest = number.unsigned_abs();
        while rest >= 100 {
            at -= 2;
            digits[at..at + 2].copy_from_slice(&two((rest % 100) as u32));
            rest /= 100;
        }
        at -= 2;
        digits[at..at + 2].copy_from_slice(&two(rest as u32));
        at += usize::from(rest < 10);
        let copied: &[u8; 20] = digits[at..at + 20].try_into().expect("twenty bytes");
        self.put(copied, 20 - at);
        self
    }

    /// Cents as a decimal with two digits after the point.
    #[inline]
    pub(crate) fn cents(&mut self, cents: i64) -> &mut Self {
        if cents < 0 {
            self.fixed(b"-");
        }
        let cents = cents.unsigned_abs();
        self.number((cents / 100) as i64);
        let [tens, ones] = two((cents % 100) as u32);
        self.fixed(&[b'.', tens, ones])
    }

    /// Appends the price of a share: four digits, since the market's prices are between 20 and 30 dollars.
    #[inline]
    pub(crate) fn price(&mut self, cents: i64) -> &mut Self {
        let ([a, b], [c, d]) = (two((cents / 100) as u32), two((cents % 100) as u32));
        self.fixed(&[a, b, b'.', c, d])
    }

    /// Appends an account's identifier: eleven digits below five billion customers.
    #[inline]
    pub(crate) fn account(&mut self, id: i64) -> &mut Self {
        let [.., a, b, c] = eight((id / 100_000_000) as u32);
        self.fixed(&[a, b, c]).fixed(&eight((id % 100_000_000) as u32))
    }

    /// Appends a trade's identifier: fifteen digits in every database of a realistic size.
    #[inline]
    pub(crate) fn trade_id(&mut self, id: i64) -> &mut Self {
        if (100_000_000_000_000..1_000_000_000_000_000).contains(&id) {
            let [_, high @ ..] = eight((id / 100_000_000) as u32);
            self.fixed(&high).fixed(&eight((id % 100_000_000) as u32))
        } else {
            self.number(id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_display() {
        let mut numbers: Vec<i64> = (-1_100..1_100).collect();
        for power in 0..18 {
            let ten = 10i64.pow(power);
            numbers.extend([ten - 1, ten, ten + 1, -ten, ten * 7 + ten / 3]);
        }
        for number in numbers {
            let mut line = FlatLine::<128>::new();
            line.number(number).bar().cents(number).bar();
            let decimal = bourse_schema::Amount::from_units(number);
            assert_eq!(line.as_bytes(), format!("{number}|{decimal}|").as_bytes());
            if (2_000..3_000).contains(&number) {
                line.clear();
                line.price(number).bar().account(43_000_000_000 + number);
                assert_eq!(line.as_bytes(), format!("{decimal}|{}", 43_000_000_000 + number).as_bytes());
            }
            if number > 0 {
                line.clear();
                line.trade_id(number);
                assert_eq!(line.as_bytes(), number.to_string().as_bytes());
            }
        }
    }
}
