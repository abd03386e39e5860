//! Built-in input data: its shape, the properties that the algorithms rely on, its stability, and its origin.

use std::collections::{HashMap, HashSet};

use bourse_egen::inputs::FILES;
use bourse_egen::{Inputs, builtin};
use sha2::{Digest, Sha256};

use crate::golden::folder;

/// A file's records, each cut into its columns.
fn records(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split('\t').collect()).collect()
}

fn file(name: &str) -> String {
    builtin::file(name).unwrap_or_else(|| panic!("no built-in file {name}"))
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is not an integer"))
}

fn column(records: &[Vec<&str>], column: usize) -> Vec<String> {
    records.iter().map(|record| record[column].to_owned()).collect()
}

fn assert_distinct(what: &str, values: impl IntoIterator<Item = String>) {
    let mut seen = HashSet::new();
    for value in values {
        assert!(seen.insert(value.clone()), "{what}: {value:?} comes twice");
    }
}

/// Name, records, columns, and the sum of the first column if that is a weight.
const SHAPES: [(&str, usize, usize, Option<usize>); 22] = [
    ("AreaCode", 284, 2, Some(306)),
    ("Charge", 15, 3, None),
    ("CommissionRate", 240, 6, None),
    ("Company", 5_000, 5, None),
    ("CompanyCompetitor", 15_000, 3, None),
    ("CompanySPRate", 39, 2, Some(39)),
    ("Exchange", 4, 6, None),
    ("FemaleFirstName", 4_275, 2, Some(11_890)),
    ("Industry", 102, 3, None),
    ("LastName", 65_000, 2, Some(69_195)),
    ("MaleFirstName", 1_220, 2, Some(9_554)),
    ("NonTaxableAccountName", 11, 1, None),
    ("Sector", 12, 2, None),
    ("Security", 6_850, 6, None),
    ("StatusType", 5, 2, None),
    ("StreetName", 1_000, 2, Some(1_000)),
    ("StreetSuffix", 17, 2, Some(17)),
    ("TaxRatesCountry", 9, 4, None),
    ("TaxRatesDivision", 311, 4, None),
    ("TaxableAccountName", 13, 1, None),
    ("TradeType", 5, 4, None),
    ("ZipCode", 14_741, 5, Some(23_121)),
];

#[test]
fn files_have_the_shapes_the_algorithms_rely_on() {
    assert_eq!(FILES, SHAPES.map(|(name, ..)| name));
    for (name, count, columns, weight) in SHAPES {
        let text = file(name);
        assert!(text.is_ascii() && text.ends_with('\n'), "{name}");
        assert!(
            !text.contains(['\r', '|', '"']) && text.bytes().all(|byte| byte >= b' ' || b"\t\n".contains(&byte)),
            "{name}"
        );
        let records = records(&text);
        assert_eq!(records.len(), count, "records of {name}");
        for record in &records {
            assert_eq!(record.len(), columns, "columns of {name}: {record:?}");
            assert!(record.iter().all(|value| !value.is_empty() && value.trim() == *value), "{name}: {record:?}");
        }
        if let Some(weight) = weight {
            assert!(records.iter().all(|record| number(record[0]) >= 1), "{name}");
            assert_eq!(records.iter().map(|record| number(record[0])).sum::<usize>(), weight, "weight of {name}");
        }
    }
}

#[test]
fn names_are_distinct_words_with_falling_weights() {
    for (name, longest) in [("FemaleFirstName", 12), ("MaleFirstName", 12), ("LastName", 13)] {
        let text = file(name);
        let records = records(&text);
        assert!(records.is_sorted_by_key(|record| std::cmp::Reverse(number(record[0]))), "{name}");
        for record in &records {
            assert!(
                record[1].len() <= longest && record[1].chars().all(|c| c.is_ascii_alphabetic()),
                "{name}: {record:?}"
            );
        }
        assert_distinct(name, column(&records, 1));
    }
    // News texts are cut at 100,000 bytes: their number of words, hence of draws, depends on this.
    let text = file("LastName");
    let letters: usize = records(&text).iter().map(|record| number(record[0]) * record[1].len()).sum();
    assert!((6.5..7.2).contains(&(letters as f64 / 69_195.0)), "{letters} letters");
}

