//! Words for company names and descriptions; the words of each trade are listed with the industries.

/// Family names of founders. None ends in s, so that "Founder's Bakeries" reads well.
pub(super) const FOUNDERS: [&str; 96] = [
    "Abernathy", "Alcott", "Amberley", "Ashdown", "Baldock", "Barraclough", "Beckford", "Blackwell", "Bramhall",
    "Brisco", "Calloway", "Carmody", "Caswell", "Chadbourne", "Clavering", "Colborne", "Corrigan", "Cranmer",
    "Dalrymple", "Dashwood", "Delacroix", "Dunmore", "Eastlake", "Eccleston", "Ellingham", "Fairweather", "Falkner",
    "Farnham", "Fenwick", "Finsbury", "Forsyth", "Gadsby", "Galbraith", "Garrick", "Goldthwaite", "Granger",
    "Grimshaw", "Halloran", "Hambleton", "Harrow", "Hathaway", "Heywood", "Holbrook", "Huxtable", "Ingersoll",
    "Jarrow", "Kembell", "Kilbride", "Kingsley", "Lambourne", "Langdon", "Latimer", "Lindqvist", "Lockhart",
    "Lovelace", "Maddock", "Mandeville", "Marchbank", "Merriman", "Montrose", "Nettleton", "Norbury", "Oakeshott",
    "Ormond", "Osterberg", "Paxton", "Pemberton", "Penrose", "Pike", "Prescott", "Quimby", "Radcliffe", "Ravenhill",
    "Redfern", "Rosewarne", "Rutherford", "Sandoval", "Satterthwaite", "Selwyn", "Sheffield", "Somerville", "Stanhope",
    "Sterling", "Tavistock", "Thackeray", "Thornbury", "Tremayne", "Upjohn", "Vandermeer", "Verlaine", "Wainwright",
    "Weatherby", "Whitlock", "Winslow", "Wyndham", "Yardley",
];

/// Places, beasts and things that companies are named after.
pub(super) const EMBLEMS: [&str; 90] = [
    "Acorn", "Albatross", "Alpine", "Anchor", "Antler", "Aurora", "Badger", "Beacon", "Blue Heron", "Boulder",
    "Brass Key", "Bright Water", "Cardinal", "Cascade", "Castle Rock", "Cedar Hill", "Clearwater", "Comet", "Compass",
    "Copper Kettle", "Crescent", "Crown", "Delta", "Driftwood", "Eagle Pass", "East River", "Eclipse", "Ember",
    "Evergreen", "Falcon", "Fox Hollow", "Gateway", "Golden Fleece", "Granite", "Great Lakes", "Greyhound",
    "Gulf Coast", "Harbor Light", "Harvest Moon", "Hawthorn", "Highland", "Horizon", "Iron Bridge", "Ivory", "Juniper",
    "Kestrel", "Lantern", "Lighthouse", "Lion", "Lodestar", "Magnolia", "Maple Leaf", "Mariner", "Meridian", "Midland",
    "Mill Creek", "Morning Star", "Nightingale", "North Star", "Northern", "Oak Ridge", "Old Mill", "Orchard", "Orion",
    "Osprey", "Pacific Rim", "Pelican", "Pilgrim", "Pinnacle", "Pioneer", "Prairie", "Quarry", "Red Barn", "Ridgeway",
    "River Bend", "Sable", "Salamander", "Seven Oaks", "Silver Birch", "Snow Goose", "Southern", "Stone Gate",
    "Summit", "Sundial", "Swallow", "Three Rivers", "Timber Wolf", "Union", "Western", "White Swan",
];

/// Halves of coined names: "Veridyne", "Optalor".
pub(super) const COINED_STARTS: [&str; 36] = [
    "Accu", "Alti", "Ambi", "Aqua", "Astri", "Axio", "Beni", "Calo", "Centri", "Cyro", "Dyna", "Ecto", "Enti", "Ferro",
    "Flexi", "Gene", "Helio", "Infi", "Kine", "Lumi", "Magna", "Meta", "Neo", "Novi", "Opti", "Orbi", "Pano", "Poly",
    "Quanti", "Sola", "Stella", "Terra", "Ultra", "Veri", "Vita", "Zeno",
];

pub(super) const COINED_ENDS: [&str; 30] = [
    "bex", "born", "cor", "crest", "dale", "dex", "dyne", "fex", "gard", "gon", "kor", "lane", "lix", "lor", "lume",
    "mark", "mere", "mont", "nex", "nor", "pax", "plex", "quest", "rand", "ster", "tane", "trix", "vale", "vex", "zon",
];

/// Legal forms after a company's name, repeated by frequency.
pub(super) const FORMS: [&str; 16] = [
    ", Inc.", ", Inc.", ", Inc.", ", Inc.", " Corporation", " Corporation", " Corp.", " Company", " Co.", " Limited",
    " Ltd.", " Group", " Group, Inc.", " Holdings", " Holdings, Ltd.", ", LLC",
];

/// Beginnings of a description; the goods follow.
pub(super) const ACTIVITIES: [&str; 10] = [
    "Supplies",
    "A leading name in",
    "Founded for the purpose of dealing in",
    "Family-run for three generations, it offers",
    "Offers",
    "Known for",
    "Holding company whose subsidiaries deal in",
    "Licenses patents and sells",
    "Specializes in",
    "Works in the field of",
];

/// Last parts of a description: the place or the age of the business.
pub(super) const REACHES: [&str; 16] = [
    "in the northern states",
    "on both coasts",
    "in forty countries",
    "along the Great Lakes",
    "in the mountain states",
    "from nine branches",
    "through agents in every large town",
    "by catalog and telephone",
    "from a plant beside the river",
    "under its own and other brands",
    "in the southern states",
    "across the border as well as at home",
    "with its own fleet of trucks",
    "under long-term contracts",
    "mostly on credit",
    "in the prairie provinces",
];

/// A last sentence that about half of the descriptions have.
pub(super) const REMARKS: [&str; 10] = [
    "A second plant is planned.",
    "Part of the profit goes to its workers.",
    "Its founder still sits on the board.",
    "Research takes a tenth of sales.",
    "Half of the shares are in firm hands.",
    "The head office moved last year.",
    "A takeover was refused twice.",
    "It has never missed a dividend.",
    "Exports grow faster than sales at home.",
    "Its chief rival was bought recently.",
];
