//! Functions of a key against `driver/layers-*.jsonl`.

use bourse_egen::keys::{self, Basket, CustomerPicker, Person};
use bourse_egen::{Inputs, Rng, ids};
use bourse_schema::{AccountId, BrokerId, CustomerId};
use serde_json::Value;

use crate::golden::{int, list, records, state, text};
use crate::inputs::official;

#[test]
fn layers_of_5000_customers() {
    check("layers of 5000", "driver/layers-c5000.jsonl", 5);
}

#[test]
fn layers_of_12000_customers() {
    check("layers of 12000", "driver/layers-c12000.jsonl", 12);
}

fn check(test: &str, file: &str, load_units: i64) {
    let Some(records) = records(test, file) else { return };
    let Some(inputs) = official(test) else { return };
    let layers = Layers { inputs, load_units };
    let mut stream = None;
    for record in &records {
        match text(&record["kind"]) {
            "customer" => layers.customer(record),
            "account" => layers.account(record),
            "tier_counts" => layers.tier_counts(record),
            "random_customer_stream" | "random_customer_stream_partitioned" => {
                customers(record);
                stream.get_or_insert_with(|| (Rng::new(state(&record["seed"])), Rng::new(state(&record["seed"]))));
            }
            "random_account_security" => {
                let (customers, holdings) = stream.as_mut().expect("the streams' seed comes first");
                layers.account_and_security(record, customers, holdings);
            }
            "broker" => {
                let name = Person::from(BrokerId(int(&record["b_id"]))).formal_name(&layers.inputs);
                assert_eq!(name, text(&record["name"]), "{record}");
            }
            "security" => layers.security(record),
            "company" => layers.company(record),
            "input_sizes" => assert_eq!(layers.inputs.zip_codes.total(), int(&record["zip_code"]) as u64),
            other => panic!("an unknown layer: {other}"),
        }
    }
}

struct Layers {
    inputs: Inputs,
    load_units: i64,
}

impl Layers {
    fn companies(&self) -> i64 {
        self.load_units * ids::COMPANIES_PER_LOAD_UNIT
    }

    fn securities(&self) -> i64 {
        self.load_units * ids::SECURITIES_PER_LOAD_UNIT
    }

    fn customer(&self, record: &Value) {
        let id = CustomerId(int(&record["c_id"]));
        let person = Person::from(id);
        let address = keys::address_of(id, self.companies());
        let zip = self.inputs.zip_of(address);
        let [country, division] = self.inputs.taxes_of(id, self.companies());
        let (middle, tax_id) = (person.middle_initial(), person.tax_id());
        let texts = [
            (person.first_name(&self.inputs).as_str(), "first"),
            (person.last_name(&self.inputs).as_str(), "last"),
            (middle.as_str(), "middle"),
            (person.gender().letter(), "gender"),
            (tax_id.as_str(), "tax_id"),
            (country.row.tx_id.as_str(), "country_tax"),
            (division.row.tx_id.as_str(), "division_tax"),
        ];
        for (got, field) in texts {
            assert_eq!(got, text(&record[field]), "{field} of {record}");
        }
        let numbers = [
            (i64::from(keys::tier(id)), "tier"),
            (keys::scrambled_inverse(id), "inverse_cid"),
            (keys::accounts_of(id), "accounts"),
            (ids::first_account(id).0, "first_ca_id"),
            (address.0, "ad_id"),
            (i64::from(zip.division), "division_code"),
            (zip.country() as i64, "country_code"),
            (self.inputs.zip_index_of(address) as i64, "zip_weighted_index"),
        ];
        for (got, field) in numbers {
            assert_eq!(got, int(&record[field]), "{field} of {record}");
        }
    }

