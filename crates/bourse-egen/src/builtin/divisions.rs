//! The 64 divisions a customer can live in: the states of the USA, and the provinces and territories of Canada.
//!
//! Numbers of zip codes and their weights roughly follow the population; the totals are fixed.

/// A state, a province or a territory. Its number is its position in [`DIVISIONS`], counted from 1.
pub(super) struct Division {
    /// Postal abbreviation: two letters.
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    /// First letters of its Canadian postal codes, which start with a letter; empty in the USA, where codes are digits.
    pub(super) letters: &'static str,
    /// Number of zip codes.
    pub(super) zips: usize,
    /// Sum of the zip codes' weights.
    pub(super) weight: usize,
    /// Number of income-tax bands; 1 where there is a single rate or none.
    pub(super) tax_bands: usize,
}

const fn division(
    code: &'static str,
    name: &'static str,
    letters: &'static str,
    zips: usize,
    weight: usize,
    tax_bands: usize,
) -> Division {
    Division { code, name, letters, zips, weight, tax_bands }
}

/// All divisions, those of the USA first.
pub(super) const DIVISIONS: [Division; 64] = [
    division("AL", "Alabama", "", 172, 259, 5),
    division("AK", "Alaska", "", 46, 59, 1),
    division("AZ", "Arizona", "", 231, 362, 7),
    division("AR", "Arkansas", "", 115, 165, 4),
    division("CA", "California", "", 995, 1892, 8),
    division("CO", "Colorado", "", 194, 297, 3),
    division("CT", "Connecticut", "", 132, 192, 6),
    division("DE", "Delaware", "", 55, 72, 5),
    division("DC", "District of Columbia", "", 45, 57, 7),
    division("FL", "Florida", "", 584, 1032, 1),
    division("GA", "Georgia", "", 321, 524, 4),
    division("HI", "Hawaii", "", 69, 92, 8),
    division("ID", "Idaho", "", 81, 111, 3),
    division("IL", "Illinois", "", 374, 623, 6),
    division("IN", "Indiana", "", 220, 343, 5),
    division("IA", "Iowa", "", 121, 174, 7),
    division("KS", "Kansas", "", 112, 160, 4),
    division("KY", "Kentucky", "", 158, 235, 8),
    division("LA", "Louisiana", "", 161, 240, 3),
    division("ME", "Maine", "", 66, 88, 6),
    division("MD", "Maryland", "", 205, 316, 5),
    division("MA", "Massachusetts", "", 226, 353, 7),
    division("MI", "Michigan", "", 306, 497, 4),
    division("MN", "Minnesota", "", 191, 292, 8),
    division("MS", "Mississippi", "", 114, 163, 3),
    division("MO", "Missouri", "", 203, 313, 6),
    division("MT", "Montana", "", 58, 76, 5),
    division("NE", "Nebraska", "", 85, 117, 7),
    division("NV", "Nevada", "", 118, 169, 1),
    division("NH", "New Hampshire", "", 67, 89, 1),
    division("NJ", "New Jersey", "", 286, 460, 4),
    division("NM", "New Mexico", "", 89, 123, 8),
    division("NY", "New York", "", 553, 970, 3),
    division("NC", "North Carolina", "", 314, 511, 6),
    division("ND", "North Dakota", "", 48, 61, 5),
    division("OH", "Ohio", "", 349, 576, 7),
    division("OK", "Oklahoma", "", 143, 210, 4),
    division("OR", "Oregon", "", 151, 223, 8),
    division("PA", "Pennsylvania", "", 379, 632, 3),
    division("RI", "Rhode Island", "", 58, 76, 6),
    division("SC", "South Carolina", "", 175, 264, 5),
    division("SD", "South Dakota", "", 52, 67, 1),
    division("TN", "Tennessee", "", 223, 348, 1),
    division("TX", "Texas", "", 760, 1393, 1),
    division("UT", "Utah", "", 123, 177, 7),
    division("VT", "Vermont", "", 43, 54, 4),
    division("VA", "Virginia", "", 268, 427, 8),
    division("WA", "Washington", "", 244, 385, 1),
    division("WV", "West Virginia", "", 80, 109, 3),
    division("WI", "Wisconsin", "", 196, 301, 6),
    division("WY", "Wyoming", "", 41, 51, 1),
    division("AB", "Alberta", "T", 520, 749, 5),
    division("BC", "British Columbia", "V", 588, 856, 7),
    division("MB", "Manitoba", "R", 221, 296, 4),
    division("NB", "New Brunswick", "E", 152, 197, 8),
    division("NL", "Newfoundland and Labrador", "A", 115, 145, 3),
    division("NT", "Northwest Territories", "X", 35, 41, 6),
    division("NS", "Nova Scotia", "B", 176, 231, 5),
    division("NU", "Nunavut", "X", 35, 41, 7),
    division("ON", "Ontario", "KLMNP", 1324, 2077, 4),
    division("PE", "Prince Edward Island", "C", 58, 69, 8),
    division("QC", "Quebec", "GHJ", 886, 1338, 3),
    division("SK", "Saskatchewan", "S", 196, 260, 6),
    division("YT", "Yukon", "Y", 35, 41, 5),
];
