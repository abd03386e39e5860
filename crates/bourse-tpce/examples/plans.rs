#![allow(missing_docs, clippy::print_stdout)]
use bourse_schema::*;
use bourse_tpce::transactions::{Transaction, kind::shared_statements};
fn main() {
    for t in load_order() {
        println!("{};", create_table(t, &SQLITE, true));
        for i in t.indexes {
            println!("{};", create_index(t, i));
        }
    }
    let all = Transaction::ALL
        .into_iter()
        .flat_map(|t| t.statements().iter().map(move |s| (t.name(), *s)))
        .chain(shared_statements().map(|s| ("shared", s)));
    for (n, s) in all {
        println!(
            ".print '--- {n}: {}'",
            s.text().split_whitespace().take(14).collect::<Vec<_>>().join(" ").replace('\'', "\"")
        );
        println!("EXPLAIN QUERY PLAN {};", s.render(&SQLITE));
    }
}
