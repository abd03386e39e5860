//! CUSTOMER_ACCOUNT and ACCOUNT_PERMISSION (Clauses 2.2.5.3 and 2.2.5.1; EGen `CCustomerAccountsAndPermissionsTable`).

use bourse_schema::{AccountId, Balance, CustomerId, Text, tables};

use super::TABLE_SEED;
use super::customer::ordinals;
use crate::ids::{self, LOAD_UNIT};
use crate::keys::{self, Person, TaxStatus};
use crate::round::decimal;
use crate::{Inputs, Part, Rng};

/// An account with its permissions: of the owner, then of up to two others.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountRows {
    /// The account.
    pub account: tables::CustomerAccount,
    /// One to three permissions.
    pub permissions: Vec<tables::AccountPermission>,
}

/// The accounts of a part's customers.
pub fn accounts(inputs: &Inputs, part: Part) -> impl Iterator<Item = AccountRows> + '_ {
    let mut rng = Rng::new(TABLE_SEED);
    // The reference asks, before each account, whether the account before belonged to the last customer of a load unit,
    // and if so begins that customer's sequence (again). So the second and later accounts of these customers, and the
    // first of the next load unit, all have one and the same balance.
    let mut owner_before = ids::customer(part.first_customer() - 1);
    ordinals(part).map(ids::customer).flat_map(move |owner| {
        let first = ids::first_account(owner).0;
        let names = OwnerNames::of(inputs, owner);
        let rows: Vec<_> = (first..first + keys::accounts_of(owner))
            .map(|id| {
                if owner_before.0 % LOAD_UNIT == 0 {
                    rng = Rng::at(TABLE_SEED, owner_before.0 as u64 * 100);
                }
                owner_before = owner;
                account(inputs, AccountId(id), &names, &mut rng)
            })
            .collect();
        rows
    })
}

struct OwnerNames {
    id: CustomerId,
    full: Text<50>,
    first: Text<20>,
    last: Text<25>,
    tax_id: Text<20>,
}

impl OwnerNames {
    fn of(inputs: &Inputs, id: CustomerId) -> Self {
        let person = Person::from(id);
        Self {
            id,
            full: person.full_name(inputs),
            first: *person.first_name(inputs),
            last: *person.last_name(inputs),
            tax_id: person.tax_id(),
        }
    }
}

fn account(inputs: &Inputs, id: AccountId, owner: &OwnerNames, rng: &mut Rng) -> AccountRows {
    let tax_status = keys::tax_status(id);
    let account = tables::CustomerAccount {
        ca_id: id,
        ca_b_id: keys::broker_of(id),
        ca_c_id: owner.id,
        ca_name: name(inputs, id, tax_status, owner),
        ca_tax_st: tax_status as u8,
        ca_bal: balance(rng),
    };
    let permission = |acl: &str, tax_id, last, first| tables::AccountPermission {
        ap_ca_id: id,
        ap_acl: Text::cut(acl),
        ap_tax_id: tax_id,
        ap_l_name: last,
        ap_f_name: first,
    };
    let mut permissions = vec![permission("0000", owner.tax_id, owner.last, owner.first)];
    let (first, second) = keys::permission_people(id);
    for (person, acl) in [(first, "0001"), (second, "0011")] {
        if let Some(person) = person {
            permissions.push(permission(acl, person.tax_id(), *person.last_name(inputs), *person.first_name(inputs)));
        }
    }
    AccountRows { account, permissions }
}

fn name(inputs: &Inputs, id: AccountId, tax_status: TaxStatus, owner: &OwnerNames) -> Text<50> {
    let names = match tax_status {
        TaxStatus::NonTaxable => &inputs.nontaxable_account_names,
        TaxStatus::Withheld | TaxStatus::NotWithheld => &inputs.taxable_account_names,
    };
    // The reference cuts the identifier to 32 bits, signed; beyond some 200 million customers its index is negative.
    let low = id.0 as i32;
    let mut name = owner.full;
    name.push(" ");
    name.push(names[low.rem_euclid(names.len() as i32) as usize].as_str());
    name
}

fn balance(rng: &mut Rng) -> Balance {
    let dollars =
        if rng.percent(80) { rng.stepped(0.0, 9_999_999.99, 0.01) } else { rng.stepped(-9_999_999.99, 0.0, 0.01) };
    decimal(dollars)
}
