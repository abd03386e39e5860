//! Charts: curves are data that the page's script draws, so that a reader can look into them; the others are SVG, drawn here.
//! They need no library and no network, and take their colours from the page.
//!
//! `svg` writes elements, `axis` chooses ticks, `plot` describes panels of curves; the others are charts. Each still chart is
//! drawn twice, wide and narrow, since text in a drawing scaled down to a phone cannot be read.

mod alone;
mod axis;
mod comparison;
mod distribution;
mod forest;
mod history;
mod live;
mod marks;
mod overlay;
mod overview;
mod percentile;
mod plot;
mod scaling;
mod series;
mod svg;
mod time_split;

pub use alone::svg;
pub(crate) use comparison::comparison;
pub(crate) use forest::{ForestRow, forest};
pub(crate) use history::{HistoryChart, HistoryPoint, history};
pub(crate) use live::live_panels;
pub(crate) use marks::{Lane, LaneChart, marks};
pub(crate) use overview::overview;
pub(crate) use plot::{Curve, Plot, Thinning, is_too_short};
pub(crate) use scaling::{scaling, swept};
pub(crate) use svg::escaped;

use crate::view::CaseView;
use bourse_record::Round;

/// Medium of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChartSize {
    /// A desk's screen, or paper.
    Wide,
    /// A phone.
    Narrow,
}

impl ChartSize {
    pub(crate) const ALL: [Self; 2] = [Self::Wide, Self::Narrow];

    /// CSS class by which the page shows or hides it.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }

    /// Width of the drawing, in CSS pixels.
    const fn width(self) -> f64 {
        match self {
            Self::Wide => 860.0,
            Self::Narrow => 350.0,
        }
    }
}

/// Subject of a chart.
pub(crate) struct ChartSubject<'a> {
    pub(crate) view: &'a CaseView<'a>,
    pub(crate) round: &'a Round,
    /// Index of the case in the run, and of the round in the case.
    pub(crate) case: usize,
    pub(crate) nth: usize,
    /// Prefix of the drawing's ids, which must be unique in the page.
    pub(crate) id: String,
}

/// Id, title and description of a drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChartFrame<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) about: &'a str,
}

/// A chart in both sizes, or the plot that the page's script draws, with its description.
#[derive(Debug, Clone, Default)]
pub(crate) struct DrawnChart {
    /// Class of the size, and the drawing.
    pub(crate) sizes: Vec<(&'static str, String)>,
    pub(crate) plot: Option<(String, String)>,
}

impl DrawnChart {
    /// A drawing of each size, if there is one.
    pub(crate) fn still(draw: impl Fn(ChartSize) -> Option<String>) -> Self {
        let sizes = ChartSize::ALL.into_iter().filter_map(|size| Some((size.class(), draw(size)?))).collect();
        Self { sizes, plot: None }
    }

    /// A plot; empty if it has nothing to draw.
    pub(crate) fn plot(plot: Plot) -> Self {
        Self { plot: plot.drawable(), ..Self::default() }
    }
}

/// The cases of a group over time and by percentile, drawn over one another; `views` with the cases' indices in the run.
pub(crate) fn overlays(views: &[(usize, &CaseView<'_>)]) -> Vec<(ChartFrame<'static>, DrawnChart)> {
    const TIME: ChartFrame<'static> = ChartFrame {
        id: "time",
        title: "The cases over time",
        about: "The first round of each case, by seconds since it began.",
    };
    const TAIL: ChartFrame<'static> = ChartFrame {
        id: "tail",
        title: "Response times by percentile",
        about: "How long the fastest half, nine of ten, 99 of 100 and so on waited at most, over all rounds. A curve ends \
                where fewer than ten operations are beyond it.",
    };
    let cases: Vec<&CaseView<'_>> = views.iter().map(|(_, view)| *view).collect();
    let plots = [(TIME, overlay::over_time(views)), (TAIL, overlay::percentiles(&cases))];
    plots.into_iter().map(|(frame, plot)| (frame, DrawnChart::plot(plot))).collect()
}

/// A chart of a round.
pub(crate) struct Chart {
    /// Identifier in the page.
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    /// Explanation of the chart.
    pub(crate) about: &'static str,
    /// Whether it is drawn for each round; the others are drawn of all rounds together.
    pub(crate) each_round: bool,
    draw: DrawChart,
}

/// Function that draws a chart; its drawing is empty if nothing was recorded.
enum DrawChart {
    Plot(fn(&ChartSubject<'_>) -> Plot),
    Still(fn(&ChartSubject<'_>, &Chart, ChartSize) -> Option<String>),
}

impl Chart {
    /// The chart of a round.
    pub(crate) fn drawn(&self, subject: &ChartSubject<'_>) -> DrawnChart {
        match self.draw {
            DrawChart::Plot(plot) => DrawnChart::plot(plot(subject)),
            DrawChart::Still(draw) => DrawnChart::still(|size| draw(subject, self, size)),
        }
    }
}

/// Charts by key: title, whether each round has one, drawing and explanation.
macro_rules! charts {
    ($($key:literal: $title:literal, each round $each:literal, $kind:ident($draw:expr), $about:literal;)+) => {
        [$(Chart { key: $key, title: $title, about: $about, each_round: $each, draw: DrawChart::$kind($draw) }),+]
    };
}

/// Every chart, in the page's order.
pub(crate) const CHARTS: &[Chart] = &charts![
    "throughput": "Throughput", each round true, Plot(series::throughput),
        "Completions in each second. What is counted for the result is what lies in the measurement interval.";
    "response": "Response times over time", each round true, Plot(series::response),
        "Quantiles of the responses of each second, all together, on a logarithmic scale; behind them how many took \
         how long, darker where there are more.";
    "distribution": "Response time distribution", each round false, Still(distribution::distribution),
        "How often each response time came up in the measurement interval, on a logarithmic scale; each curve is \
         as high as its commonest time. The tall line has 90 % of the responses left of it, and has to lie left \
         of the limit; the short ones are median and p99.";
    "percentiles": "Response times by percentile", each round false, Plot(|subject| percentile::of_case(subject.view)),
        "How long the fastest half, nine of ten, 99 of 100 and so on waited at most, over all rounds. A curve ends \
         where fewer than ten operations are beyond it.";
    "time-split": "Where the users' time went", each round false, Still(time_split::time_split),
        "A bar for each kind of user, over all rounds: the parts add up to its whole time.";
    "processor": "Processor time", each round true, Plot(series::processor),
        "Processor seconds our process, engine and harness together, used in each second.";
    "memory": "Memory", each round true, Plot(series::memory),
        "What our process holds, what of it the engine counts as its own, and the machine's.";
    "sizes": "Database and logs", each round true, Plot(series::sizes),
        "Sizes of the database and of the files that make its commits durable; where a workload is about them \
         each point is the largest size in a short while.";
    "storage": "Reading and writing", each round true, Plot(series::storage),
        "Bytes our process caused to be read from storage and written to it in each second; the engine's syncs.";
    "waiting": "Waiting", each round true, Plot(series::waiting),
        "Time spent waiting for locks, all users together; tries again after conflicts; the market's queue.";
];
