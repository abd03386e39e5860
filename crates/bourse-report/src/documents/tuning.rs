//! A search for settings: the answer, the lines to paste, what each brings and costs, its crash test, and the race.

use super::sheet::{SheetAnswer, SheetPart, ShownForms};
use crate::tables::{ColumnHead, SheetTable, TableCell, Tone, heads, row};
use crate::units;
use crate::view::CaseView;
use bourse_record::{RacedSetting, RunFile, TunedCrash, Tuning, Verdict, median};
use bourse_verdict::comparison::words::{change, ends};
use bourse_verdict::comparison::{ComparedCases, Disturbance};
use bourse_verdict::tuning::{is_won, line_gains, no_base, not_faster};

/// Explanation of the race.
const ABOUT: &str = "The race selects and measures nothing: its best setting looks better than it is.";

/// Explanation of the proof.
const PROVEN: &str = " The difference above is of rounds after the race, which nothing was selected by.";

/// Reason of a gain that is none, although its interval may exclude no difference.
const WITHHELD: &str = "the gain of {} is withheld, since other processes disturbed the rounds and may have made ";

/// Reason that a search has no answer.
const INTERRUPTED: &str =
    "interrupted before the settings were proven; the race until then selects, and measures nothing";

/// Words before the settings that were measured with the others, and are shown to bring nothing.
const UNSHOWN: &str =
    "Not among them is what is not shown to bring anything when it is taken away alone. The gain above is with it too:";

