//! Users and workloads to test with.

use bourse_driver::{
    Background, Clock, Control, Draw, MixShare, OperationSpec, Performed, Schedule, Seat, Turn, User, Workload,
};

pub(crate) const SPECS: [OperationSpec; 2] = [
    OperationSpec {
        name: "work",
        limit_ns: Some(500_000),
        mix: Some(MixShare { target_percent: 100.0, tolerance_points: 1.0 }),
        codes: &[],
    },
    OperationSpec::new("rest"),
];

/// A user whose draw and perform are closures.
pub(crate) struct Acting<D, P> {
    pub(crate) draw: D,
    pub(crate) perform: P,
}

impl<D, P> User for Acting<D, P>
where
    D: FnMut(&dyn Clock, &Control) -> Draw + Send,
    P: FnMut(&mut Turn<'_>) -> Performed + Send,
{
    fn draw(&mut self, clock: &dyn Clock, control: &Control) -> Draw {
        (self.draw)(clock, control)
    }
    fn perform(&mut self, turn: &mut Turn<'_>) -> Performed {
        (self.perform)(turn)
    }
}

/// A seat for a user that is always ready.
pub(crate) fn seat<'w>(
    schedule: Schedule,
    role: bourse_driver::Role,
    perform: impl FnMut(&mut Turn<'_>) -> Performed + Send + 'w,
) -> Seat<'w> {
    let draw = |_: &dyn Clock, _: &Control| Draw::Ready;
    Seat { name: "user".to_owned(), user: Box::new(Acting { draw, perform }), schedule, role }
}

/// A workload of given seats and emulators.
pub(crate) struct Given<'w> {
    pub(crate) seats: Vec<Seat<'w>>,
    pub(crate) background: Vec<Background<'w>>,
}

impl<'w> Workload<'w> for Given<'w> {
    fn operations(&self) -> &[OperationSpec] {
        &SPECS
    }
    fn users(&mut self) -> Vec<Seat<'w>> {
        std::mem::take(&mut self.seats)
    }
    fn background(&mut self) -> Vec<Background<'w>> {
        std::mem::take(&mut self.background)
    }
    fn queue_length(&self) -> Option<u64> {
        Some(7)
    }
}
