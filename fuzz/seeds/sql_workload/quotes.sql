--! parameter k uniform 1 1_000
--! hole sqlite now datetime('now')
--! setup
CREATE TABLE t (k INTEGER, v TEXT); -- ; not an end
INSERT INTO t VALUES (1, 'a;b''c');
--! transaction two words weight 3 rows 1
SELECT v /* :k */ FROM t WHERE k = :k AND v <> '12:30' AND {now} > 0;
UPDATE t SET v = "x:y" WHERE k = :k::int;
--! check equals 1
SELECT count(*) FROM t;