#[test]
fn streets_and_area_codes_are_distinct() {
    for (name, longest) in [("StreetName", 20), ("StreetSuffix", 12)] {
        let text = file(name);
        let records = records(&text);
        assert!(records.iter().all(|record| record[0] == "1" && record[1].len() <= longest), "{name}");
        assert_distinct(name, column(&records, 1));
    }
    let text = file("AreaCode");
    let records = records(&text);
    assert!(records.iter().all(|record| (201..=989).contains(&number(record[1]))));
    assert_distinct("AreaCode", column(&records, 1));
}

#[test]
fn zip_codes_lead_to_their_divisions_country_and_taxes() {
    let (zips, taxes) = (file("ZipCode"), file("TaxRatesDivision"));
    let (zips, taxes) = (records(&zips), records(&taxes));
    assert_distinct("ZipCode", column(&zips, 2));
    let mut division_of_number = HashMap::new();
    for record in &zips {
        let [_, bucket, code, town, division] = record[..] else { panic!("{record:?}") };
        assert!(code.len() <= 12 && town.len() <= 80, "{record:?}");
        let is_us = code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_digit());
        let shape: String =
            code.chars().map(|c| if c.is_ascii_digit() { '9' } else { c.to_ascii_uppercase() }).collect();
        let is_canadian =
            code.len() == 7 && code.starts_with(|c: char| c.is_ascii_uppercase()) && shape.as_bytes()[1] == b'9';
        assert!(is_us != is_canadian, "{record:?}");
        let (known, us) = *division_of_number.entry(number(bucket)).or_insert((division, is_us));
        assert_eq!((known, us), (division, is_us), "division {bucket}");
    }
    assert_eq!((1..=64).filter(|bucket| division_of_number.contains_key(bucket)).count(), 64);
    assert_eq!(division_of_number.len(), 64);
    assert_distinct("divisions", division_of_number.values().map(|(division, _)| division.to_string()));
    assert!(division_of_number.values().any(|(_, us)| *us) && division_of_number.values().any(|(_, us)| !us));
    for record in &taxes {
        assert!(record[1].starts_with(division_of_number[&number(record[0])].0), "{record:?}");
    }
}

#[test]
fn tax_rates_stand_in_their_buckets_and_can_be_maintained() {
    let (countries, divisions) = (file("TaxRatesCountry"), file("TaxRatesDivision"));
    let (countries, divisions) = (records(&countries), records(&divisions));
    assert_eq!(
        countries.iter().map(|record| (record[0], record[1])).collect::<Vec<_>>(),
        [
            ("1", "US1"),
            ("1", "US2"),
            ("1", "US3"),
            ("1", "US4"),
            ("1", "US5"),
            ("2", "CN1"),
            ("2", "CN2"),
            ("2", "CN3"),
            ("2", "CN4")
        ]
    );
    for (records, buckets) in [(&countries, 2), (&divisions, 64)] {
        assert!(records.is_sorted_by_key(|record| number(record[0])));
        assert_eq!(column(records, 0).into_iter().collect::<HashSet<_>>().len(), buckets);
        for record in records {
            assert!(record[1].len() <= 4 && record[2].len() <= 50, "{record:?}");
            let rate: f64 = record[3].parse().expect("a rate is a number");
            assert!((0.0..0.5).contains(&rate), "{record:?}");
            assert!(record[3].split_once('.').is_some_and(|(_, decimals)| decimals.len() <= 5), "{record:?}");
        }
    }
    // A gain that is taxed must give a tax above nothing, also where the division takes none.
    assert!(countries.iter().all(|record| record[3].parse::<f64>().expect("checked above") > 0.0));
    assert_distinct("tax ids", column(&countries, 1).into_iter().chain(column(&divisions, 1)));
    for record in &divisions {
        assert!(!record[1].starts_with("US") && !record[1].starts_with("CN"), "{record:?}");
        assert_eq!(record[2].matches(" Tax ").count(), 1, "{record:?}");
        assert_eq!(record[2].matches(" tax ").count(), 0, "{record:?}");
    }
}

