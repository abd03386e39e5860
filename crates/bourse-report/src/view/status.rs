//! The status codes of the transactions' frames (Clause 3.3; numbers as the reference harness gives them).

use bourse_record::Outcome;

/// What each code means: 0 is success, below it errors, above it warnings and the intended roll-back.
const CODES: [(&str, i32, &str); 34] = [
    ("Broker-Volume", -111, "the list of brokers came back with a length out of range"),
    ("Customer-Position", -211, "frame 1 found no account, or more than ten"),
    ("Customer-Position", -221, "frame 2 found fewer than 10 rows of history, or more than 30"),
    ("Market-Feed", -311, "fewer prices were updated than the feed named securities"),
    ("Market-Watch", -411, "neither account, customer nor industry was given"),
    ("Security-Detail", -511, "fewer days of prices were found than asked for"),
    ("Security-Detail", -512, "not 20 rows of financials were found"),
    ("Security-Detail", -513, "not 2 items of news were found"),
    ("Trade-Lookup", -611, "frame 1 did not find all trades it was given"),
    ("Trade-Lookup", -621, "frame 2 found an impossible number of trades"),
    ("Trade-Lookup", 621, "frame 2 found no trade in its window"),
    ("Trade-Lookup", -631, "frame 3 found an impossible number of trades"),
    ("Trade-Lookup", 631, "frame 3 found no trade in its window"),
    ("Trade-Lookup", 641, "frame 4 found no trade after its date"),
    ("Trade-Lookup", -641, "frame 4 found more than one trade"),
    ("Trade-Lookup", -642, "frame 4 found an impossible number of rows of history"),
    ("Trade-Order", 1, "rolled back on purpose, as 1 order in 101 must be"),
    ("Trade-Order", -711, "frame 1 did not find the account"),
    ("Trade-Order", -721, "frame 2: the executor has no permission on the account"),
    ("Trade-Order", -731, "frame 3 worked out no tax on a gain"),
    ("Trade-Order", -732, "frame 3 found no commission rate"),
    ("Trade-Order", -733, "frame 3 found no charge"),
    ("Trade-Result", -811, "frame 1 did not find the trade"),
    ("Trade-Result", -831, "frame 3 worked out no tax on a gain"),
    ("Trade-Result", -841, "frame 4 found no commission rate"),
    ("Trade-Status", -911, "not 50 trades of the account were found"),
    ("Trade-Update", -1011, "frame 1 did not find all trades it was given"),
    ("Trade-Update", -1012, "frame 1 did not update as many trades as it was to"),
    ("Trade-Update", -1021, "frame 2 found an impossible number of trades"),
    ("Trade-Update", -1022, "frame 2 did not update what it found"),
    ("Trade-Update", 1021, "frame 2 found no trade in its window"),
    ("Trade-Update", -1031, "frame 3 found an impossible number of trades"),
    ("Trade-Update", -1032, "frame 3 did not update what it found"),
    ("Trade-Update", 1031, "frame 3 found no trade in its window"),
];

/// Every outcome, in words.
const OUTCOMES_EXPLAINED: [(Outcome, &str); 6] = [
    (Outcome::Completed, "ended as it should"),
    (Outcome::Warned, "valid, with a warning of the transaction's own"),
    (Outcome::RolledBack, "valid, and rolled back because it was meant to be"),
    (Outcome::ShortDatabase, "found less than a database of full size holds; explained by its size, and not a failure"),
    (Outcome::Failed, "went wrong"),
    (Outcome::Dropped, "never started, because the backlog was full"),
];

/// What an outcome with a status code means, in a line.
pub(crate) fn meaning(operation: &str, outcome: Outcome, code: i32) -> String {
    let known = CODES.iter().find(|(name, known, _)| code != 0 && *name == operation && *known == code);
    let explained =
        OUTCOMES_EXPLAINED.iter().find(|(known, _)| *known == outcome).expect("every outcome is explained").1;
    match (known, code) {
        (Some((_, _, words)), _) if outcome == Outcome::ShortDatabase => {
            format!("{words}: the database is smaller than the specification's")
        }
        (Some((_, _, words)), _) => (*words).to_owned(),
        (None, 0) => explained.to_owned(),
        (None, _) => format!("{explained} (a code of the workload's own)"),
    }
}
