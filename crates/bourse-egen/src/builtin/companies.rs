//! Companies, their competitors, and the ratings they can have.
//!
//! A load unit of the database takes 500 companies in file order, and must contain all that its rows refer to. Hence
//! every block of 500 has the same number of companies in each industry, and competitors come from their own block.

use std::collections::HashSet;
use std::fmt::Write;

use crate::Rng;
use crate::ids::{COMPANIES, COMPANIES_PER_LOAD_UNIT, COMPETITORS};

use super::company_words::{ACTIVITIES, COINED_ENDS, COINED_STARTS, EMBLEMS, FORMS, FOUNDERS, REACHES, REMARKS};
use super::industries::{BuiltinIndustry, BuiltinSector, SECTORS, industry_id};
use super::weights::descending;
use super::{pick, shuffle};

/// Companies of a load unit.
pub(super) const BLOCK: usize = COMPANIES_PER_LOAD_UNIT as usize;

/// Load units that the file suffices for.
pub(super) const BLOCKS: usize = (COMPANIES / COMPANIES_PER_LOAD_UNIT) as usize;

/// Competitors of each company.
const RIVALS: usize = (COMPETITORS / COMPANIES) as usize;

/// `Company`: id (from 1), status, name, industry, description.
pub(super) fn companies() -> String {
    let mut rng = Rng::new(5_005);
    let mut text = String::with_capacity(900_000);
    for (id, (name, place)) in (1..).zip(company_names().iter().zip(places())) {
        write!(text, "{id}\tACTV\t{name}\t{}\t", place.industry_id()).expect("a string takes any text");
        describe(&mut text, &mut rng, place);
        text.push('\n');
    }
    text
}

/// Competitors, three for each company: company id, competitor id, and the competitor's industry, in which they compete.
pub(super) fn competitors() -> String {
    let places: Vec<CompanyPlace> = places().collect();
    let mut text = String::with_capacity(200_000);
    for (block, members) in places.chunks(BLOCK).enumerate() {
        // By sector and within it by industry: the nearest are the likeliest rivals.
        let mut ranked: Vec<usize> = (0..members.len()).collect();
        ranked.sort_by_key(|&company| members[company]);
        let mut rivals_of = vec![[0; RIVALS]; members.len()];
        for sector in ranked.chunk_by(|&a, &b| members[a].sector == members[b].sector) {
            for position in 0..sector.len() {
                rivals_of[sector[position]] = rivals(sector, position, members);
            }
        }
        let id = |company: usize| block * BLOCK + company + 1;
        for (company, rivals) in rivals_of.iter().enumerate() {
            for &rival in rivals {
                writeln!(text, "{}\t{}\t{}", id(company), id(rival), members[rival].industry_id())
                    .expect("a string takes any text");
            }
        }
    }
    text
}

/// The next three in the ring of a sector's companies that share the industry of the one at `position`; where these are
/// too few, others of the sector.
fn rivals(sector: &[usize], position: usize, members: &[CompanyPlace]) -> [usize; RIVALS] {
    let own = members[sector[position]];
    let others = || (1..sector.len()).map(|step| sector[(position + step) % sector.len()]);
    let same_industry = others().filter(|&other| members[other] == own);
    let other_industries = others().filter(|&other| members[other] != own);
    let mut nearest = same_industry.chain(other_industries);
    [(); RIVALS].map(|()| nearest.next().expect("every sector has more companies than that in a block"))
}

/// `CompanySPRate`: weight 1, rating: every word of one to three letters A, B, C. Data-Maintenance relies on AAA and ABA.
pub(super) fn ratings() -> String {
    let letters = ["", "A", "B", "C"];
    let mut text = String::new();
    for first in &letters[1..] {
        for second in letters {
            for third in letters.iter().take(if second.is_empty() { 1 } else { 4 }) {
                writeln!(text, "1\t{first}{second}{third}").expect("a string takes any text");
            }
        }
    }
    text
}

