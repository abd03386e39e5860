//! A run: the answer first, then its evidence.

use super::bisection::bisection;
use super::isolation::isolation;
use super::of_case::{case, headline, transactions};
use super::overview::Overview;
use super::sheet::{RepeatCommand, Sheet, SheetAnswer, SheetFold, SheetPart, ShownForms};
use super::tuning::tuning;
use crate::charts::{self, ChartFrame, DrawnChart};
use crate::comparison;
use crate::html::Drawing;
use crate::tables::{self, SheetTable, Tone, UnitGroup};
use crate::units;
use crate::view::{CaseVerdict, CaseView, ComparedPlans, FigureValidity, Remark, notices, verdicts, warnings};
use bourse_record::RunFile;
use bourse_verdict::comparison::ComparedCases;

/// A run as one self-contained page, suited to print and phones; light or dark by the reader's system.
pub fn html(file: &RunFile) -> String {
    let document = serde_json::to_vec(file).expect("a run file has a form in JSON");
    let answer = answer(file).markdown();
    Sheet { document: Some(("run.json", document)), answer: Some(answer), ..run(file, true) }.html()
}

/// A run as Markdown (with tables in GitHub's form), to be pasted into an issue or a page. Ends with a line feed.
pub fn markdown(file: &RunFile) -> String {
    run(file, false).markdown()
}

/// A whole run for a terminal of `width` columns, with colours or without. Ends with a line feed.
///
/// Text from outside is shown with its control characters made visible, so that no run file can steer the terminal.
pub fn terminal(file: &RunFile, width: usize, color: bool) -> String {
    run(file, false).terminal(width, color, false)
}

/// Document of a run, with its charts or without them.
fn run(file: &RunFile, with_charts: bool) -> Sheet {
    let views = CaseView::all(file);
    let verdicts: Vec<CaseVerdict> = views.iter().map(CaseVerdict::of).collect();
    let mut sheet = titled(file, &views);
    let parts = &mut sheet.parts;
    parts.extend(isolation(&views));
    match (views.as_slice(), verdicts.as_slice()) {
        ([], _) => {
            let figure = "Nothing was run".to_owned();
            parts.push(SheetPart::Answer(SheetAnswer { figure, is_bad: true, ..SheetAnswer::default() }));
        }
        ([view], [verdict]) => parts.extend(case(0, view, verdict, true, with_charts)),
        _ => {
            parts.extend(several(file, &views, &verdicts, with_charts));
            parts.push(SheetPart::Heading(2, "cases".to_owned(), "Details by case".to_owned()));
            for (at, (view, verdict)) in views.iter().zip(&verdicts).enumerate() {
                let SheetAnswer { figure, unit, class, .. } = super::of_case::figure(view);
                parts.push(SheetPart::Fold(SheetFold {
                    id: format!("case-{}", at + 1),
                    summary: view.case.label.clone(),
                    case: Some([format!("{figure} {unit}"), class]),
                    is_open: false,
                    parts: case(at, view, verdict, false, with_charts),
                }));
            }
        }
    }
    let warnings = warnings(file);
    if !warnings.is_empty() {
        parts.push(SheetPart::Heading(2, "warnings".to_owned(), "Warnings".to_owned()));
        parts.push(SheetPart::list(Tone::Doubtful, warnings));
    }
    parts.push(SheetPart::Only(ShownForms::Whole, machines(file)));
    parts.push(SheetPart::Only(ShownForms::Terminal, in_lines(file)));
    parts.extend(again(file));
    sheet
}

/// The answer alone, short enough for a message: the figure with its remarks and its transactions, or the cases side by side.
fn answer(file: &RunFile) -> Sheet {
    let views = CaseView::all(file);
    let mut sheet = titled(file, &views);
    match views.as_slice() {
        [only] => sheet.parts.extend(headline(only, &CaseVerdict::of(only)).into_iter().chain(transactions(only, ""))),
        _ => match Overview::of(&views) {
            Some(of) => sheet.parts.extend(of.answer().into_iter().chain([SheetPart::Table(of.table())])),
            None => sheet.parts.extend(tables::by_unit(&views).iter().map(|of| SheetPart::Table(side_by_side(of)))),
        },
    }
    sheet.parts.extend(again(file));
    sheet
}