#[test]
fn fixed_codes_are_the_specifications() {
    assert_eq!(file("StatusType"), "CMPT\tCompleted\nACTV\tActive\nSBMT\tSubmitted\nPNDG\tPending\nCNCL\tCanceled\n");
    assert_eq!(
        file("TradeType"),
        "TMB\tMarket-Buy\t0\t1\nTMS\tMarket-Sell\t1\t1\nTSL\tStop-Loss\t1\t0\nTLS\tLimit-Sell\t1\t0\nTLB\tLimit-Buy\t0\t0\n"
    );
    let exchanges = file("Exchange");
    for (record, (id, address)) in
        records(&exchanges).iter().zip([("NYSE", "1"), ("NASDAQ", "2"), ("AMEX", "3"), ("PCX", "4")])
    {
        assert_eq!((record[0], record[2], record[3], record[5]), (id, "0930", "1600", address));
        // Leaves space for the text that Data-Maintenance appends: " LAST UPDATED " and 19 characters of time.
        assert!(
            record[1].len() <= 100 && record[4].len() + 33 <= 150 && !record[4].contains("LAST UPDATED"),
            "{record:?}"
        );
    }
    let ratings = file("CompanySPRate");
    let ratings = column(&records(&ratings), 1);
    assert!(
        ratings.iter().all(|rating| rating.len() <= 4)
            && ["ABA", "AAA"].iter().all(|known| ratings.contains(&known.to_string()))
    );
    assert_distinct("ratings", ratings);
}

#[test]
fn every_trade_has_a_charge_and_a_commission() {
    let (charges, rates) = (file("Charge"), file("CommissionRate"));
    let (charges, rates) = (records(&charges), records(&rates));
    let types = ["TMB", "TMS", "TSL", "TLS", "TLB"];
    let mut expected = rates.iter();
    for tier in ["1", "2", "3"] {
        for kind in types {
            for exchange in ["NYSE", "NASDAQ", "AMEX", "PCX"] {
                for (from, to) in [("1", "200"), ("201", "500"), ("501", "2000"), ("2001", "999999")] {
                    let record = expected.next().expect("240 rates");
                    assert_eq!(record[..5], [tier, kind, exchange, from, to]);
                    let rate: f64 = record[5].parse().expect("a rate is a number");
                    assert!((0.12..=0.48).contains(&rate), "{record:?}");
                }
            }
        }
    }
    assert_eq!(expected.next(), None);
    let keys = types.iter().flat_map(|kind| ["1", "2", "3"].map(|tier| (*kind, tier)));
    assert!(charges.iter().map(|record| (record[0], record[1])).eq(keys));
    assert!(charges.iter().all(|record| record[2].parse::<f64>().expect("a charge is a number") > 0.0));
}

#[test]
fn industries_belong_to_sectors() {
    let (sectors, industries) = (file("Sector"), file("Industry"));
    let (sectors, industries) = (records(&sectors), records(&industries));
    for (what, records, longest) in [("sectors", &sectors, 30), ("industries", &industries, 50)] {
        assert!(records.iter().all(|record| record[0].len() == 2 && record[1].len() <= longest), "{what}");
        assert_distinct(what, column(records, 0));
        assert_distinct(what, column(records, 1));
    }
    let ids: HashSet<String> = column(&sectors, 0).into_iter().collect();
    assert_eq!(column(&industries, 2).into_iter().collect::<HashSet<_>>(), ids);
}

#[test]
fn companies_fill_every_industry_in_every_load_unit() {
    let (companies, industries) = (file("Company"), file("Industry"));
    let (companies, industries) = (records(&companies), records(&industries));
    for (index, record) in companies.iter().enumerate() {
        assert_eq!((number(record[0]), record[1]), (index + 1, "ACTV"));
        assert!(record[2].len() <= 60 && record[4].len() <= 150, "{record:?}");
    }
    assert_distinct("company names", column(&companies, 2));
    assert!(companies.iter().filter(|record| record[2].contains('\'')).count() > 50);
    assert!(companies.iter().filter(|record| record[2].contains(',')).count() > 1_000);
    let all: HashSet<String> = column(&industries, 0).into_iter().collect();
    for block in companies.chunks(500) {
        assert_eq!(column(block, 3).into_iter().collect::<HashSet<_>>(), all);
    }
}

#[test]
fn competitors_stay_within_their_load_unit() {
    let (companies, competitors) = (file("Company"), file("CompanyCompetitor"));
    let (companies, competitors) = (records(&companies), records(&competitors));
    let mut same_industry = 0;
    for (index, record) in competitors.iter().enumerate() {
        let (company, rival) = (number(record[0]), number(record[1]));
        assert_eq!(company, index / 3 + 1, "sorted, three a company");
        assert_ne!(company, rival);
        assert_eq!((company - 1) / 500, (rival - 1) / 500, "{record:?}");
        assert_eq!(record[2], companies[rival - 1][3], "they compete in what the rival does");
        same_industry += usize::from(companies[company - 1][3] == record[2]);
    }
    assert_distinct("competitors", competitors.iter().map(|record| record.join(" ")));
    assert!(same_industry > 10_000, "{same_industry}");
}

