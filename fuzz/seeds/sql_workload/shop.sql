-- The reading half of shop.toml as a SQL file: lines that begin with --! say what the statements below them are for.
--! parameter item zipfian 1 1000
--! parameter next sequential 1 1000
--! parameter label text 20
--! hole sqlite number INTEGER
--! hole mysql number BIGINT

--! setup
CREATE TABLE item (id {number} PRIMARY KEY, label VARCHAR(20) NOT NULL, seen {number} NOT NULL);
--! setup repeat 1000
INSERT INTO item (id, label, seen) VALUES (:next, :label, 0);

--! operation look weight 3 rows 1
SELECT label FROM item WHERE id = :item;

--! transaction look and count weight 1
SELECT label FROM item WHERE id = :item;
UPDATE item SET seen = seen + 1 WHERE id = :item;

--! check equals 1000
SELECT count(*) FROM item;
