//! What must hold in every database, before a run, after it and after recovery.
//!
//! The first four are the specification's three consistency conditions (Clause 7.3.2), the third in both directions. The
//! others follow from the transactions, and hold on every freshly loaded database too.

use super::Check;

const OURS: &str = "follows from Clause 3.3";

/// All conditions. Each query walks a table at most once and finds partners by key.
pub const CONDITIONS: &[Check] = &[
    Check {
        name: "C1 brokers' trades",
        source: "Clause 7.3.2.1",
        words: "a broker's number of trades is the number of completed trades of his accounts",
        sql: "SELECT b_id, b_num_trades, coalesce(n, 0)
                FROM broker LEFT JOIN (SELECT ca_b_id, count(*) AS n
                                         FROM trade INNER JOIN customer_account ON ca_id = t_ca_id
                                        WHERE t_st_id = 'CMPT'
                                        GROUP BY ca_b_id) AS counted ON ca_b_id = b_id
               WHERE b_num_trades <> coalesce(n, 0)",
    },
    Check {
        name: "C2 brokers' commissions",
        source: "Clause 7.3.2.2",
        words: "a broker's commission is the sum of the commissions of those trades",
        sql: "SELECT b_id, b_comm_total, coalesce(paid, 0)
                FROM broker LEFT JOIN (SELECT ca_b_id, sum(t_comm) AS paid
                                         FROM trade INNER JOIN customer_account ON ca_id = t_ca_id
                                        WHERE t_st_id = 'CMPT'
                                        GROUP BY ca_b_id) AS summed ON ca_b_id = b_id
               WHERE b_comm_total <> coalesce(paid, 0)",
    },
    Check {
        name: "C3 holding summaries",
        source: "Clause 7.3.2.3",
        words: "a holding summary is the sum of the account's lots of the security",
        sql: "SELECT hs_ca_id, hs_s_symb, hs_qty, coalesce(held, 0)
                FROM holding_summary LEFT JOIN (SELECT h_ca_id, h_s_symb, sum(h_qty) AS held
                                                  FROM holding
                                                 GROUP BY h_ca_id, h_s_symb) AS summed
                  ON h_ca_id = hs_ca_id AND h_s_symb = hs_s_symb
               WHERE hs_qty <> coalesce(held, 0)",
    },
    Check {
        name: "C3 lots without summary",
        source: "Clause 7.3.2.3",
        words: "each lot has a holding summary",
        sql: "SELECT h_t_id, h_ca_id, h_s_symb
                FROM holding LEFT JOIN holding_summary ON hs_ca_id = h_ca_id AND hs_s_symb = h_s_symb
               WHERE hs_ca_id IS NULL",
    },
    Check {
        name: "no empty holding summary",
        source: OURS,
        words: "a summary that comes to nothing is deleted",
        sql: "SELECT hs_ca_id, hs_s_symb FROM holding_summary WHERE hs_qty = 0",
    },
    Check {
        name: "no empty lot",
        source: OURS,
        words: "a lot that is closed is deleted",
        sql: "SELECT h_t_id FROM holding WHERE h_qty = 0",
    },
    Check {
        name: "lots and their history",
        source: OURS,
        words: "a lot has as many shares as its smallest history row left",
        sql: "SELECT h_t_id, h_qty
                FROM holding
               WHERE abs(h_qty) <> coalesce((SELECT min(abs(hh_after_qty))
                                               FROM holding_history
                                              WHERE hh_h_t_id = h_t_id), -1)",
    },
    Check {
        name: "completed trades are settled",
        source: OURS,
        words: "each completed trade has a settlement",
        sql: "SELECT t_id
                FROM trade LEFT JOIN settlement ON se_t_id = t_id
               WHERE t_st_id = 'CMPT' AND se_t_id IS NULL",
    },
    Check {
        name: "only completed trades are settled",
        source: OURS,
        words: "each settlement is a completed trade's",
        sql: "SELECT se_t_id, t_st_id
                FROM settlement INNER JOIN trade ON t_id = se_t_id
               WHERE t_st_id <> 'CMPT'",
    },
    Check {
        name: "settled amounts",
        source: "Clause 3.3.8.8",
        words: "a settlement is the value of the trade without charge and commission, and without the tax that is withheld",
        sql: "SELECT t_id, se_amt
                FROM trade
                     INNER JOIN settlement ON se_t_id = t_id
                     INNER JOIN customer_account ON ca_id = t_ca_id
               WHERE se_amt <> CASE WHEN t_tt_id IN ('TMS', 'TLS', 'TSL') THEN t_qty * t_trade_price
                                    ELSE -t_qty * t_trade_price END
                               - t_chrg - t_comm - CASE WHEN ca_tax_st = 1 THEN t_tax ELSE 0 END",
    },
    Check {
        name: "cash moves for cash trades",
        source: OURS,
        words: "each completed cash trade has a cash transaction of the settled amount",
        sql: "SELECT t_id, se_amt, ct_amt
                FROM trade
                     INNER JOIN settlement ON se_t_id = t_id
                     LEFT JOIN cash_transaction ON ct_t_id = t_id
               WHERE t_is_cash AND (ct_amt IS NULL OR ct_amt <> se_amt)",
    },
    Check {
        name: "no cash moves otherwise",
        source: OURS,
        words: "each cash transaction is of a completed trade that is not on margin",
        sql: "SELECT ct_t_id, t_st_id
                FROM cash_transaction INNER JOIN trade ON t_id = ct_t_id
               WHERE t_st_id <> 'CMPT' OR NOT t_is_cash",
    },
    Check {
        name: "trades and their history",
        source: OURS,
        words: "each trade has a history row of its present status and moment",
        sql: "SELECT t_id, t_st_id, t_dts
                FROM trade LEFT JOIN trade_history ON th_t_id = t_id AND th_st_id = t_st_id AND th_dts = t_dts
               WHERE th_t_id IS NULL",
    },
    Check {
        name: "prices of completed trades",
        source: OURS,
        words: "a trade has a price when it is completed, and not before",
        sql: "SELECT t_id, t_st_id
                FROM trade
               WHERE (t_st_id = 'CMPT' AND t_trade_price IS NULL) OR (t_st_id <> 'CMPT' AND t_trade_price IS NOT NULL)",
    },
    Check {
        name: "pending trades wait",
        source: OURS,
        words: "each pending trade has its request",
        sql: "SELECT t_id
                FROM trade LEFT JOIN trade_request ON tr_t_id = t_id
               WHERE t_st_id = 'PNDG' AND tr_t_id IS NULL",
    },
    Check {
        name: "requests are of pending trades",
        source: OURS,
        words: "each request is a pending trade's, with its type, security, quantity, price and broker",
        sql: "SELECT tr_t_id, t_st_id
                FROM trade_request
                     INNER JOIN trade ON t_id = tr_t_id
                     INNER JOIN customer_account ON ca_id = t_ca_id
               WHERE t_st_id <> 'PNDG' OR t_tt_id <> tr_tt_id OR t_s_symb <> tr_s_symb OR t_qty <> tr_qty
                  OR t_bid_price <> tr_bid_price OR ca_b_id <> tr_b_id",
    },
    Check {
        name: "securities of exchanges",
        source: "Clause 2.2.7.4",
        words: "an exchange's number of securities is the number of securities listed there",
        sql: "SELECT ex_id, ex_num_symb, coalesce(n, 0)
                FROM exchange LEFT JOIN (SELECT s_ex_id, count(*) AS n FROM security GROUP BY s_ex_id) AS counted
                  ON s_ex_id = ex_id
               WHERE ex_num_symb <> coalesce(n, 0)",
    },
];