/// The whole answer of a search.
pub(crate) fn tuning(file: &RunFile, found: &Tuning, views: &[CaseView<'_>]) -> Vec<SheetPart> {
    let view = |label: &str| views.iter().find(|view| view.case.label == label);
    let sides = file.comparison.as_ref().and_then(|it| view(&it.base).zip(view(&it.head)));
    let mut parts = vec![answer(file, found, sides.map(|(_, winner)| winner))];
    if let Some((base, winner)) = sides {
        parts.push(SheetPart::heading(
            2,
            match () {
                () if is_won(file, found) => "Lines to paste",
                () if is_withheld(file) => "Tried, with a gain that is withheld",
                () => "Tried, and not shown to win",
            },
        ));
        let whole = &winner.case.engine.target;
        let block = |target: &String, statements: &[String]| {
            SheetPart::Pre(std::iter::once(target).chain(statements).map(|it| units::printable(it)).collect())
        };
        parts.push(block(found.target.as_ref().unwrap_or(whole), &found.statements));
        if found.target.is_some() {
            parts.push(SheetPart::text(UNSHOWN));
            parts.push(block(whole, &found.unshown));
        }
        parts.extend(lines(file, found));
        parts.push(SheetPart::Table(costs(base, winner)));
    }
    parts.extend(found.crashes.iter().map(crash));
    parts.push(SheetPart::heading(2, "The race"));
    let dropped = not_faster(found);
    if !dropped.is_empty() {
        let text = format!("Not faster than the defaults here, by the median of their pairs: {}", dropped.join(", "));
        parts.push(SheetPart::text(units::printable(&text)));
    }
    let mut whole = vec![SheetPart::Table(race("", "setting", found, &found.race))];
    if !found.elimination.is_empty() {
        let title = "All selected settings but one, against all";
        whole.push(SheetPart::Table(race(title, "without", found, &found.elimination)));
    }
    whole.push(SheetPart::list(Tone::Faint, found.left_out.iter().map(|it| format!("not raced: {it}"))));
    parts.push(SheetPart::Only(ShownForms::Whole, whole));
    parts.push(SheetPart::faint(format!("{ABOUT}{}", if sides.is_some() { PROVEN } else { "" })));
    parts
}

fn is_withheld(file: &RunFile) -> bool {
    file.comparison.as_ref().is_some_and(|it| it.verdict == Verdict::Withheld)
}

fn answer(file: &RunFile, found: &Tuning, winner: Option<&CaseView<'_>>) -> SheetPart {
    let gain = file.comparison.as_ref().and_then(|it| Some((it.ratio?, it.interval?)));
    let with_gain = |words: &str| match gain {
        Some((ratio, [low, high])) => {
            words.replace("{}", &format!("{} ({} to {})", change(ratio), change(low), change(high)))
        }
        None => words.replace(": {}", "").replace(" of {}", ""),
    };
    let is_slower = file.comparison.as_ref().and_then(|it| it.ratio).is_some_and(|ratio| ratio <= 1.0);
    let no_base = no_base(file, found);
    let has_no_answer = file.interrupted || no_base.is_some();
    let why = match () {
        () if file.interrupted => INTERRUPTED.to_owned(),
        () if no_base.is_some() => no_base.unwrap_or_default(),
        () if found.lines.is_empty() && found.crashes.is_empty() => "no setting was faster in the race".to_owned(),
        () if found.lines.is_empty() => "power losses break what the selected settings promise".to_owned(),
        () if winner.is_none() => "the proof has no figures".to_owned(),
        () if is_withheld(file) => {
            let compared = ComparedCases::of_run(file);
            let factor = compared.and_then(|it| it.comparisons.first()?.may_explain);
            let part = factor.map_or("it".to_owned(), |factor| format!("a difference of up to {}", change(factor)));
            format!("{}{part}; repeat it on a quiet machine", with_gain(WITHHELD))
        }
        () if is_slower => with_gain("the selected settings are no faster: {}"),
        () => with_gain("the selected settings are not shown to be faster: {}"),
    };
    let (figure, unit) = match gain {
        Some((ratio, [low, high])) if is_won(file, found) => {
            (change(ratio), format!("over the defaults ({} to {})", change(low), change(high)))
        }
        _ if has_no_answer => ("no answer:".to_owned(), why),
        _ => ("keep the defaults:".to_owned(), why),
    };
    let class = winner.map(|it| it.case.engine.durability.to_string()).unwrap_or_default();
    let mut beside = vec![format!("promise: {} or more", found.promise)];
    if let Some([disturbed, rounds]) = disturbed_rounds(file).filter(|_| is_won(file, found)) {
        beside.push(format!(
            "others disturbed {disturbed} of {rounds} rounds of the proof: on a quiet machine the gain may be another"
        ));
    }
    SheetPart::Answer(SheetAnswer { figure, unit, is_bad: false, class, beside })
}

/// Number of rounds of both sides of the proof that others disturbed, of how many, if these are most.
fn disturbed_rounds(file: &RunFile) -> Option<[usize; 2]> {
    let compared = ComparedCases::of_run(file)?;
    let sides = &compared.comparisons.first()?.disturbance;
    let [disturbed, rounds] = [|it: &Disturbance| it.disturbed, |it: &Disturbance| it.rounds]
        .map(|of: fn(&Disturbance) -> usize| sides.iter().map(of).sum::<usize>());
    (2 * disturbed > rounds).then_some([disturbed, rounds])
}

/// Gain of each line taken away alone; nothing for a single line, whose gain is the answer.
fn lines(file: &RunFile, found: &Tuning) -> Option<SheetPart> {
    let heads = heads![left "line", right "brings", left "interval"];
    let mut table = SheetTable::new("What each line brings, taken away alone", heads);
    for line in line_gains(file, found) {
        let interval = line.gain.and_then(|it| it.interval);
        table.push(vec![
            TableCell::code(line.change),
            TableCell::or_missing(line.gain.map(|it| TableCell::text(&change(it.value)))),
            TableCell::text(&interval.map_or("too few rounds".to_owned(), |it| {
                let words = if it.holds(1.0) { ": not shown to differ" } else { "" };
                format!("{} ({}){words}", ends(&it), units::level(it.level))
            })),
        ]);
    }
    (table.rows.len() > 1).then_some(SheetPart::Table(table))
}

/// Durability, memory and sizes of both sides.
fn costs(base: &CaseView<'_>, winner: &CaseView<'_>) -> SheetTable {
    const PEAKS: [(&str, &str); 6] = [
        ("memory_resident_bytes", "memory of the process, at most"),
        ("engine_memory_bytes", "memory by the engine's own count, at most"),
        ("server_memory_resident_bytes", "memory of the server, at most"),
        ("data_bytes", "database, at most"),
        ("log_bytes", "write-ahead log, at most"),
        ("journal_bytes", "rollback journal, at most"),
    ];
    let heads = heads![left "cost", right "defaults", right "these settings"];
    let mut table = SheetTable::new("What they cost", heads);
    let class = |view: &CaseView<'_>| TableCell::text(view.case.engine.durability.name());
    table.push(row!["durability class", class(base), class(winner)]);
    for (metric, name) in PEAKS {
        let both = [base, winner].map(|view| view.peak(metric).filter(|bytes| *bytes > 0.0));
        if both.iter().any(Option::is_some) {
            let [one, other] = both.map(|it| TableCell::or_missing(it.map(|it| TableCell::figure(it, units::bytes))));
            table.push(row![name, one, other]);
        }
    }
    table
}

fn crash(of: &TunedCrash) -> SheetPart {
    let TunedCrash { target, states, broken, not_tried } = of;
    match (not_tried.as_str(), broken) {
        ("", 0) => {
            let words =
                format!("Power losses of {target}: {} states, each kept what it promises", units::count(*states));
            SheetPart::toned(Tone::Good, units::printable(&words))
        }
        ("", _) => {
            let broken = units::count(*broken);
            let words =
                format!("Power losses of {target}: {broken} of {} states break its promise", units::count(*states));
            SheetPart::toned(Tone::Bad, units::printable(&words))
        }
        (why, _) => SheetPart::toned(Tone::Doubtful, units::printable(&format!("Not crashed: {target}: {why}"))),
    }
}

/// The race, the last stage first.
fn race(title: &'static str, what: &'static str, found: &Tuning, raced: &[RacedSetting]) -> SheetTable {
    let heads = vec![
        ColumnHead::left(what),
        ColumnHead::right("stage"),
        ColumnHead::right("pairs"),
        ColumnHead::right("median"),
        ColumnHead::right("least").rank(1),
        ColumnHead::right("most").rank(1),
        ColumnHead::left("outcome"),
    ];
    let mut table = SheetTable::new(title, heads);
    let mut order: Vec<&RacedSetting> = raced.iter().collect();
    let middle = |it: &RacedSetting| median(&it.ratios).unwrap_or(0.0);
    order.sort_by(|one, other| other.stage.cmp(&one.stage).then(middle(other).total_cmp(&middle(one))));
    for it in order {
        let cell = |ratio: Option<f64>| TableCell::or_missing(ratio.map(|it| TableCell::text(&change(it))));
        let is_selected = found.lines.iter().any(|line| line.change == it.change);
        let (tone, outcome) = match &it.out {
            Some(why) => (Tone::Faint, why.as_str()),
            None if is_selected => (Tone::Good, "selected"),
            None => (Tone::Plain, "dropped"),
        };
        table.push(vec![
            TableCell::code(&it.change),
            TableCell::count(it.stage.into()),
            TableCell::count(it.ratios.len() as u64),
            cell(median(&it.ratios)),
            cell(it.ratios.iter().copied().reduce(f64::min)),
            cell(it.ratios.iter().copied().reduce(f64::max)),
            TableCell::text(outcome).tone(tone),
        ]);
    }
    table
}
