//! The brokerage workload without a database: the reference model in memory answers, so that the driver and the model are
//! measured.

use crate::args::DatabaseArgs;
use crate::failure::Result;
use crate::oltp::database::{ReadyDatabase, engine_failure};
use crate::tpce::whole;
use bourse_driver::{Clock, OperationCx};
use bourse_egen::Inputs;
use bourse_egen::txn::{TradeCleanup, TradeRequest};
use bourse_engine::{Engine, EngineError, ErrorKind, NullEngine};
use bourse_oltp::check::ledger::Totals;
use bourse_oltp::sut::{Answered, BegunRound, Connector, Performer, RoundBegin, RunError, Sut, Terms};
use bourse_schema::{TableRow as _, tables};
use bourse_tpce::load::fingerprint;
use bourse_tpce::model::Model;
use bourse_tpce::sut::{Answer, Opening};
use bourse_tpce::transactions::{Output, Request, TxnError};
use bourse_tpce::verify::Subject as _;
use bourse_tpce::workload::{Tpce, first_trade, part};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Note in every report on the model's figures.
pub(super) const NOTE: &str = "no database: one reference model in memory answers all users, one at a time";

/// The requested database; none is created.
pub(super) fn ready(target: &str, wanted: &DatabaseArgs, inputs: &Inputs) -> Result<ReadyDatabase> {
    let constraints = wanted.constraints.into();
    let fingerprint = fingerprint(&NullEngine, inputs, whole(wanted)?, constraints);
    let fingerprint = fingerprint.map_err(|error| engine_failure(target, &error))?;
    Ok(ReadyDatabase { fingerprint, history: NOTE.to_owned(), checks: Vec::new() })
}

/// A system under test on the model: each round begins with the initial database.
pub(super) struct ModelSystem<'i> {
    inputs: &'i Inputs,
    model: Mutex<Option<Arc<Mutex<Model>>>>,
}

impl<'i> ModelSystem<'i> {
    pub(super) fn new(inputs: &'i Inputs) -> Self {
        Self { inputs, model: Mutex::new(None) }
    }

    fn model(&self) -> bourse_engine::Result<Arc<Mutex<Model>>> {
        let model = self.model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        model.ok_or_else(|| EngineError::new(ErrorKind::Other, "no round is open"))
    }
}

impl Sut<Tpce> for ModelSystem<'_> {
    fn engine(&self) -> &dyn Engine {
        &NullEngine
    }

    fn open(&self, terms: &Terms, clock: &dyn Clock, _: &AtomicBool) -> Result<RoundBegin<Tpce>, RunError> {
        let part = part(&terms.size).map_err(RunError::Options)?;
        let mut model = Model::new(self.inputs, part);
        let first_trade = first_trade(part);
        let cleanup = TradeCleanup { start_trade_id: first_trade };
        let begin = clock.now();
        let cleaned = match model.answer(&Request::TradeCleanup(cleanup), clock.timestamp()) {
            (Output::TradeCleanup(cleaned), _) => cleaned,
            _ => unreachable!("asked for Trade-Cleanup, which the model cannot refuse"),
        };
        let cleanup_ns = clock.now() - begin;
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Mutex::new(model)));
        // Without a database there are no earlier totals to compare with.
        Ok(BegunRound { before: Totals::default(), opening: Opening { cleaned, cleanup_ns, first_trade } })
    }

    fn connector(&self) -> bourse_engine::Result<Connector<Tpce>> {
        Ok(Connector::Elsewhere(Box::new(ModelConnector(self.model()?))))
    }

    fn pending(&self) -> bourse_engine::Result<Option<u64>> {
        let mut pending = 0;
        let model = self.model()?;
        let mut model = model.lock().unwrap_or_else(PoisonError::into_inner);
        model.each_row(tables::TradeRequest::table(), &mut |_| pending += 1)?;
        Ok(Some(pending))
    }
}

struct ModelConnector(Arc<Mutex<Model>>);

impl Performer<Tpce> for ModelConnector {
    fn perform(
        &mut self,
        cx: &mut OperationCx<'_>,
        request: &Request,
        send: &dyn Fn(&TradeRequest),
    ) -> Result<Answered<Answer>, TxnError> {
        let now = cx.backoff.clock().timestamp();
        let (output, sent) = self.0.lock().unwrap_or_else(PoisonError::into_inner).answer(request, now);
        sent.iter().for_each(send);
        // What others are judged by is not judged.
        let excused = output.status().is_error();
        Ok(Answered { answer: Answer { output, excused }, server: None })
    }
}