/// `EX_NUM_SYMB` after each load unit, from the reference generator's table (the order of exchanges is the file's).
const SYMBOLS_LISTED: [(&str, [usize; 10]); 4] = [
    ("NYSE", [153, 307, 491, 688, 859, 1_028, 1_203, 1_360, 1_532, 1_704]),
    ("NASDAQ", [173, 344, 498, 658, 848, 1_006, 1_191, 1_402, 1_572, 1_749]),
    ("AMEX", [189, 360, 534, 714, 875, 1_023, 1_174, 1_342, 1_507, 1_666]),
    ("PCX", [170, 359, 532, 680, 843, 1_053, 1_227, 1_376, 1_554, 1_731]),
];

#[test]
fn securities_stay_within_their_load_unit_and_are_listed_as_counted() {
    let text = file("Security");
    let securities = records(&text);
    let mut common = HashSet::new();
    for (index, record) in securities.iter().enumerate() {
        let [id, status, symbol, issue, _, company] = record[..] else { panic!("{record:?}") };
        assert_eq!((number(id), status), (index + 1, "ACTV"));
        assert!((1..=8).contains(&symbol.len()) && symbol.bytes().all(|byte| byte.is_ascii_uppercase()), "{record:?}");
        assert!(["COMMON", "PREF_A", "PREF_B", "PREF_C", "PREF_D"].contains(&issue), "{record:?}");
        assert_eq!((number(company) - 1) / 500, index / 685, "{record:?}");
        if issue == "COMMON" {
            common.insert(company);
        }
    }
    assert_eq!(common.len(), 5_000, "each company has a common share");
    assert!(securities.is_sorted_by_key(|record| number(record[5])));
    assert_distinct("symbols", column(&securities, 2));
    assert_distinct("issues of a company", securities.iter().map(|record| [record[5], record[3]].join(" ")));
    for (exchange, listed) in SYMBOLS_LISTED {
        let after = |units: usize| securities[..units * 685].iter().filter(|record| record[4] == exchange).count();
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(after), listed, "{exchange}");
    }
}

#[test]
fn account_names_fit_beside_a_persons_name() {
    for name in ["TaxableAccountName", "NonTaxableAccountName"] {
        let text = file(name);
        let records = records(&text);
        assert!(records.iter().all(|record| record[0].len() <= 18), "{name}");
        assert_distinct(name, column(&records, 0));
    }
}

/// SHA-256 of each file. A change here makes all databases made of the built-in data incompatible.
const HASHES: [(&str, &str); 22] = [
    ("AreaCode", "af236d384e8ed32dcb0ee8b5e116dfbf4b5504c9b21a78e132447086770e44c0"),
    ("Charge", "8ad2b93751a7eb397f096933e4f7d360f42512bb150a7c97a45957c9470c04a1"),
    ("CommissionRate", "b68212bf83cdbb8663bb5924dc46a56a333fc9991f7b23bfe1c1f4f800a92281"),
    ("Company", "7781cec93bfaf4de48e0484c55b983967ed25a5465e1694e694b8be703f7a8c1"),
    ("CompanyCompetitor", "2d4b6c3bcb66e69a2f18b8ae8ac57d0b9fb98e0ef57c9e5482a51d320bd565d3"),
    ("CompanySPRate", "578a53a8a1516174238fcb5e44deab2cc82cf02298e2d7c22a1811e34c36463e"),
    ("Exchange", "1072620de0bc3f42155d289365d1ed0097bf7378160503335a52baf585d7399a"),
    ("FemaleFirstName", "09ec25476000b776cd71faa8b65608b47674797b83b225637f0b9578722eba52"),
    ("Industry", "de5ccb8855f56faa56aabad6db0877a6ca15e5f8549e0143aefa41308c4754cd"),
    ("LastName", "e447b1f8744892744e97e1338205f5af59d4eed6538787dafc1730b6a00c1b7a"),
    ("MaleFirstName", "1c0386243db40ebb72b09a64e06f64d07e592929ad1bf4bcad3b64ff81a9cb37"),
    ("NonTaxableAccountName", "6983ed8a3b14fa5d7d491673d23f3340463f7ed48b04d89629dfe5b8db8faa04"),
    ("Sector", "a94291ac7fcb595b06cba8b9928edf8ea0abe68ab33802e2ced2f790315c33c9"),
    ("Security", "ec8fc0c6c6d1c742078d62729e2033aa7edb3060df16bf618b5bd478dc8ae530"),
    ("StatusType", "0395809d77459950f81ece0f4700478f03f45e583f1774c24cf3e469a635371b"),
    ("StreetName", "1d79cff7fbbcab63fffafb216edba2752fe0a669cbe0448b474e1a1e4e0e21c6"),
    ("StreetSuffix", "2987bcd4f1578275f13e560f206a20763845471343b3fca9eeb7b51a65e638ff"),
    ("TaxRatesCountry", "e90109ebbeb87e4e22b0587dc22cf287355a88ce9ce32a8f1aa0e8e1e4e9bea6"),
    ("TaxRatesDivision", "e998fb95045d0cd015c83c15d158470297cca75e993a9c7705fe77ac89d016f7"),
    ("TaxableAccountName", "31a724e3c9f3edf09ff03d0f6ab8d07c226ca81f222f8c023d22a0938919751c"),
    ("TradeType", "2b7eb5b1a1017d1a27b83a72f943f277f86c90e2d7b44258c067562bfc9208f5"),
    ("ZipCode", "96ac33f0ca58d9cfd2c5ce2f7536d9c4e1793585f23dd0c46eee25593c20ac32"),
];

