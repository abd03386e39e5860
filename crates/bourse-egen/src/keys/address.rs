use bourse_schema::{AddressId, CustomerId};

use super::by_key;
use crate::Inputs;
use crate::ids::EXCHANGES;
use crate::inputs::{Tax, Zip};

impl Inputs {
    /// Postal area of an address.
    pub fn zip_of(&self, address: AddressId) -> &Zip {
        self.zip_codes.at(self.zip_index_of(address))
    }

    /// Postal area of an address, as a weighted index into the file.
    pub fn zip_index_of(&self, address: AddressId) -> u64 {
        by_key(26_778_071, address.0).below(self.zip_codes.total())
    }

    /// Tax rates of a customer's country and division, in a database of `total_companies` companies. One random number
    /// chooses both.
    pub fn taxes_of(&self, customer: CustomerId, total_companies: i64) -> [&Tax; 2] {
        let zip = self.zip_of(address_of(customer, total_companies));
        let choose = |bucket: &'_ [Tax]| by_key(92_740_731, customer.0).below(bucket.len() as u64) as usize;
        let country = self.country_taxes.bucket(zip.country() as usize);
        let division = self.division_taxes.bucket(usize::from(zip.division));
        [&country[choose(country)], &division[choose(division)]]
    }
}

/// Address of a customer, in a database of `total_companies` companies.
pub fn address_of(customer: CustomerId, total_companies: i64) -> AddressId {
    AddressId(EXCHANGES + total_companies + customer.0)
}
