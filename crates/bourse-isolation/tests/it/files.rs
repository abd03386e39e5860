//! Files of histories: what is written is read back, and damage is named with its line.

use crate::notation::history;
use crate::simulated::{Mix, Simulation, Store};
use bourse_isolation::{ElleModel, History};

const SMALL: &str = "a 0-10: r1=0 w1=1 d2 q1-9=3@4\nb 5-15: a1=1 l1=1 c1=1 r2=- ?\nc 6-9: r1=- !";

fn bytes(history: &History) -> Vec<u8> {
    let mut bytes = Vec::new();
    history.write(&mut bytes).expect("memory");
    bytes
}

#[test]
fn a_history_is_read_back() {
    for of in [history(SMALL), history("")] {
        assert_eq!(History::read(&bytes(&of)[..]).unwrap(), of);
    }
    let simulation = Simulation {
        store: Store::ReadUncommitted,
        mix: Mix::Everything,
        sessions: 4,
        transactions: 200,
        keys: 9,
        steps_max: 6,
        is_faulty: true,
        reads_at_end: true,
    };
    let of = simulation.run(7);
    assert_eq!(History::read(&bytes(&of)[..]).unwrap(), of);
}

#[test]
fn damage_is_named_with_its_line() {
    let text = String::from_utf8(bytes(&history(SMALL))).unwrap();
    let error = |text: &str| History::read(text.as_bytes()).unwrap_err();
    let cut = text.trim_end().rsplit_once('\n').unwrap().0;
    assert_eq!(error(cut).to_string(), "the history has 2 transactions, and its head says 3");
    assert!(error(&text[..text.len() - 9]).to_string().starts_with("line 4 is not a transaction: EOF"));
    assert!(error("").to_string().starts_with("line 1 is not the head of a history: "));
    assert!(error(&text.replacen("\"key\":2", "\"key\":-2", 1)).to_string().starts_with("line 2 is not a transaction"));
    let other = text.replacen("isolation_history", "run", 1);
    assert_eq!(error(&other).to_string(), "line 1 has document 'run', expected 'isolation_history'");
    let newer = error(&text.replacen("\"schema_version\":1", "\"schema_version\":2", 1));
    assert_eq!(newer.to_string(), "line 1 has version 2 of the format, this program reads version 1");
    assert_eq!(newer.hint(), "read it with a newer bourse");
}

#[test]
fn histories_that_elle_knows_are_exported() {
    let edn = |text: &str| {
        let mut bytes = Vec::new();
        history(text).write_edn(&mut bytes).map(|model| (model, String::from_utf8(bytes).unwrap()))
    };
    let (model, lists) = edn("a 0-10: a3=1 l3=1\nb 5-15: a3=2 !").unwrap();
    assert_eq!(model, ElleModel::ListAppend);
    assert_eq!(
        lists,
        "{:type :invoke, :f :txn, :value [[:append 3 1] [:r 3 nil]], :process 0, :time 0, :index 0}\n\
         {:type :invoke, :f :txn, :value [[:append 3 2]], :process 1, :time 5, :index 1}\n\
         {:type :ok, :f :txn, :value [[:append 3 1] [:r 3 [1]]], :process 0, :time 10, :index 2}\n\
         {:type :fail, :f :txn, :value [[:append 3 2]], :process 1, :time 15, :index 3}\n"
    );
    // After an unknown outcome the session is another process.
    let (model, registers) = edn("a 0-10: r1=0 w1=5 ?\na 11-12: r1=5").unwrap();
    assert_eq!(model, ElleModel::RwRegister);
    assert!(registers.contains("{:type :info, :f :txn, :value [[:r 1 nil] [:w 1 5]], :process 0, :time 10, :index 1}"));
    assert!(registers.contains("{:type :ok, :f :txn, :value [[:r 1 5]], :process 1, :time 12, :index 3}"));
    let refused = |text| edn(text).unwrap_err().to_string();
    assert_eq!(refused("a: w1=1\nb: d1"), "transaction 1 has a deletion, which Elle does not know");
    assert_eq!(refused("a: q1-9="), "transaction 0 has the read of a range, which Elle does not know");
    assert_eq!(refused("a: c1=1"), "transaction 0 has an increment, which Elle does not know");
    assert!(refused("a: w1=1\nb: a1=1").starts_with("transaction 1 is of registers and others are of lists"));
}