#[test]
fn files_never_change() {
    let found: Vec<(&str, String)> =
        FILES.into_iter().map(|name| (name, format!("{:x}", Sha256::digest(file(name))))).collect();
    for ((name, hash), (known, golden)) in found.iter().zip(HASHES) {
        assert_eq!((*name, hash.as_str()), (known, golden), "the SHA-256 of {name}");
    }
}

#[test]
fn files_are_read_without_complaint() {
    let inputs = Inputs::parse(|name| builtin::file(name).map(String::into_bytes)).expect("our own files are sound");
    assert_eq!((inputs.last_names.total(), inputs.zip_codes.total()), (69_195, 23_121));
    assert_eq!((inputs.country_taxes.buckets(), inputs.division_taxes.buckets()), (2, 64));
}

/// Official file of that name, if `BOURSE_FLAT_IN` names a folder of them.
fn official(test: &str, name: &str) -> Option<String> {
    let path = folder(test, "BOURSE_FLAT_IN")?.join(name).with_extension("txt");
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

#[test]
fn shapes_are_those_of_the_official_files() {
    for (name, _, _, weight) in SHAPES {
        let Some(official) = official("shapes_are_those_of_the_official_files", name) else { return };
        let ours = file(name);
        let (official, ours) = (records(&official), records(&ours));
        assert_eq!(official.len(), ours.len(), "records of {name}");
        assert_eq!(official[0].len(), ours[0].len(), "columns of {name}");
        if weight.is_some() {
            let sum = |records: &[Vec<&str>]| records.iter().map(|record| number(record[0])).sum::<usize>();
            assert_eq!(sum(&official), sum(&ours), "weight of {name}");
        }
    }
}

#[test]
fn content_is_not_that_of_the_official_files() {
    // File, the columns compared, and how many of a thousand records may coincide by chance or as words everybody uses.
    let limits: [(&str, &[usize], usize); 11] = [
        ("LastName", &[1], 50),
        ("FemaleFirstName", &[1], 150),
        ("MaleFirstName", &[1], 150),
        ("StreetName", &[1], 50),
        ("ZipCode", &[3, 4], 0),
        ("Company", &[2], 0),
        ("Company", &[4], 0),
        ("Security", &[2], 100),
        ("Industry", &[0, 1], 10),
        ("TaxRatesDivision", &[2], 0),
        ("Exchange", &[4], 0),
    ];
    for (name, columns, allowed) in limits {
        let Some(official) = official("content_is_not_that_of_the_official_files", name) else { return };
        let ours = file(name);
        let key = |record: &Vec<&str>| columns.iter().map(|&column| record[column].to_lowercase()).collect::<Vec<_>>();
        let theirs: HashSet<Vec<String>> = records(&official).iter().map(key).collect();
        let ours = records(&ours);
        let alike: Vec<Vec<String>> = ours.iter().map(key).filter(|key| theirs.contains(key)).collect();
        let first = &alike[..alike.len().min(5)];
        assert!(
            alike.len() * 1_000 <= allowed * ours.len(),
            "{name}: {} of {} coincide, such as {first:?}",
            alike.len(),
            ours.len()
        );
    }
}