/// The document with its titles, and the comparison that the run was made for.
fn titled(file: &RunFile, views: &[CaseView<'_>]) -> Sheet {
    let (title, window) = match views {
        [only] => {
            let answer = match (only.valid_figure(), only.validity()) {
                (Some(figure), _) => format!("{} {}", units::number(figure), only.unit()),
                (None, FigureValidity::Void) => "VOID".to_owned(),
                (None, validity) => validity.name().to_owned(),
            };
            let window = format!("{answer}, {} {} · Bourse", file.name, file.provenance.started_at);
            (only.case.label.clone(), Some(window))
        }
        _ => {
            let subject = Overview::of(views).map(|of| of.subject());
            (subject.unwrap_or_else(|| format!("{}: {} cases", file.name, views.len())), None)
        }
    };
    let notices = notices(file).into_iter().map(str::to_owned).collect();
    let mut parts = file.tuning.iter().flat_map(|it| tuning(file, it, views)).collect::<Vec<_>>();
    parts.extend(file.bisection.iter().flat_map(bisection));
    parts.extend(ComparedCases::of_run(file).map(|it| comparison::parts(&it, true)).unwrap_or_default());
    Sheet { window, notices, parts, ..Sheet::of_run(&title, &file.name, &file.provenance, file.interrupted) }
}

/// Results over several cases, and each group of cases of one workload and unit side by side.
fn several(file: &RunFile, views: &[CaseView<'_>], told: &[CaseVerdict], with_charts: bool) -> Vec<SheetPart> {
    let interrupted = Remark::new(Tone::Bad, "interrupted: what was measured until then is here");
    let interrupted = file.interrupted.then_some(interrupted);
    let listed = |remarks: Vec<Remark>| SheetPart::List(remarks.into_iter().map(|it| (0, it)).collect());
    let said = listed(interrupted.into_iter().chain(verdicts(told)).collect());
    let overview = Overview::of(views);
    let mut parts = match &overview {
        None => vec![said],
        Some(of) => {
            let chart = with_charts.then(|| of.chart()).flatten();
            let evidence = [SheetPart::Charts(chart.into_iter().collect()), SheetPart::Table(of.table()), said];
            of.answer().into_iter().chain(evidence).collect()
        }
    };
    let groups = tables::by_unit(views);
    let rankings = |of: &UnitGroup<'_, '_>| tables::rankings(of.members.iter().map(|(_, view)| *view));
    if groups.len() > 1 && overview.is_none() {
        let of = |of: &UnitGroup<'_, '_>| -> Vec<Remark> {
            let name = |it: Remark| Remark { text: format!("{}: {}", of.name, it.text), ..it };
            rankings(of).into_iter().map(name).collect()
        };
        parts.push(SheetPart::Only(ShownForms::Html, vec![listed(groups.iter().flat_map(of).collect())]));
    }
    for (at, of) in groups.iter().enumerate() {
        let id = format!("group-{}", at + 1);
        let name = if groups.len() > 1 { of.name.clone() } else { "Compared".to_owned() };
        let mut group = vec![listed(rankings(of))];
        let [result, further, overlays] = if with_charts { charts_of(of, &id) } else { Default::default() };
        group.push(SheetPart::Charts(result));
        group.push(SheetPart::Table(SheetTable { title: String::new(), ..side_by_side(of) }));
        further.into_iter().for_each(|chart| group.push(SheetPart::Charts(vec![chart])));
        // The comparison that a run was made for has them.
        group.extend(if file.comparison.is_none() { plans(of) } else { Vec::new() });
        match (overlays.is_empty(), groups.len()) {
            (true, _) => {}
            (_, 1) => group.push(SheetPart::Charts(overlays)),
            _ => {
                let fold = SheetPart::fold("Over time, and by percentile", vec![SheetPart::Charts(overlays)]);
                group.push(SheetPart::Only(ShownForms::Html, vec![fold]));
            }
        }
        // The page folds what the overview has the answer of.
        if overview.is_some() && with_charts {
            let summary = format!("{name}: every figure, with charts");
            parts.push(SheetPart::Fold(SheetFold { id, summary, parts: group, ..SheetFold::default() }));
        } else {
            parts.push(SheetPart::Heading(2, id, name));
            parts.extend(group);
        }
    }
    parts
}

/// Plans that differ from one case of a group to the next, or that none does; nothing unless statements were timed.
fn plans(of: &UnitGroup<'_, '_>) -> Vec<SheetPart> {
    let compared = |pair: &[(usize, &CaseView<'_>)]| {
        let [one, other] = [0, 1].map(|at| pair[at].1.case);
        (ComparedPlans::of(&one.rounds, &other.rounds), [one.label.clone(), other.label.clone()])
    };
    let pairs: Vec<(ComparedPlans, [String; 2])> = of.members.windows(2).map(compared).collect();
    let shown = |(it, [one, other]): &(ComparedPlans, [String; 2])| comparison::plans(it, [one, other]);
    let differing: Vec<SheetPart> = pairs.iter().filter(|(it, _)| !it.changed.is_empty()).flat_map(shown).collect();
    match differing.is_empty() {
        true => pairs.iter().max_by_key(|(it, _)| it.compared).map(shown).unwrap_or_default(),
        false => std::iter::once(SheetPart::heading(3, "Plans that changed")).chain(differing).collect(),
    }
}

/// The plans of all groups of cases in brief: of two cases all that differ, of more their numbers.
pub(crate) fn plans_in_brief(views: &[CaseView<'_>]) -> Vec<SheetPart> {
    let is_brief = |part: &SheetPart| match part {
        SheetPart::Heading(..) => false,
        SheetPart::Table(_) | SheetPart::Pre(_) => views.len() == 2,
        _ => true,
    };
    tables::by_unit(views).iter().flat_map(plans).filter(is_brief).collect()
}

/// The cases of a group, by durability class.
fn side_by_side(of: &UnitGroup<'_, '_>) -> SheetTable {
    let views = of.members.iter().map(|(_, view)| *view);
    let in_order: Vec<&CaseView<'_>> = tables::by_class(views).into_iter().flat_map(|(_, members)| members).collect();
    tables::comparison(&in_order, &of.name)
}

/// Charts of a group: its results, one for each option that was swept over numbers, and the cases over one another.
fn charts_of(of: &UnitGroup<'_, '_>, id: &str) -> [Vec<Drawing>; 3] {
    let views: Vec<&CaseView<'_>> = of.members.iter().map(|(_, view)| *view).collect();
    let frame = ChartFrame {
        id: &format!("{id}-chart"),
        title: "Results by case",
        about: "A bar for each case, a dot for each of its rounds, and its interval. Durability classes stand apart: what \
                survives less is not the same work done faster.",
    };
    let chart = DrawnChart::still(|size| charts::comparison(&frame, &views, size));
    let scaling = |option: &str| {
        let option_id: String = option.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
        let frame = ChartFrame {
            id: &format!("{id}-by-{option_id}"),
            title: &format!("Result by {option}"),
            about: "A point for each case, at its result; the stroke through it is its interval, or goes from the lowest \
                    round to the highest. Below it the 90th percentile of the headline's responses.",
        };
        let drawn = DrawnChart::still(|size| charts::scaling(&frame, &views, option, size));
        Drawing::if_any("scaling", &frame, drawn)
    };
    let overlays = charts::overlays(&of.members).into_iter().filter_map(|(overlay, drawn)| {
        let id = format!("{id}-{}", overlay.id);
        Drawing::if_any(overlay.id, &ChartFrame { id: &id, ..overlay }, drawn)
    });
    [
        Drawing::if_any("comparison", &frame, chart).into_iter().collect(),
        charts::swept(&views).into_iter().filter_map(scaling).collect(),
        if views.len() > 1 { overlays.collect() } else { Vec::new() },
    ]
}

fn machines(file: &RunFile) -> Vec<SheetPart> {
    let mut machines = tables::machines(file);
    let mut parts = vec![SheetPart::Heading(2, "machine".to_owned(), "Machine and program".to_owned())];
    if let [only] = machines.as_mut_slice() {
        only.title.clear();
    }
    parts.extend(machines.into_iter().chain([tables::time_spent(file)]).map(SheetPart::Table));
    parts
}

/// Settings, machine and time of the run in a few lines, for a terminal.
fn in_lines(file: &RunFile) -> Vec<SheetPart> {
    let mut parts = vec![SheetPart::heading(2, "Settings")];
    for view in CaseView::all(file) {
        let label = if file.cases.len() > 1 { format!("{}: ", view.case.label) } else { String::new() };
        let table = tables::parameters(&view);
        let rows = table.rows.iter().filter(|row| !row[1].is_empty());
        let rows: Vec<String> = rows.map(|row| format!("{}: {}", row[0].text, row[1].text)).collect();
        parts.push(SheetPart::text(format!("{label}{}", rows.join(" · "))));
    }
    if file.cases.iter().all(|case| case.origin.is_none()) {
        parts.push(SheetPart::text(tables::machine_line(&file.provenance.machine)));
    }
    parts.extend(file.time_spent.as_ref().map(|spent| {
        let each = spent.parts.iter().map(|part| format!("{} {}", part.name, units::seconds(part.seconds)));
        let each = each.collect::<Vec<_>>().join(", ");
        SheetPart::text(format!("time spent: {}: {each}", units::seconds(spent.total_s)))
    }));
    parts
}

/// Commands that run it again: that of the run, or of each that it was merged from.
fn again(file: &RunFile) -> Vec<SheetPart> {
    let mut origins: Vec<_> = file.cases.iter().filter_map(|case| case.origin.as_ref()).collect();
    origins.dedup();
    let is_merged = !file.cases.is_empty() && file.cases.iter().all(|case| case.origin.is_some());
    let others = CaseView::all(file).iter().map(CaseView::other_drivers).max().unwrap_or(0);
    let name = match others {
        0 => String::new(),
        others => {
            format!("with {}", units::counted(others.into(), "other driver's command", "other drivers' commands"))
        }
    };
    let own = (!is_merged).then(|| RepeatCommand {
        name,
        command: file.provenance.command.clone(),
        ..RepeatCommand::default()
    });
    let of = origins.into_iter().map(|origin| RepeatCommand {
        name: origin.started_at.clone(),
        command: origin.command.clone(),
        on: tables::machine_line(&origin.machine),
    });
    of.chain(own).map(SheetPart::Again).collect()
}
