use super::{Cell, Head, Table};
use crate::units;
use crate::view::{CaseView, Standing};
use bourse_record::{Interference, PhaseKind, Round};

/// The rounds one by one.
pub(crate) fn rounds(view: &CaseView<'_>) -> Table {
    let heads = vec![
        Head::right("round"),
        Head::right("began"),
        Head::right("measured"),
        Head::right("result"),
        Head::left("unit"),
        Head::left("standing"),
        Head::right("cpu user"),
        Head::right("cpu system"),
        Head::right("read"),
        Head::right("written"),
        Head::right("CPUs of others").rank(1).folds(),
        Head::right("CPU loop").rank(2).folds(),
    ];
    let mut table = Table::new("Round by round", heads);
    let standing = view.standing();
    let case = view.case;
    let counted = (1..).zip(&case.rounds).map(|(number, round)| (number.to_string(), standing.name(), round));
    let repeated = case.set_aside.iter().map(|round| (units::NOTHING.to_owned(), "repeated", round));
    for (number, name, round) in counted.chain(repeated) {
        // One failed check or round voids the case, and no round of it is quoted alone.
        let counts = standing == Standing::Counts && round.measured_s > 0.0;
        let taken = round.interference.and_then(Interference::known).map(|cpus| Cell::figure(cpus, units::number));
        table.push(vec![
            Cell::text(&number),
            Cell::figure(round.offset_s, units::seconds),
            Cell::figure(round.measured_s, units::seconds),
            if counts { Cell::figure(view.figure_of(round), units::number) } else { Cell::missing() },
            Cell::text(view.unit()),
            Cell::text(name),
            Cell::figure(round.cpu_user_s, units::seconds),
            Cell::figure(round.cpu_system_s, units::seconds),
            Cell::figure(round.read_bytes as f64, units::bytes),
            Cell::figure(round.written_bytes as f64, units::bytes),
            Cell::or_missing(taken),
            Cell::or_missing(
                round.slowdown.map(|it| Cell::figure(it, |it| format!("× {}", units::significant(it, 3)))),
            ),
        ]);
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
