//! Masks keep types, lengths, equality and order.

use super::values;
use bourse_trace::{Mask, MaskPlan, StatementText, TraceValue};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cmp::Ordering;

fn mask(values: &[TraceValue], texts: &[&str], seed: u64) -> Mask {
    let mut plan = MaskPlan::default();
    values.iter().for_each(|it| plan.add(it));
    texts.iter().for_each(|it| plan.keep_literals(it));
    plan.draw(seed)
}

fn compared(a: &TraceValue, b: &TraceValue) -> Option<Ordering> {
    match (a, b) {
        (TraceValue::Int(a), TraceValue::Int(b)) => Some(a.cmp(b)),
        (TraceValue::Real(a), TraceValue::Real(b)) => a.partial_cmp(b),
        // As far as every whole number is a double.
        (TraceValue::Int(a), TraceValue::Real(b)) if a.unsigned_abs() < 1 << 53 => (*a as f64).partial_cmp(b),
        (TraceValue::Text(a), TraceValue::Text(b)) | (TraceValue::Blob(a), TraceValue::Blob(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

fn length(value: &TraceValue) -> usize {
    match value {
        TraceValue::Int(number) => number.to_string().len(),
        TraceValue::Text(bytes) => {
            String::from_utf8(bytes.clone()).expect("a mask leaves UTF-8").chars().count() << 32 | bytes.len()
        }
        TraceValue::Blob(bytes) => bytes.len(),
        _ => 0,
    }
}

proptest! {
    #[test]
    fn order_equality_type_and_length_stay(values in vec(values(), 0..60), seed in any::<u64>()) {
        let mask = mask(&values, &["SELECT 'ab', 17 FROM t WHERE x = 'b1'"], seed);
        let masked: Vec<_> = values.iter().map(|it| mask.of(it)).collect();
        for (a, masked_a) in values.iter().zip(&masked) {
            prop_assert_eq!(length(a), length(masked_a));
            prop_assert_eq!(std::mem::discriminant(a), std::mem::discriminant(masked_a));
            for (b, masked_b) in values.iter().zip(&masked) {
                prop_assert_eq!(compared(a, b), compared(masked_a, masked_b), "{:?} {:?} → {:?} {:?}", a, b, masked_a, masked_b);
            }
        }
    }
}

#[test]
fn whole_numbers_and_doubles_keep_their_order() {
    let whole = (10..1_000).step_by(7).map(TraceValue::Int);
    let prices = (0..1_000_u32).map(|at| TraceValue::Real(f64::from(at).mul_add(0.97, -300.0)));
    let values: Vec<_> = whole.chain(prices).chain([TraceValue::Real(500.0), TraceValue::Int(500)]).collect();
    let mask = mask(&values, &["SELECT * FROM t WHERE price > 94.5"], 3);
    let masked: Vec<_> = values.iter().map(|it| mask.of(it)).collect();
    for (a, masked_a) in values.iter().zip(&masked) {
        for (b, masked_b) in values.iter().zip(&masked) {
            assert_eq!(compared(a, b), compared(masked_a, masked_b), "{a:?} {b:?} → {masked_a:?} {masked_b:?}");
        }
        let literal = compared(&TraceValue::Real(94.5), a);
        assert_eq!(literal, compared(&TraceValue::Real(94.5), masked_a), "{a:?} → {masked_a:?}");
    }
    assert!(values.iter().zip(&masked).filter(|(a, b)| a != b).count() > 900);
}

#[test]
fn names_are_masked_and_literals_are_kept() {
    let text = |text: &str| TraceValue::Text(text.as_bytes().to_vec());
    let values = ["Meier", "Müller", "open", "closed", "+41 44 123 45 67"].map(text);
    let mask = mask(&values, &["UPDATE t SET state = 'open' -- 'Meier'\n WHERE id = ?1 AND n > 4711"], 9);
    let masked: Vec<_> = values.iter().map(|it| mask.of(it)).collect();
    assert_eq!(masked[2], values[2]);
    for at in [0, 1, 3, 4] {
        assert_ne!(masked[at], values[at]);
    }
    let TraceValue::Text(phone) = &masked[4] else { panic!("a text is masked by a text") };
    assert!(phone.starts_with(b"+") && phone[3] == b' ');
    assert_eq!(mask.of(&text("never seen")), text("never seen"));
    assert_eq!(mask.of(&TraceValue::Int(5)), TraceValue::Int(5));
}

#[test]
fn texts_with_literals_are_told_apart() {
    let has = |sql: &str| StatementText { sql: sql.into(), is_read_only: true }.has_literals();
    assert!(has("SELECT * FROM t WHERE name = 'Meier'"));
    assert!(has("SELECT * FROM t WHERE name = \"it's\""));
    assert!(has("SELECT 4711"));
    assert!(!has("SELECT a1, [x'y], `b'c` FROM t2 WHERE id = ?12 AND n = :name9 AND k < 2 /* 'x' */ -- 'y'"));
}
