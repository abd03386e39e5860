--! setup
CREATE TABLE pgbench_branches (bid INTEGER NOT NULL PRIMARY KEY, bbalance INTEGER, filler CHAR(88));
CREATE TABLE pgbench_tellers (tid INTEGER NOT NULL PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler CHAR(84));
CREATE TABLE pgbench_accounts (aid INTEGER NOT NULL PRIMARY KEY, bid INTEGER, abalance INTEGER, filler CHAR(84));
CREATE TABLE pgbench_history (tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP, filler CHAR(22));
--! parameter filler_84 text 84
--! parameter filler_88 text 88
--! parameter next_branch unique 1
--! setup repeat scale * 1
INSERT INTO pgbench_branches (bid, bbalance, filler) VALUES (:next_branch, 0, :filler_88);
--! parameter next_teller unique 1
--! setup repeat scale * 10
\set tellers_branch (:next_teller - 1) / 10 + 1
INSERT INTO pgbench_tellers (tid, bid, tbalance, filler) VALUES (:next_teller, :tellers_branch, 0, :filler_84);
--! parameter next_account unique 1
--! setup repeat scale * 100000
\set accounts_branch (:next_account - 1) / 100000 + 1
INSERT INTO pgbench_accounts (aid, bid, abalance, filler) VALUES (:next_account, :accounts_branch, 0, :filler_84);