    fn account(&self, record: &Value) {
        let id = AccountId(int(&record["ca_id"]));
        let (first, second) = keys::permission_people(id);
        let basket = Basket::of(id, self.securities());
        let numbers = [
            (ids::owner(id).0, "c_id"),
            (keys::tax_status(id) as i64, "tax_status"),
            (keys::broker_of(id).0, "broker_id"),
            (i64::from(first.is_some()) + i64::from(second.is_some()), "additional_permissions"),
            (first.map_or(0, |person| person.0), "perm_cid_1"),
            (second.map_or(0, |person| person.0), "perm_cid_2"),
            (keys::basket_size(id) as i64, "securities"),
        ];
        for (got, field) in numbers {
            assert_eq!(got, int(&record[field]), "{field} of {record}");
        }
        let expected: Vec<i64> = list(&record["security_index"]).iter().map(int).collect();
        let got: Vec<i64> = basket.securities().iter().map(|&index| i64::from(index)).collect();
        assert_eq!(got, expected, "{record}");
        for (index, symbol) in expected.into_iter().zip(list(&record["symbol"])) {
            assert_eq!(self.inputs.symbol(index), text(symbol), "{record}");
        }
    }

    fn tier_counts(&self, record: &Value) {
        let all = || (1..=int(&record["customers"])).map(ids::customer);
        for (tier, field) in [(1, "tier1"), (2, "tier2"), (3, "tier3")] {
            assert_eq!(all().filter(|&id| keys::tier(id) == tier).count() as i64, int(&record[field]));
        }
        for (n, count) in list(&record["customers_with_n_accounts_1_to_10"]).iter().enumerate() {
            let with_n = all().filter(|&id| keys::accounts_of(id) == n as i64 + 1).count();
            assert_eq!(with_n as i64, int(count), "{} accounts", n + 1);
        }
    }

    fn account_and_security(&self, record: &Value, customers: &mut Rng, holdings: &mut Rng) {
        let (customer, tier) = CustomerPicker::new(1, self.load_units * ids::LOAD_UNIT).pick(customers);
        let first = ids::first_account(customer).0;
        let account = AccountId(holdings.range(first, first + keys::accounts_of(customer) - 1));
        let place = holdings.range(1, keys::basket_size(account) as i64);
        let security = Basket::of(account, self.securities()).securities()[place as usize - 1];
        let got = [customer.0, i64::from(tier), account.0, i64::from(security), place];
        let expected = ["c_id", "tier", "ca_id", "security_index", "basket_index"].map(|field| int(&record[field]));
        assert_eq!(got, expected, "{record}");
        assert_eq!(holdings.state(), state(&record["holdings_seed_after"]), "{record}");
    }

    fn security(&self, record: &Value) {
        let index = int(&record["index"]);
        let symbol = self.inputs.symbol(index);
        assert_eq!(symbol, text(&record["symbol"]), "{record}");
        assert_eq!(self.inputs.security_index(symbol.as_str()), Some(int(&record["index_from_symbol"])), "{record}");
        assert_eq!(self.inputs.issuer(index).0, int(&record["co_id"]), "{record}");
        assert_eq!(i64::from(self.inputs.security(index).exchange), int(&record["exchange_index"]), "{record}");
        assert_eq!(self.inputs.security_name(index), text(&record["name"]), "{record}");
    }

    fn company(&self, record: &Value) {
        let index = int(&record["index"]);
        let id = ids::company(index);
        assert_eq!(id.0, int(&record["co_id"]), "{record}");
        assert_eq!(self.inputs.company_name(index), text(&record["name"]), "{record}");
        assert_eq!(Person::from(id).full_name::<46>(&self.inputs), text(&record["ceo"]), "{record}");
    }
}

fn customers(record: &Value) {
    let mut picker = CustomerPicker::new(int(&record["from"]), int(&record["count"]));
    if let Some(percent) = record.get("partition_percent") {
        picker = picker.partitioned(int(&record["my_from"]), int(&record["my_count"]), int(percent));
    }
    let mut rng = Rng::new(state(&record["seed"]));
    for (id, tier) in list(&record["c_id"]).iter().zip(list(&record["tier"])) {
        let (customer, of_tier) = picker.pick(&mut rng);
        assert_eq!((customer.0, i64::from(of_tier)), (int(id), int(tier)), "{record}");
    }
    assert_eq!(rng.state(), state(&record["seed_after"]), "after {record}");
}
