use super::{SheetTable, TableCell, heads, row};
use crate::units;
use crate::view::CaseView;
use bourse_record::{Interference, PhaseKind, Round};

/// The rounds one by one.
pub(crate) fn rounds(view: &CaseView<'_>) -> SheetTable {
    let heads = heads![
        right "round", right "began", right "measured", right "result", left "unit", left "standing", right "cpu user",
        right "cpu system", right "read", right "written", right "CPUs of others" .rank(1).folds(),
        right "CPU loop" .rank(2).folds(),
    ];
    let mut table = SheetTable::new("Round by round", heads);
    let validity = view.validity();
    let case = view.case;
    let counted = (1..).zip(&case.rounds).map(|(number, round)| (number.to_string(), validity.name(), round));
    let repeated = case.set_aside.iter().map(|round| (units::NOTHING.to_owned(), "repeated", round));
    for (number, name, round) in counted.chain(repeated) {
        // One failed check or round voids the case, and no round of it is quoted alone.
        let counts = validity.has_rounds() && round.measured_s > 0.0;
        let taken = round.interference.and_then(Interference::known).map(|cpus| TableCell::figure(cpus, units::number));
        table.push(row![
            &number,
            TableCell::figure(round.offset_s, units::seconds),
            TableCell::figure(round.measured_s, units::seconds),
            if counts { TableCell::figure(view.figure_of(round), units::number) } else { TableCell::missing() },
            view.unit(),
            name,
            TableCell::figure(round.cpu_user_s, units::seconds),
            TableCell::figure(round.cpu_system_s, units::seconds),
            TableCell::figure(round.read_bytes as f64, units::bytes),
            TableCell::figure(round.written_bytes as f64, units::bytes),
            TableCell::or_missing(taken),
            TableCell::or_missing(
                round.slowdown.map(|it| TableCell::figure(it, |it| format!("× {}", units::significant(it, 3)))),
            )
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
