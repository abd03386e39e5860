//! The 12 sectors and 102 industries of the built-in companies, as two of the input files.

use std::fmt::Write;
use std::sync::LazyLock;

/// A sector: a group of industries that Broker-Volume sums up.
pub(super) struct BuiltinSector {
    /// Identifier of two letters; the first also begins the ids of its industries, and is unique among sectors.
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// Customers of its companies, for descriptions.
    pub(super) buyers: Vec<&'static str>,
    pub(super) industries: Vec<BuiltinIndustry>,
}

/// An industry of a sector.
pub(super) struct BuiltinIndustry {
    pub(super) name: &'static str,
    /// Words for the names of companies of this industry.
    pub(super) nouns: Vec<&'static str>,
    /// Products or services, for descriptions: "The company supplies ...".
    pub(super) goods: &'static str,
}

/// All sectors, in alphabetical order of their ids. The file has a line for each, with id, name and buyers, and below it one
/// for each of its industries, with name, nouns and goods after a tab.
pub(super) static SECTORS: LazyLock<Vec<BuiltinSector>> = LazyLock::new(|| {
    let mut sectors: Vec<BuiltinSector> = Vec::new();
    for line in include_str!("words/sectors.tsv").lines() {
        let columns: Vec<&'static str> = line.split('\t').collect();
        match (columns.as_slice(), sectors.last_mut()) {
            (&["", name, nouns, goods], Some(sector)) => {
                sector.industries.push(BuiltinIndustry { name, nouns: nouns.split(", ").collect(), goods });
            }
            (&[id, name, buyers], _) => {
                let buyers = buyers.split(", ").collect();
                sectors.push(BuiltinSector { id, name, buyers, industries: Vec::new() });
            }
            _ => panic!("neither a sector nor an industry: {line}"),
        }
    }
    sectors
});

/// The two-letter id of a sector's `nth` industry (from 0).
pub(super) fn industry_id(sector: &BuiltinSector, nth: usize) -> String {
    format!("{}{}", &sector.id[..1], char::from(b'A' + nth as u8))
}

/// Sectors: id, name.
pub(super) fn sectors() -> String {
    SECTORS.iter().map(|sector| format!("{}\t{}\n", sector.id, sector.name)).collect()
}

/// Industries: id, name, sector id.
pub(super) fn industries() -> String {
    let mut text = String::with_capacity(3_500);
    for sector in SECTORS.iter() {
        for (nth, industry) in sector.industries.iter().enumerate() {
            writeln!(text, "{}\t{}\t{}", industry_id(sector, nth), industry.name, sector.id)
                .expect("a string takes any text");
        }
    }
    text
}
