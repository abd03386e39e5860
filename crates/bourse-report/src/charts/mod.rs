//! Charts as SVG, drawn here: they need no library, no script and no network, and take their colours from the page.
//!
//! `svg` writes elements, `axis` chooses ticks, `time` draws panels over time; the others are charts. Each chart is drawn
//! twice, wide and narrow, since text in a drawing scaled down to a phone cannot be read.

mod alone;
mod axis;
mod by_row;
mod comparison;
mod distribution;
mod history;
mod scaling;
mod series;
mod svg;
mod time;
mod time_split;

pub use alone::svg;
pub(crate) use by_row::{ByRow, ByRowUnit, Curve, by_row};
pub(crate) use comparison::comparison;
pub(crate) use history::{History, HistoryPoint, history};
pub(crate) use scaling::{scaling, swept};

use crate::view::CaseView;
use bourse_record::Round;

/// Medium of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// A desk's screen, or paper.
    Wide,
    /// A phone.
    Narrow,
}

impl Size {
    pub(crate) const ALL: [Self; 2] = [Self::Wide, Self::Narrow];

    /// The class the page shows or hides it by.
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
pub(crate) struct Subject<'a> {
    pub(crate) view: &'a CaseView<'a>,
    pub(crate) round: &'a Round,
    /// Begins the ids of the drawing, which have to be the page's only ones.
    pub(crate) id: String,
}

/// A chart of a round.
pub(crate) struct Chart {
    /// Identifier in the page.
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    /// Explanation of the chart.
    pub(crate) about: &'static str,
    /// Whether it differs from round to round; the others are drawn of all rounds together.
    pub(crate) each_round: bool,
    /// The drawing; none where nothing was recorded.
    pub(crate) draw: fn(&Subject<'_>, &Chart, Size) -> Option<String>,
}

/// Every chart, in the page's order.
pub(crate) const CHARTS: &[Chart] = &[
    Chart {
        key: "throughput",
        title: "Throughput",
        about: "Completions in each second. What is counted for the result is what lies in the measurement interval.",
        each_round: true,
        draw: series::throughput,
    },
    Chart {
        key: "response",
        title: "Response times over time",
        about: "Quantiles of the responses of each second, all together, on a logarithmic scale.",
        each_round: true,
        draw: series::response,
    },
    Chart {
        key: "distribution",
        title: "Response time distribution",
        about: "How often each response time came up in the measurement interval, on a logarithmic scale; each curve is \
                as high as its commonest time. The tall line has 90 % of the responses left of it, and has to lie left \
                of the limit; the short ones are median and p99.",
        each_round: false,
        draw: distribution::distribution,
    },
    Chart {
        key: "time-split",
        title: "Where the users' time went",
        about: "A bar for each kind of user, over all rounds: the parts add up to its whole time.",
        each_round: false,
        draw: time_split::time_split,
    },
    Chart {
        key: "processor",
        title: "Processor time",
        about: "Processor seconds our process, engine and harness together, used in each second.",
        each_round: true,
        draw: series::processor,
    },
    Chart {
        key: "memory",
        title: "Memory",
        about: "What our process holds, what of it the engine counts as its own, and the machine's.",
        each_round: true,
        draw: series::memory,
    },
    Chart {
        key: "sizes",
        title: "Database and logs",
        about: "Sizes of the database and of the files that make its commits durable; where a workload is about them \
                each point is the largest size in a short while.",
        each_round: true,
        draw: series::sizes,
    },
    Chart {
        key: "storage",
        title: "Reading and writing",
        about: "Bytes our process caused to be read from storage and written to it in each second.",
        each_round: true,
        draw: series::storage,
    },
    Chart {
        key: "waiting",
        title: "Waiting",
        about: "Time spent waiting for locks, all users together; tries again after conflicts; the market's queue.",
        each_round: true,
        draw: series::waiting,
    },
];
