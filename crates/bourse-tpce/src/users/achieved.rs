//! Input parameters that a run achieved, next to the required ones (Clause 6.4).

use bourse_egen::driver::Tunables;
use bourse_egen::txn::{CustomerRequest, TradeType};
use bourse_record::NameValue;

/// Frequency of a choice: hits among draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Share {
    hits: u64,
    draws: u64,
}

impl Share {
    fn count(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.draws += 1;
    }
}

macro_rules! shares {
    ($($field:ident: $name:literal = $wanted:expr;)+) => {
        /// Choices that customers drew over a whole round.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub(super) struct AchievedMix {
            $($field: Share,)+
        }

        impl AchievedMix {
            /// Adds another user's.
            pub(super) fn merge(&mut self, other: &Self) {
                $(
                    self.$field.hits += other.$field.hits;
                    self.$field.draws += other.$field.draws;
                )+
            }

            /// Each share in percent, with the required one, as facts of a round.
            pub(super) fn facts(&self, tunables: &Tunables) -> Vec<NameValue> {
                let wanted: &[fn(&Tunables) -> f64] = &[$($wanted),+];
                [$(($name, self.$field)),+]
                    .into_iter()
                    .zip(wanted)
                    .filter(|((_, share), _)| share.draws > 0)
                    .map(|((name, share), wanted)| NameValue {
                        name: format!("input: {name}"),
                        value: format!(
                            "{:.2} % of {} (wanted {} %)",
                            100.0 * share.hits as f64 / share.draws as f64,
                            share.draws,
                            (wanted(tunables) * 100.0).round() / 100.0
                        ),
                    })
                    .collect()
            }
        }
    };
}

shares! {
    position_by_tax_id: "Customer-Position by tax id" = |t| t.customer_position.by_tax_id.into();
    position_history: "Customer-Position with history" = |t| t.customer_position.get_history.into();
    watch_by_account: "Market-Watch by account" = |t| t.market_watch.by_account.into();
    watch_by_industry: "Market-Watch by industry" = |t| t.market_watch.by_industry.into();
    watch_by_list: "Market-Watch by watch list" = |t| t.market_watch.by_watch_list.into();
    detail_lob: "Security-Detail with news bodies" = |t| t.security_detail.lob_access.into();
    lookup_1: "Trade-Lookup frame 1" = |t| t.trade_lookup.frame[0].into();
    lookup_2: "Trade-Lookup frame 2" = |t| t.trade_lookup.frame[1].into();
    lookup_3: "Trade-Lookup frame 3" = |t| t.trade_lookup.frame[2].into();
    lookup_4: "Trade-Lookup frame 4" = |t| t.trade_lookup.frame[3].into();
    order_limit: "Trade-Order at a limit" = |t| t.trade_order.limit.into();
    order_buy: "Trade-Order buying" = |t| t.trade_order.buy.into();
    order_stop: "Trade-Order stop-loss, of limit sells" = |t| t.trade_order.stop_loss.into();
    order_by_symbol: "Trade-Order by symbol" = |t| t.trade_order.by_symbol.into();
    order_lifo: "Trade-Order newest lots first" = |t| t.trade_order.lifo.into();
    order_margin: "Trade-Order on margin" = |t| t.trade_order.margin.into();
    order_owner: "Trade-Order by the owner" = |t| t.trade_order.executor_is_owner.into();
    order_roll_back: "Trade-Order rolled back" =
        |t| 100.0 * f64::from(t.trade_order.roll_back) / f64::from(t.mix.trade_order.max(1));
    update_1: "Trade-Update frame 1" = |t| t.trade_update.frame[0].into();
    update_2: "Trade-Update frame 2" = |t| t.trade_update.frame[1].into();
    update_3: "Trade-Update frame 3" = |t| t.trade_update.frame[2].into();
}

impl AchievedMix {
    /// Counts what was drawn.
    pub(super) fn count(&mut self, request: &CustomerRequest) {
        match request {
            CustomerRequest::CustomerPosition(input) => {
                self.position_by_tax_id.count(!input.tax_id.is_empty());
                self.position_history.count(input.get_history);
            }
            CustomerRequest::MarketWatch(input) => {
                self.watch_by_account.count(input.acct_id.0 != 0);
                self.watch_by_industry.count(!input.industry_name.is_empty());
                self.watch_by_list.count(input.c_id.0 != 0);
            }
            CustomerRequest::SecurityDetail(input) => self.detail_lob.count(input.access_lob_flag),
            CustomerRequest::TradeLookup(input) => {
                let frames = [&mut self.lookup_1, &mut self.lookup_2, &mut self.lookup_3, &mut self.lookup_4];
                (1..).zip(frames).for_each(|(frame, share)| share.count(input.frame_to_execute == frame));
            }
            CustomerRequest::TradeOrder(input) => {
                self.order_limit.count(!input.trade_type.is_market());
                self.order_buy.count(!input.trade_type.is_sell());
                if input.trade_type.is_sell() && !input.trade_type.is_market() {
                    self.order_stop.count(input.trade_type == TradeType::StopLoss);
                }
                self.order_by_symbol.count(!input.symbol.is_empty());
                self.order_lifo.count(input.is_lifo);
                self.order_margin.count(input.type_is_margin);
                self.order_owner.count(input.executor_is_account_owner);
                self.order_roll_back.count(input.roll_it_back);
            }
            CustomerRequest::TradeUpdate(input) => {
                let frames = [&mut self.update_1, &mut self.update_2, &mut self.update_3];
                (1..).zip(frames).for_each(|(frame, share)| share.count(input.frame_to_execute == frame));
            }
            CustomerRequest::BrokerVolume(_) | CustomerRequest::TradeStatus(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_egen::Inputs;
    use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database};

    #[test]
    fn what_the_emulator_draws_is_near_what_it_should() {
        let inputs = Inputs::builtin();
        let config = CustomerConfig::of(Database::of(1_000, 500, 10));
        let mut emulator = CustomerEmulator::new(&inputs, &config, 1, 2).unwrap();
        let (mut one, mut other) = (AchievedMix::default(), AchievedMix::default());
        (0..50_000).for_each(|_| one.count(&emulator.next()));
        (0..50_000).for_each(|_| other.count(&emulator.next()));
        one.merge(&other);
        let facts = one.facts(&Tunables::default());
        assert_eq!(facts.len(), 21);
        for NameValue { name, value } in facts {
            let numbers: Vec<f64> = value.split([' ', '(', ')']).filter_map(|word| word.parse().ok()).collect();
            let [found, draws, wanted] = numbers[..] else { panic!("{value}") };
            let share = wanted / 100.0;
            let deviation = 100.0 * (share * (1.0 - share) / draws).sqrt();
            assert!((found - wanted).abs() < 5.0 * deviation, "{name}: {value}");
        }
    }
}
