use bourse_schema::Dialect;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A statement, written once in the subset common to all SQL engines.
///
/// Parameters are `?1`, `?2`, …; the few true differences between engines are named holes such as `{for_update}`, filled
/// from the dialect's data. Statements are `static`, so a session finds its prepared form by number, without hashing.
///
/// ```
/// use bourse_engine::{Dialect, Sql};
/// static LAST_PRICE: Sql = Sql::new("SELECT lt_price FROM last_trade WHERE lt_s_symb = ?1 {for_update}");
/// assert_eq!(LAST_PRICE.render(&Dialect::STANDARD), "SELECT lt_price FROM last_trade WHERE lt_s_symb = ? FOR UPDATE");
/// ```
#[derive(Debug)]
pub struct Sql {
    text: &'static str,
    /// Slot plus one; 0 before the first use.
    slot: AtomicUsize,
}

impl Sql {
    /// A statement with that text.
    pub const fn new(text: &'static str) -> Self {
        Self { text, slot: AtomicUsize::new(0) }
    }

    /// The text as written.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// Number of this statement in this process; sessions index their prepared statements by it.
    #[inline]
    pub fn slot(&self) -> usize {
        match self.slot.load(Ordering::Relaxed) {
            0 => self.take_slot(),
            taken => taken - 1,
        }
    }

    #[cold]
    fn take_slot(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        // Where two threads come at once the first number stands and the other stays unused.
        match self.slot.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh - 1,
            Err(taken) => taken - 1,
        }
    }

    /// The text for an engine of that dialect: holes filled, parameters in its notation.
    pub fn render(&self, dialect: &Dialect) -> String {
        let text = dialect.fill(self.text);
        let mut rendered = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find('?') {
            let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
            rendered.push_str(&rest[..at]);
            match rest[at + 1..at + 1 + digits].parse() {
                Ok(number) => rendered.push_str(&(dialect.parameter)(number)),
                Err(_) => rendered.push('?'),
            }
            rest = &rest[at + 1 + digits..];
        }
        rendered.push_str(rest);
        rendered.trim().to_owned()
    }
}

/// Splits a statement's text at its parameters `?1`, `?2`, … or plain `?`. Returns the pieces between them, and for
/// each parameter the index of the caller's value, from 0. Parameters in quotes or comments do not count.
///
/// ```
/// let (pieces, order) = bourse_engine::split_parameters("SET a = ?2, b = '?' WHERE c = ?1");
/// assert_eq!(pieces, ["SET a = ", ", b = '?' WHERE c = ", ""]);
/// assert_eq!(order, [1, 0]);
/// ```
pub fn split_parameters(text: &str) -> (Vec<String>, Vec<usize>) {
    let (mut pieces, mut order) = (Vec::new(), Vec::new());
    let mut piece = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let plain = literal_length(rest);
        if plain > 0 {
            piece.push_str(&rest[..plain]);
            rest = &rest[plain..];
        } else if let Some(behind) = rest.strip_prefix('?') {
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let number = behind[..digits].parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            order.push(number.unwrap_or(order.len()));
            pieces.push(std::mem::take(&mut piece));
            rest = &behind[digits..];
        } else {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            piece.push_str(&rest[..next]);
            rest = &rest[next..];
        }
    }
    pieces.push(piece);
    (pieces, order)
}

/// Number of bytes at the start of `text` that are a quoted text, a quoted name or a comment, where a `?` is no
/// parameter.
fn literal_length(text: &str) -> usize {
    let until = |end: &str, open: usize| text[open..].find(end).map_or(text.len(), |at| open + at + end.len());
    match text.as_bytes() {
        // A doubled quote ends one text and begins another, which comes to the same.
        [b'\'', ..] => until("'", 1),
        [b'"', ..] => until("\"", 1),
        [b'`', ..] => until("`", 1),
        [b'-', b'-', ..] => until("\n", 2),
        [b'/', b'*', ..] => until("*/", 2),
        _ => 0,
    }
}
