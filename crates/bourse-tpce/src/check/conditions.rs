//! Consistency conditions of every database: before a run, after it and after recovery.
//!
//! The first four are the specification's three consistency conditions (Clause 7.3.2), the third in both directions. The
//! others follow from the transactions, and hold on every freshly loaded database too.
//!
//! `{first_trade}` is the first number of new trades: conditions that have it look at the trades of runs alone, since they
//! take too long on all of the initial ones, whose rows are compared with the generator's.

use super::Check;

const OURS: &str = "follows from Clause 3.3";

/// All conditions. Each query walks a table at most once and finds partners by key.
pub const CONDITIONS: &[Check] = &bourse_oltp::conditions![
    "C1 brokers' trades", "Clause 7.3.2.1",
        "a broker's number of trades is the number of completed trades of his accounts",
        "SELECT b_id, b_num_trades, coalesce(n, 0)
           FROM broker LEFT JOIN (SELECT ca_b_id, count(*) AS n
                                    FROM trade INNER JOIN customer_account ON ca_id = t_ca_id
                                   WHERE t_st_id = 'CMPT'
                                   GROUP BY ca_b_id) AS counted ON ca_b_id = b_id
          WHERE b_num_trades <> coalesce(n, 0)";
    "C2 brokers' commissions", "Clause 7.3.2.2",
        "a broker's commission is the sum of the commissions of those trades",
        "SELECT b_id, b_comm_total, coalesce(paid, 0)
           FROM broker LEFT JOIN (SELECT ca_b_id, sum(t_comm) AS paid
                                    FROM trade INNER JOIN customer_account ON ca_id = t_ca_id
                                   WHERE t_st_id = 'CMPT'
                                   GROUP BY ca_b_id) AS summed ON ca_b_id = b_id
          WHERE b_comm_total <> coalesce(paid, 0)";
    "C3 holding summaries", "Clause 7.3.2.3",
        "a holding summary is the sum of the account's lots of the security",
        "SELECT hs_ca_id, hs_s_symb, hs_qty, coalesce(held, 0)
           FROM holding_summary LEFT JOIN (SELECT h_ca_id, h_s_symb, sum(h_qty) AS held
                                             FROM holding
                                            GROUP BY h_ca_id, h_s_symb) AS summed
             ON h_ca_id = hs_ca_id AND h_s_symb = hs_s_symb
          WHERE hs_qty <> coalesce(held, 0)";
    "C3 lots without summary", "Clause 7.3.2.3",
        "each lot has a holding summary",
        "SELECT h_t_id, h_ca_id, h_s_symb
           FROM holding LEFT JOIN holding_summary ON hs_ca_id = h_ca_id AND hs_s_symb = h_s_symb
          WHERE hs_ca_id IS NULL";
    "no empty holding summary", OURS,
        "a summary that comes to nothing is deleted",
        "SELECT hs_ca_id, hs_s_symb FROM holding_summary WHERE hs_qty = 0";
    "no empty lot", OURS,
        "a lot that is closed is deleted",
        "SELECT h_t_id FROM holding WHERE h_qty = 0";
    "lots and their history", OURS,
        "a lot has as many shares as its smallest history row left",
        "SELECT h_t_id, h_qty
           FROM holding
          WHERE abs(h_qty) <> coalesce((SELECT min(abs(hh_after_qty))
                                          FROM holding_history
                                         WHERE hh_h_t_id = h_t_id), -1)";
    "completed trades are settled", OURS,
        "each completed trade has a settlement",
        "SELECT t_id
           FROM trade LEFT JOIN settlement ON se_t_id = t_id
          WHERE t_st_id = 'CMPT' AND se_t_id IS NULL";
    "only completed trades are settled", OURS,
        "each settlement is a completed trade's",
        "SELECT se_t_id, t_st_id
           FROM settlement INNER JOIN trade ON t_id = se_t_id
          WHERE t_st_id <> 'CMPT'";
    "settled amounts", "Clause 3.3.8.8",
        "a settlement is the value of the trade without charge and commission, and without the tax that is withheld",
        "SELECT t_id, se_amt
           FROM trade
                INNER JOIN settlement ON se_t_id = t_id
                INNER JOIN customer_account ON ca_id = t_ca_id
          WHERE se_amt <> CASE WHEN t_tt_id IN ('TMS', 'TLS', 'TSL') THEN t_qty * t_trade_price
                               ELSE -t_qty * t_trade_price END
                          - t_chrg - t_comm - CASE WHEN ca_tax_st = 1 THEN t_tax ELSE 0 END";
    "cash moves for cash trades", OURS,
        "each completed cash trade has a cash transaction of the settled amount",
        "SELECT t_id, se_amt, ct_amt
           FROM trade
                INNER JOIN settlement ON se_t_id = t_id
                LEFT JOIN cash_transaction ON ct_t_id = t_id
          WHERE t_is_cash AND (ct_amt IS NULL OR ct_amt <> se_amt)";
    "no cash moves otherwise", OURS,
        "each cash transaction is of a completed trade that is not on margin",
        "SELECT ct_t_id, t_st_id
           FROM cash_transaction INNER JOIN trade ON t_id = ct_t_id
          WHERE t_st_id <> 'CMPT' OR NOT t_is_cash";
    "trades and their history", OURS,
        "each trade has a history row of its present status and moment",
        "SELECT t_id, t_st_id, t_dts
           FROM trade LEFT JOIN trade_history ON th_t_id = t_id AND th_st_id = t_st_id AND th_dts = t_dts
          WHERE th_t_id IS NULL";
    "prices of completed trades", OURS,
        "a trade has a price when it is completed, and not before",
        "SELECT t_id, t_st_id
           FROM trade
          WHERE (t_st_id = 'CMPT' AND t_trade_price IS NULL) OR (t_st_id <> 'CMPT' AND t_trade_price IS NOT NULL)";
    "pending trades wait", OURS,
        "each pending trade has its request",
        "SELECT t_id
           FROM trade LEFT JOIN trade_request ON tr_t_id = t_id
          WHERE t_st_id = 'PNDG' AND tr_t_id IS NULL";
    "requests are of pending trades", OURS,
        "each request is a pending trade's, with its type, security, quantity, price and broker",
        "SELECT tr_t_id, t_st_id
           FROM trade_request
                INNER JOIN trade ON t_id = tr_t_id
                INNER JOIN customer_account ON ca_id = t_ca_id
          WHERE t_st_id <> 'PNDG' OR t_tt_id <> tr_tt_id OR t_s_symb <> tr_s_symb OR t_qty <> tr_qty
             OR t_bid_price <> tr_bid_price OR ca_b_id <> tr_b_id";
    "charges", "Clause 3.3.7.5",
        "a trade's charge is that of its type and the customer's tier",
        "SELECT t_id, t_chrg, ch_chrg
           FROM trade
                INNER JOIN customer_account ON ca_id = t_ca_id
                INNER JOIN customer ON c_id = ca_c_id
                LEFT JOIN charge ON ch_tt_id = t_tt_id AND ch_c_tier = c_tier
          WHERE ch_chrg IS NULL OR t_chrg <> ch_chrg";
    // The reference rounds twice when it makes the initial trades, to the cent and to the ten-thousandth: half a
    // ten-thousandth of room.
    "commissions", "Clauses 3.3.7.5 and 3.3.8.6",
        "a trade's commission is the rate of its tier, type, exchange and quantity, of its value at the price paid, or \
           asked for while it is not completed",
        "SELECT t_id, t_st_id, t_comm, cr_rate, t_qty, coalesce(t_trade_price, t_bid_price)
           FROM trade
                INNER JOIN customer_account ON ca_id = t_ca_id
                INNER JOIN customer ON c_id = ca_c_id
                INNER JOIN security ON s_symb = t_s_symb
                LEFT JOIN commission_rate
                       ON cr_c_tier = c_tier AND cr_tt_id = t_tt_id AND cr_ex_id = s_ex_id
                      AND cr_from_qty <= t_qty AND cr_to_qty >= t_qty
          WHERE cr_rate IS NULL
             OR abs(t_comm * 100 * {one} - cr_rate * t_qty * coalesce(t_trade_price, t_bid_price))
                > 0.505 * {one} * {one}";
    // Data-Maintenance moves customers from one rate of their country to the next: the tax may be by any of these.
    "taxes", "Clause 3.3.8.5",
        "a trade's tax is what the customer's division and country take of the gain over the lots it closed; none \
           without a gain or on accounts that are not taxed",
        "SELECT t_id, t_tax, ca_tax_st, gain
           FROM trade
                INNER JOIN customer_account ON ca_id = t_ca_id
                LEFT JOIN (SELECT hh_t_id,
                                  sum((hh_before_qty - hh_after_qty)
                                      * (closing.t_trade_price - opening.t_trade_price)) AS gain
                             FROM holding_history
                                  INNER JOIN trade AS closing ON closing.t_id = hh_t_id
                                  INNER JOIN trade AS opening ON opening.t_id = hh_h_t_id
                            WHERE hh_t_id >= {first_trade} AND hh_h_t_id <> hh_t_id
                            GROUP BY hh_t_id) AS gains ON hh_t_id = t_id
          WHERE t_id >= {first_trade}
            AND t_st_id = 'CMPT'
            AND ((ca_tax_st = 0 OR coalesce(gain, 0) <= 0) AND t_tax <> 0
                 OR ca_tax_st <> 0 AND gain > 0
                    AND NOT EXISTS (SELECT 1
                                      FROM customer_taxrate AS country
                                           CROSS JOIN customer_taxrate AS division
                                           CROSS JOIN taxrate AS of_country
                                           CROSS JOIN taxrate AS of_division
                                     WHERE country.cx_c_id = ca_c_id
                                       AND {start_of}country.cx_tx_id{two_letters} IN ('US', 'CN')
                                       AND division.cx_c_id = ca_c_id
                                       AND division.cx_tx_id <> country.cx_tx_id
                                       AND of_country.tx_id >= {start_of}country.cx_tx_id{two_letters}
                                       AND {start_of}of_country.tx_id{two_letters} = {start_of}country.cx_tx_id{two_letters}
                                       AND of_division.tx_id = division.cx_tx_id
                                       AND abs(t_tax * {rate_one}
                                               - (of_country.tx_rate + of_division.tx_rate) * gain)
                                           <= 0.005 * {one} * {rate_one}))";
    "due dates", "Clause 3.3.8.8",
        "a settlement is due two days of the calendar after its trade",
        "SELECT se_t_id, t_dts, se_cash_due_date
           FROM settlement INNER JOIN trade ON t_id = se_t_id
          WHERE se_cash_due_date <> {after_two_days} CAST(t_dts {per_day} AS {date_type}) {two_days}";
    "cash types", "Clauses 3.3.8.8 and 3.3.10.4",
        "a settlement is from a cash account or on margin as its trade is",
        "SELECT se_t_id, se_cash_type
           FROM settlement INNER JOIN trade ON t_id = se_t_id
          WHERE t_is_cash AND se_cash_type NOT IN ('Cash Account', 'Cash')
             OR NOT t_is_cash AND se_cash_type NOT IN ('Margin', 'Margin Account')";
    "lots and their trades", "Clause 3.3.8.4",
        "a lot has the account, security, price and moment of the trade that opened it",
        "SELECT h_t_id
           FROM holding INNER JOIN trade ON t_id = h_t_id
          WHERE t_ca_id <> h_ca_id OR t_s_symb <> h_s_symb OR t_dts <> h_dts
             OR t_trade_price IS NULL OR t_trade_price <> h_price";
    "order of lots", "Clause 3.3.8.4",
        "a trade closes the newest lots first, or the oldest, as it asks: none that it had to close before those it \
           closed is left",
        "SELECT hh_t_id, hh_h_t_id, h_t_id
           FROM holding_history
                INNER JOIN trade AS closing ON closing.t_id = hh_t_id
                INNER JOIN trade AS closed ON closed.t_id = hh_h_t_id
                INNER JOIN holding ON h_ca_id = closing.t_ca_id AND h_s_symb = closing.t_s_symb
          WHERE hh_t_id >= {first_trade}
            AND hh_h_t_id <> hh_t_id
            AND (NOT closing.t_lifo AND h_dts < closed.t_dts
                 OR closing.t_lifo AND h_dts > closed.t_dts AND h_dts < closing.t_dts)";
    // A Market-Feed takes the time when it begins. Where it then waits for a row's lock, a Trade-Order that begins
    // and commits meanwhile has a later time, and its order is there when the Market-Feed reads.
    "steps of trades", OURS,
        "each trade was submitted before it ended, and each limit order was pending before that; times of \
           transactions that overlap may differ by five seconds",
        "SELECT t_id, t_tt_id, t_st_id
           FROM trade
                INNER JOIN trade_type ON tt_id = t_tt_id
                LEFT JOIN trade_history AS pending ON pending.th_t_id = t_id AND pending.th_st_id = 'PNDG'
                LEFT JOIN trade_history AS submitted ON submitted.th_t_id = t_id AND submitted.th_st_id = 'SBMT'
          WHERE t_id >= {first_trade}
            AND (t_st_id <> 'PNDG' AND submitted.th_t_id IS NULL
                 OR NOT tt_is_mrkt AND pending.th_t_id IS NULL
                 OR pending.th_dts > {after_five_seconds} submitted.th_dts {five_seconds})";
    // An order that was being committed when the price was noted may have been missed; the next price sets it off. A
    // price noted after the newest order may be of an earlier run, whose clock was ahead.
    "triggered limit orders", "Clause 3.3.3.3",
        "no limit order still waits that was there five seconds before its security had the price it asks for",
        "SELECT tr_t_id, tr_tt_id, tr_bid_price, lt_price
           FROM trade_request
                INNER JOIN trade ON t_id = tr_t_id
                INNER JOIN last_trade ON lt_s_symb = tr_s_symb
          WHERE lt_dts > {after_five_seconds} t_dts {five_seconds}
            AND lt_dts <= (SELECT newest.t_dts FROM trade AS newest WHERE newest.t_id = (SELECT max(t_id) FROM trade))
            AND (tr_tt_id IN ('TSL', 'TLB') AND tr_bid_price >= lt_price
                 OR tr_tt_id = 'TLS' AND tr_bid_price <= lt_price)";
    "limits of prices", "Clause 6.2.2",
        "no limit order is executed at a worse price than it asks for",
        "SELECT t_id, t_tt_id, t_bid_price, t_trade_price
           FROM trade
          WHERE t_tt_id = 'TLB' AND t_trade_price > t_bid_price
             OR t_tt_id = 'TLS' AND t_trade_price < t_bid_price";
    "securities of exchanges", "Clause 2.2.7.4",
        "an exchange's number of securities is the number of securities listed there",
        "SELECT ex_id, ex_num_symb, coalesce(n, 0)
           FROM exchange LEFT JOIN (SELECT s_ex_id, count(*) AS n FROM security GROUP BY s_ex_id) AS counted
             ON s_ex_id = ex_id
          WHERE ex_num_symb <> coalesce(n, 0)";
];
