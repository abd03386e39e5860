use bourse_verdict::suite::{CellPlan, all};

#[test]
fn every_data_file_is_whole() {
    let suites = all().unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<_> = suites.iter().map(|suite| suite.name.as_str()).collect();
    assert!(names.starts_with(&["sqlite-basics", "sqlite-wal", "fastdb-sqlite", "mysql-ram"]));
    for suite in &suites {
        for scale in [1.0, 0.1, 0.000_001] {
            let plan = CellPlan::new(suite, scale, None, &[]).expect("the scale is one");
            assert!(!plan.cells.is_empty());
            assert!(plan.cells.iter().all(|cell| cell.case < plan.cases.len()));
            assert!(plan.cases.len() <= plan.cells.len(), "a case is run once, however many cells it fills");
        }
        assert!(CellPlan::new(suite, 0.0, None, &[]).is_err());
        assert!(CellPlan::new(suite, 1.5, None, &[]).is_err());
    }
}

/// Checks the published means as printed; if they are not the means of the printed rounds, a note must say so.
#[test]
fn a_mean_that_its_rounds_contradict_is_noted() {
    for suite in all().expect("they are whole") {
        for table in &suite.tables {
            for row in &table.rows {
                for (column, published) in &row.published {
                    let (Some(mean), [first, rest @ ..]) = (published.mean_ms, published.rounds_ms.as_slice()) else {
                        continue;
                    };
                    let of_rest = rest.iter().sum::<f64>() / rest.len() as f64;
                    let of_all = (first + rest.iter().sum::<f64>()) / published.rounds_ms.len() as f64;
                    let fits = [of_rest, of_all].iter().any(|it| (it - mean).abs() < 1.0);
                    let printed = format!("{mean:.0}");
                    let noted = published.note.is_some() || suite.notes.iter().any(|note| note.contains(&printed));
                    assert!(fits || noted, "{}: {}/{}/{column}: {mean}, not {of_all}", suite.name, table.id, row.id);
                }
            }
        }
    }
}
