//! Shares of the built-in companies.
//!
//! A load unit takes 685 securities in file order, those of its 500 companies, and the count of each exchange's
//! securities after every load unit is a table of the generator: shares are assigned to exchanges so that this table
//! holds.

use std::collections::HashSet;
use std::fmt::Write;

use crate::Rng;

use super::companies::{BLOCK, BLOCKS, company_names};
use super::market::EXCHANGES;
use super::shuffle;

/// Securities of each exchange (in the order of the file) in each load unit; every column sums to 685.
const LISTED: [[usize; BLOCKS]; 4] = [
    [153, 154, 184, 197, 171, 169, 175, 157, 172, 172],
    [173, 171, 154, 160, 190, 158, 185, 211, 170, 177],
    [189, 171, 174, 180, 161, 148, 151, 168, 165, 159],
    [170, 189, 173, 148, 163, 210, 174, 149, 178, 177],
];

/// Number of a block's companies by number of preferred shares, in addition to the common one; the others have none.
const WITH_PREFERRED: [(usize, usize); 4] = [(1, 50), (2, 25), (3, 15), (4, 10)];

/// `Security`: id (from 1), status, symbol, issue, exchange, company id. In order of companies, the common share first.
pub(super) fn securities() -> String {
    let mut rng = Rng::new(6_850);
    let symbols = symbols(&company_names());
    let mut text = String::with_capacity(240_000);
    let mut ids = 1..;
    for (block, symbols) in symbols.chunks(BLOCK).enumerate() {
        let preferred = preferred_shares(&mut rng);
        let exchanges = exchanges(&mut rng, LISTED.map(|listed| listed[block]), &preferred);
        for (company, symbol) in symbols.iter().enumerate() {
            let (exchange, company_id) = (EXCHANGES[exchanges[company]], block * BLOCK + company + 1);
            let common = ids.next().expect("ids do not end");
            writeln!(text, "{common}\tACTV\t{symbol}\tCOMMON\t{exchange}\t{company_id}")
                .expect("a string takes any text");
            for (series, id) in ('A'..='D').take(preferred[company]).zip(ids.by_ref()) {
                writeln!(text, "{id}\tACTV\t{symbol}P{series}\tPREF_{series}\t{exchange}\t{company_id}")
                    .expect("a string takes any text");
            }
        }
    }
    text
}

/// Number of preferred shares of each company of a block.
fn preferred_shares(rng: &mut Rng) -> Vec<usize> {
    let mut shares: Vec<usize> =
        WITH_PREFERRED.iter().flat_map(|&(shares, companies)| std::iter::repeat_n(shares, companies)).collect();
    shares.resize(BLOCK, 0);
    shuffle(rng, &mut shares);
    shares
}

/// Exchange of each company of a block: all its shares are listed together, and each exchange lists its fixed number.
fn exchanges(rng: &mut Rng, mut room: [usize; 4], preferred: &[usize]) -> Vec<usize> {
    let mut exchanges = vec![0; preferred.len()];
    let mut order: Vec<usize> = (0..preferred.len()).collect();
    shuffle(rng, &mut order);
    // The large ones first: the 400 single shares at the end fill whatever is left.
    order.sort_by_key(|&company| std::cmp::Reverse(preferred[company]));
    for company in order {
        let shares = 1 + preferred[company];
        // Each free place is as likely as another, on the exchanges that have room for all.
        let free = room.map(|room| if room >= shares { room } else { 0 });
        let mut place = rng.below(free.iter().sum::<usize>() as u64) as usize;
        let mut exchange = 0;
        while place >= free[exchange] {
            place -= free[exchange];
            exchange += 1;
        }
        exchanges[company] = exchange;
        room[exchange] -= shares;
    }
    exchanges
}

/// Ticker symbols of three or four letters, all different: the initials if they are free, else letters of the name in
/// order. The letters of a preferred share make five or six, so no symbol of a company equals one of them.
fn symbols(names: &[String]) -> Vec<String> {
    let mut taken = HashSet::with_capacity(names.len());
    let mut free_symbol = |name: &String| {
        initials(name)
            .into_iter()
            .chain(letters_in_order(name))
            .chain((0..26_u32.pow(4)).map(in_letters))
            .find(|&symbol| taken.insert(symbol))
            .expect("four letters give more symbols than there are companies")
    };
    names.iter().map(|name| free_symbol(name).iter().filter(|&&letter| letter != NO_LETTER).collect()).collect()
}

/// A symbol before it is text; one of three letters ends in [`NO_LETTER`].
type SymbolLetters = [char; 4];

const NO_LETTER: char = ' ';

/// The initials of a name's words, if they are three or four.
fn initials(name: &str) -> Option<SymbolLetters> {
    let mut symbol = [NO_LETTER; 4];
    let words = name.split([' ', ',']).filter_map(|word| word.chars().next()).filter(char::is_ascii_alphabetic);
    let mut length = 0;
    for initial in words {
        *symbol.get_mut(length)? = initial;
        length += 1;
    }
    (length >= 3).then_some(symbol)
}

/// Four letters of a name in their order, beginning with its first.
fn letters_in_order(name: &str) -> impl Iterator<Item = SymbolLetters> {
    let letters: Vec<char> =
        name.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_uppercase()).collect();
    let length = letters.len();
    let places =
        (1..length).flat_map(move |b| (b + 1..length).flat_map(move |c| (c + 1..length).map(move |d| [0, b, c, d])));
    places.map(move |places| places.map(|place| letters[place]))
}

/// One of the symbols of four letters by its number.
fn in_letters(number: u32) -> SymbolLetters {
    [26 * 26 * 26, 26 * 26, 26, 1].map(|place| char::from(b'A' + (number / place % 26) as u8))
}
