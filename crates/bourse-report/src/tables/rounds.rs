use super::{Cell, Head, Table};
use crate::units;
use crate::view::{CaseView, Standing};
use bourse_record::{METRICS, PhaseKind, Round};

/// The rounds one by one.
pub(crate) fn rounds(view: &CaseView<'_>) -> Table {
    let heads = vec![
        Head::right("round", "round"),
        Head::right("began", "offset_s"),
        Head::right("measured", "measured_s"),
        Head::right("result", "result"),
        Head::left("unit", "unit"),
        Head::left("standing", "standing"),
        Head::right("cpu user", "cpu_user_s"),
        Head::right("cpu system", "cpu_system_s"),
        Head::right("read", "read_bytes"),
        Head::right("written", "written_bytes"),
        Head::right("CPUs of others", "taken_cpus").rank(1).folds(),
        Head::right("CPU loop", "slowdown").rank(2).folds(),
    ];
    let mut table = Table::new("rounds", "Round by round", heads);
    let standing = view.standing();
    let case = view.case;
    let counted = (1..).zip(&case.rounds).map(|(number, round)| (number.to_string(), standing.name(), round));
    let repeated = case.set_aside.iter().map(|round| (units::NOTHING.to_owned(), "repeated", round));
    for (number, name, round) in counted.chain(repeated) {
        // One failed check or round voids the case, and no round of it is quoted alone.
        let counts = standing == Standing::Counts && round.measured_s > 0.0;
        let taken = round.interference.map(|_| Cell::figure(round.taken(), units::number));
        table.push(vec![
            Cell::text(&number),
            Cell::figure(round.offset_s, units::seconds),
            Cell::figure(round.measured_s, units::seconds),
            if counts { Cell::figure(view.figure_of(round), units::number) } else { Cell::nothing() },
            Cell::text(view.unit()),
            Cell::text(name),
            Cell::figure(round.cpu_user_s, units::seconds),
            Cell::figure(round.cpu_system_s, units::seconds),
            Cell::figure(round.read_bytes as f64, units::bytes),
            Cell::figure(round.written_bytes as f64, units::bytes),
            Cell::or_nothing(taken),
            Cell::or_nothing(
                round.slowdown.map(|it| Cell::figure(it, |it| format!("× {}", units::significant(it, 3)))),
            ),
        ]);
    }
    table
}

/// Every series as measured, one value a row: metrics differ between cases.
pub(crate) fn series(view: &CaseView<'_>) -> Table {
    let heads = vec![
        Head::right("round", "round"),
        Head::right("time", "time_s"),
        Head::left("phase", "phase"),
        Head::left("metric", "metric"),
        Head::left("unit", "unit"),
        Head::right("value", "value"),
    ];
    let mut table = Table::new("series", "Second by second", heads);
    for (at, round) in view.case.rounds.iter().enumerate() {
        for column in &round.series.columns {
            let name = column.metric.split('.').next().unwrap_or_default();
            let unit = METRICS.iter().find(|metric| metric.name == name).map_or("", |metric| metric.unit);
            for (time, value) in round.series.time_s.iter().zip(&column.values) {
                table.push(vec![
                    Cell::text(&(at + 1).to_string()),
                    Cell::figure(*time, units::number),
                    Cell::text(phase(round, *time)),
                    Cell::text(&column.metric),
                    Cell::text(unit),
                    Cell::or_nothing(value.map(|value| Cell::figure(value, units::number))),
                ]);
            }
        }
    }
    table
}

/// The phase of a round that a row of its series belongs to.
pub(crate) fn phase(round: &Round, time: f64) -> &'static str {
    let phase = round.phases.iter().find(|phase| phase.from_s < time && time <= phase.to_s + 1e-6);
    match phase.map(|phase| phase.kind) {
        Some(PhaseKind::WarmUp) => "warm_up",
        Some(PhaseKind::Measurement) => "measurement",
        Some(PhaseKind::Drain) => "drain",
        None => "",
    }
}
