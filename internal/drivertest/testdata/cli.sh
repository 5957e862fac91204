#!/usr/bin/env bash
# The smoke list of the mariadb command line. A check's name is what is sent; its result is all that the client says.
set -u

client=(mariadb --no-defaults --comments --host="$DB_HOST" --port="$DB_PORT" --user="$DB_USER" --password="$DB_PASSWORD"
  --default-character-set=utf8mb4 --local-infile=1 --protocol=tcp --table --verbose --force --unbuffered --show-warnings)
if [ -n "$DB_CA" ]; then client+=(--ssl-ca="$DB_CA" --ssl-verify-server-cert); fi

# quote turns standard input into a JSON string. Times are left out, and control characters become question marks.
quote() {
  LC_ALL=C tr '\000-\010\013-\037' '?' | sed -e 's/([0-9.]* sec)/(a time)/' -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' | awk 'BEGIN {printf "\""} {printf "%s\\n", $0} END {printf "\"\n"}'
}

# check NAME [OPTION]...: runs what stands on standard input in one session; -vvv also shows rows affected and warnings.
check() {
  local name=$1
  shift
  printf '{"check": "%s", "got": %s}\n' "$name" "$("${client[@]}" -vvv "$@" "$DB_SCHEMA" 2>&1 | quote)"
}

check 'tags and types' <<'SQL'
/* conn_tag:cli */ SELECT 1;
SELECT 2 /* conn_tag:cli */;
-- conn_tag:cli
SELECT '/* conn_tag:nobody */', 3;
SELECT * FROM kinds\G
SQL
check 'column types' --column-type-info <<<'SELECT * FROM kinds WHERE id=1;'
check 'transactions' <<'SQL'
BEGIN; INSERT INTO orders (item) VALUES ('kept'); COMMIT;
BEGIN; INSERT INTO orders (item) VALUES ('lost'); SAVEPOINT s; DELETE FROM orders; ROLLBACK TO s; ROLLBACK;
SELECT * FROM orders;
SET autocommit=0; INSERT INTO orders (item) VALUES ('off'); ROLLBACK; SET autocommit=1;
SELECT COUNT(*) FROM orders;
SQL
check 'affected rows and warnings' <<'SQL'
INSERT INTO orders (item, qty) VALUES ('a', 1), ('b', 2), ('c', 3);
SELECT LAST_INSERT_ID();
UPDATE orders SET qty=2 WHERE item IN ('a', 'b');
INSERT IGNORE INTO orders (item, qty) VALUES ('w', 999), ('a', -999);
SELECT 1/0;
SELECT ROW_COUNT(), @@warning_count;
SQL
check 'errors' <<'SQL'
INSERT INTO orders (item) VALUES ('a');
SELEC 1;
SELECT * FROM missing;
CALL complain();
USE nowhere
SELECT DATABASE();
SQL
check 'procedure' <<'SQL'
CALL totals(3, @t);
SELECT @t;
delimiter //
CREATE PROCEDURE made() BEGIN SELECT 1; SELECT 2; END //
CALL made() //
SELECT 1; SELECT 2; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes //
SQL
check 'state' <<SQL
CREATE TEMPORARY TABLE scratch (n INT); INSERT INTO scratch VALUES (1); SELECT * FROM scratch; DROP TABLE scratch;
SET @a=1, SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00'; SELECT @a, "id" FROM orders LIMIT 1; SELECT @@time_zone;
PREPARE p FROM 'SELECT ? + 1'; SET @n=4; EXECUTE p USING @n; DEALLOCATE PREPARE p;
LOCK TABLES orders READ; DELETE FROM orders; UNLOCK TABLES;
SET NAMES latin1; SELECT HEX('é'); charset utf8mb4
SELECT HEX('é');
use $DB_OTHER
SELECT DATABASE(); SELECT * FROM shelves;
LOAD DATA LOCAL INFILE '$DB_FILE' INTO TABLE $DB_SCHEMA.notes CHARACTER SET utf8mb4; SELECT * FROM $DB_SCHEMA.notes;
SQL
check 'safe updates' --safe-updates <<<"UPDATE orders SET qty=1; SELECT @@sql_select_limit, @@max_join_size;"
check 'init command' --init-command="SET time_zone='+05:00'" <<<'SELECT @@time_zone;'
check 'quick' --quick <<<'SELECT n FROM numbers ORDER BY n LIMIT 50;'
check 'latin1' --default-character-set=latin1 <<<"SELECT @@character_set_client, @@collation_connection, HEX('é');"
check 'wrong password' --password=wrong <<<'SELECT 1;'
for table in "SELECT SUM(n), MD5(GROUP_CONCAT(pad)) FROM numbers" "SHOW TABLES" "DESCRIBE kinds" "SHOW CREATE TABLE orders" "EXPLAIN SELECT * FROM numbers WHERE n < 5"; do
  check "$table" <<<"$table;"
done
printf '{"check": "large result", "got": "%s"}\n' "$("${client[@]}" "$DB_SCHEMA" -e 'SELECT * FROM numbers' | md5sum)"
printf '{"check": "dump", "got": "%s"}\n' "$(mariadb-dump --no-defaults -h "$DB_HOST" -P "$DB_PORT" -u "$DB_USER" -p"$DB_PASSWORD" --routines --single-transaction --skip-dump-date "$DB_SCHEMA" 2>&1 |
  grep -v '^-- Host' | md5sum)"
printf '{"check": "admin", "got": "%s"}\n' "$(mariadb-admin --no-defaults -h "$DB_HOST" -P "$DB_PORT" -u "$DB_USER" -p"$DB_PASSWORD" ping 2>&1)"
printf '{"check": "done", "got": "%s"}\n' "$(mariadb --version | sed 's/.*Distrib \([0-9.]*\).*/\1/')"