/// Position of a company among the industries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CompanyPlace {
    sector: usize,
    industry: usize,
}

impl CompanyPlace {
    fn sector(self) -> &'static BuiltinSector {
        &SECTORS[self.sector]
    }

    fn industry(self) -> &'static BuiltinIndustry {
        &self.sector().industries[self.industry]
    }

    fn industry_id(self) -> String {
        industry_id(self.sector(), self.industry)
    }
}

/// The industry of each company in turn: a pack of 500, with more of some industries than of others, shuffled for each block.
fn places() -> impl Iterator<Item = CompanyPlace> {
    let mut rng = Rng::new(1_020);
    let mut industries: Vec<CompanyPlace> = (0..SECTORS.len())
        .flat_map(|sector| (0..SECTORS[sector].industries.len()).map(move |industry| CompanyPlace { sector, industry }))
        .collect();
    shuffle(&mut rng, &mut industries);
    let shares = descending(industries.len(), BLOCK, 6);
    let mut pack: Vec<CompanyPlace> =
        industries.iter().zip(shares).flat_map(|(&place, share)| std::iter::repeat_n(place, share)).collect();
    (0..BLOCKS).flat_map(move |_| {
        shuffle(&mut rng, &mut pack);
        pack.clone()
    })
}

/// Names of all companies, without duplicates.
pub(super) fn company_names() -> Vec<String> {
    let mut rng = Rng::new(77_031);
    let mut seen = HashSet::with_capacity(BLOCK * BLOCKS);
    let mut names = Vec::with_capacity(BLOCK * BLOCKS);
    for place in places() {
        let name = loop {
            let name = company_name(&mut rng, place.industry());
            if seen.insert(name.clone()) {
                break name;
            }
        };
        names.push(name);
    }
    names
}

fn company_name(rng: &mut Rng, industry: &BuiltinIndustry) -> String {
    let noun = pick(rng, &industry.nouns);
    let founder = pick(rng, &FOUNDERS);
    let form = pick(rng, &FORMS);
    match rng.below(100) {
        0..22 => format!("{founder} {noun}{form}"),
        22..36 => {
            let partner = pick(rng, &FOUNDERS);
            if partner == founder {
                format!("{founder} Brothers {noun}{form}")
            } else {
                format!("{founder} & {partner} {noun}{form}")
            }
        }
        36..39 => format!("{founder}'s {noun}{form}"),
        39..43 => format!("{founder} & Sons, {noun}"),
        43..78 => format!("{} {noun}{form}", pick(rng, &EMBLEMS)),
        78..90 => format!("{}{} {noun}{form}", pick(rng, &COINED_STARTS), pick(rng, &COINED_ENDS)),
        90..96 => format!("{}{}{form}", pick(rng, &COINED_STARTS), pick(rng, &COINED_ENDS)),
        _ => format!("{founder}, {} {noun}", pick(rng, &FOUNDERS)),
    }
}

/// Appends a company's description of at most 150 characters: as many parts as fit.
fn describe(text: &mut String, rng: &mut Rng, place: CompanyPlace) {
    const MAX_DESCRIPTION_BYTES: usize = 150;
    let start = text.len();
    let (activity, goods) = (pick(rng, &ACTIVITIES), place.industry().goods);
    write!(text, "{activity} {goods}").expect("a string takes any text");
    let buyers = format!(", mainly for {}", pick(rng, &place.sector().buyers));
    let reach = format!(" {}", pick(rng, &REACHES));
    let remark = format!(" {}", pick(rng, &REMARKS));
    for (part, spare) in [(buyers, 1), (reach, 1)] {
        if text.len() - start + part.len() + spare <= MAX_DESCRIPTION_BYTES {
            text.push_str(&part);
        }
    }
    text.push('.');
    if rng.percent(55) && text.len() - start + remark.len() <= MAX_DESCRIPTION_BYTES {
        text.push_str(&remark);
    }
}
