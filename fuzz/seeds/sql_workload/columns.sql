--! parameter id row users.id
--! parameter name row "my ""users".na_me
--! parameter city distinct_zipfian users.city
--! parameter each distinct users.city
--! operation read weight 1 rows 1
SELECT * FROM users WHERE id = :id AND name = :name AND city <> :city OR city = :each;
