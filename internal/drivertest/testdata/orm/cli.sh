#!/usr/bin/env bash
# 1,000 transactions of text through the mariadb command line.
set -eu

client=(mariadb --no-defaults --comments --host="$DB_HOST" --port="$DB_PORT" --user="$DB_USER" --password="$DB_PASSWORD" --default-character-set=utf8mb4 --protocol=tcp
  --init-command="SET sql_mode='STRICT_TRANS_TABLES', time_zone='+00:00'" --skip-column-names "$DB_SCHEMA")

transact() {
  awk -v first="$1" 'BEGIN {for (n = first; n < first + 100; n++) {
    print "BEGIN; SELECT /* conn_tag:cli */ qty FROM stock WHERE id = " n % 10 + 1 "; UPDATE stock SET qty = qty - 1 WHERE id = " n % 10 + 1 ";"
    print "INSERT INTO carts (owner, qty, made) VALUES (\"owner " n "\", 1, UTC_TIMESTAMP(6)); SELECT LAST_INSERT_ID();"
    print "SAVEPOINT s1; SELECT owner FROM carts WHERE id = LAST_INSERT_ID(); RELEASE SAVEPOINT s1; COMMIT;"
  }}' | "${client[@]}" | tr '\n' ' '
}

for pack in 0 1 2 3 4 5 6 7 8 9; do
  printf '{"check": "transactions %d00 to %d99", "got": "%s"}\n' $pack $pack "$(transact "${pack}00")"
done
printf '{"check": "what 1,000 transactions left", "got": "%s"}\n' \
  "$("${client[@]}" -e 'SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts' | tr '\t' ' ')"
printf '{"check": "done", "got": "%s"}\n' "$(mariadb --version | sed 's/.*Distrib \([0-9.]*\).*/\1/')"
