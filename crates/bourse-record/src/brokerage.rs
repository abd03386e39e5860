//! Facts about brokerage runs that documents of all versions share: the notice, users' roles and status codes.

/// Notice that every report of a brokerage run's figures must show.
pub const BROKERAGE_NOTICE: &str = "TPC-E-derived workload, unaudited; results are not comparable with published TPC Benchmark E results. TPC Benchmark \
     and TPC-E are trademarks of the Transaction Processing Performance Council.";

/// Role of the users who emulate the brokerage's customers.
pub const CUSTOMERS: &str = "customers";
/// Role of the users who perform Trade-Result and Market-Feed for the market exchange.
pub const MARKET_USERS: &str = "market users";
/// Transactions that customers start; the others are started by the market or the driver.
const OF_CUSTOMERS: [&str; 8] = [
    "Broker-Volume", "Customer-Position", "Market-Watch", "Security-Detail", "Trade-Lookup", "Trade-Order",
    "Trade-Status", "Trade-Update",
];

/// Whether the transaction is one that a customer waits for.
pub fn is_of_customers(operation: &str) -> bool {
    OF_CUSTOMERS.contains(&operation)
}

/// Meaning of status codes by transaction and frame (Clause 3.3; numbers as in the reference harness): errors below 0,
/// warnings and the intended roll-back above 0. No two transactions share a code; 0 is success.
pub const STATUS_CODES: &[(i32, &str)] = &[
    // Broker-Volume.
    (-111, "the list of brokers came back with a length out of range"),
    // Customer-Position.
    (-211, "frame 1 found no account, or more than ten"),
    (-221, "frame 2 found fewer than 10 rows of history, or more than 30"),
    // Market-Feed.
    (-311, "fewer prices were updated than the feed named securities"),
    // Market-Watch.
    (-411, "neither account, customer nor industry was given"),
    // Security-Detail.
    (-511, "fewer days of prices were found than asked for"),
    (-512, "not 20 rows of financials were found"),
    (-513, "not 2 items of news were found"),
    // Trade-Lookup.
    (-611, "frame 1 did not find all trades it was given"),
    (-621, "frame 2 found an impossible number of trades"),
    (621, "frame 2 found no trade in its window"),
    (-631, "frame 3 found an impossible number of trades"),
    (631, "frame 3 found no trade in its window"),
    (641, "frame 4 found no trade after its date"),
    (-641, "frame 4 found more than one trade"),
    (-642, "frame 4 found an impossible number of rows of history"),
    // Trade-Order.
    (1, "rolled back on purpose, as 1 order in 101 must be"),
    (-711, "frame 1 did not find the account"),
    (-721, "frame 2: the executor has no permission on the account"),
    (-731, "frame 3 worked out no tax on a gain"),
    (-732, "frame 3 found no commission rate"),
    (-733, "frame 3 found no charge"),
    // Trade-Result.
    (-811, "frame 1 did not find the trade"),
    (-831, "frame 3 worked out no tax on a gain"),
    (-841, "frame 4 found no commission rate"),
    // Trade-Status.
    (-911, "not 50 trades of the account were found"),
    // Trade-Update.
    (-1011, "frame 1 did not find all trades it was given"),
    (-1012, "frame 1 did not update as many trades as it was to"),
    (-1021, "frame 2 found an impossible number of trades"),
    (-1022, "frame 2 did not update what it found"),
    (1021, "frame 2 found no trade in its window"),
    (-1031, "frame 3 found an impossible number of trades"),
    (-1032, "frame 3 did not update what it found"),
    (1031, "frame 3 found no trade in its window"),
];
