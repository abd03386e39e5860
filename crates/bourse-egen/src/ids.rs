//! Identifiers and the counts they are computed from.

use bourse_schema::{AccountId, AddressId, BrokerId, CompanyId, CustomerId};

/// Offset of the identifiers of customers, companies, addresses and brokers from their ordinals.
pub const SHIFT: i64 = 4_300_000_000;
/// Offset of a trade's identifier from its ordinal.
pub const TRADE_SHIFT: i64 = 200_000_000_000_000;
/// Customers of a load unit, the smallest part that can be generated alone.
pub const LOAD_UNIT: i64 = 1_000;
/// Brokers of a load unit.
pub const BROKERS_PER_LOAD_UNIT: i64 = 10;
/// Companies of a load unit.
pub const COMPANIES_PER_LOAD_UNIT: i64 = 500;
/// Securities of a load unit.
pub const SECURITIES_PER_LOAD_UNIT: i64 = 685;
/// Rows of COMPANY_COMPETITOR of a load unit.
pub const COMPETITORS_PER_LOAD_UNIT: i64 = 1_500;
/// Maximum number of accounts of a customer.
pub const ACCOUNTS_PER_CUSTOMER: i64 = 10;
/// Exchanges, whose addresses come first.
pub const EXCHANGES: i64 = 4;
/// Companies in the input files, enough for ten load units; larger databases repeat them.
pub const COMPANIES: i64 = 5_000;
/// Securities in the input files.
pub const SECURITIES: i64 = 6_850;
/// Rows of COMPANY_COMPETITOR in the input files.
pub const COMPETITORS: i64 = 15_000;

/// Customer with an ordinal, counted from 1.
pub const fn customer(ordinal: i64) -> CustomerId {
    CustomerId(ordinal + SHIFT)
}

/// Broker with an ordinal, counted from 1.
pub const fn broker(ordinal: i64) -> BrokerId {
    BrokerId(ordinal + SHIFT)
}

/// Company with an index, counted from 0.
pub const fn company(index: i64) -> CompanyId {
    CompanyId(index + 1 + SHIFT)
}

/// Index of a company, counted from 0.
pub const fn company_index(id: CompanyId) -> i64 {
    id.0 - 1 - SHIFT
}

/// Address with an ordinal, counted from 1: exchanges, then companies, then customers.
pub const fn address(ordinal: i64) -> AddressId {
    AddressId(ordinal + SHIFT)
}

/// First account of a customer.
///
/// ```
/// use bourse_egen::ids;
/// let customer = ids::customer(1);
/// assert_eq!((customer.0, ids::first_account(customer).0), (4_300_000_001, 43_000_000_001));
/// assert_eq!(ids::owner(ids::first_account(customer)), customer);
/// ```
pub const fn first_account(customer: CustomerId) -> AccountId {
    AccountId((customer.0 - 1) * ACCOUNTS_PER_CUSTOMER + 1)
}

/// Customer who owns an account.
pub const fn owner(account: AccountId) -> CustomerId {
    CustomerId((account.0 - 1) / ACCOUNTS_PER_CUSTOMER + 1)
}
