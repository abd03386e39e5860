//! Users and workloads for tests.

use bourse_driver::{
    Background, Clock, Draw, MixShare, OperationCx, OperationResult, OperationSpec, RoundControl, Schedule, User,
    UserSpec, Workload,
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
    D: FnMut(&dyn Clock, &RoundControl) -> Draw + Send,
    P: FnMut(&mut OperationCx<'_>) -> OperationResult + Send,
{
    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw {
        (self.draw)(clock, control)
    }
    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        (self.perform)(cx)
    }
}

/// Specification of a user that is always ready.
pub(crate) fn user_spec<'w>(
    schedule: Schedule,
    stop_rule: bourse_driver::StopRule,
    perform: impl FnMut(&mut OperationCx<'_>) -> OperationResult + Send + 'w,
) -> UserSpec<'w> {
    let draw = |_: &dyn Clock, _: &RoundControl| Draw::Ready;
    UserSpec { name: "user".to_owned(), role: "users", user: Box::new(Acting { draw, perform }), schedule, stop_rule }
}

/// A workload of given users and emulators.
pub(crate) struct Given<'w> {
    pub(crate) user_specs: Vec<UserSpec<'w>>,
    pub(crate) background: Vec<Background<'w>>,
}

impl<'w> Workload<'w> for Given<'w> {
    fn operations(&self) -> &[OperationSpec] {
        &SPECS
    }
    fn users(&mut self) -> Vec<UserSpec<'w>> {
        std::mem::take(&mut self.user_specs)
    }
    fn background(&mut self) -> Vec<Background<'w>> {
        std::mem::take(&mut self.background)
    }
    fn queue_length(&self) -> Option<u64> {
        Some(7)
    }
}
