#!/usr/bin/env bash
# The programs that come with a database: DB_STYLE names one of sysbench, slap and dump. A check's result is what the
# program says, without its times, and what the tables hold afterwards.
set -u

login=(--host="$DB_HOST" --port="$DB_PORT" --user="$DB_USER" --password="$DB_PASSWORD")
sql() { mariadb --no-defaults "${login[@]}" --protocol=tcp --default-character-set=utf8mb4 --skip-column-names "$@" 2>&1; }
quote() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/ /g' | awk 'BEGIN {printf "\""} {printf "%s\\n", $0} END {printf "\""}'; }
check() { printf '{"check": "%s", "got": %s}\n' "$1" "$("${@:2}" 2>&1 | quote)"; }

bench() { # SCRIPT PREPARE THREADS EVENTS STEP
  sysbench "$1" --mysql-host="$DB_HOST" --mysql-port="$DB_PORT" --mysql-user="$DB_USER" --mysql-password="$DB_PASSWORD" --mysql-db="$DB_SCHEMA" \
    --db-ps-mode="$2" --threads="$3" --events="$4" --time=0 --rand-seed=7 --tables=1 --table-size=1000 --mysql-ignore-errors=none "$5" 2>&1
}

# counted is what a run reports, less its times.
counted() {
  bench "$@" run | grep -E '^ +(read|write|other|total|transactions|queries|ignored errors|reconnects|total number of events):|FATAL|ALERT' | sed -e 's/(.*//' -e 's/  */ /g'
  sql "$DB_SCHEMA" -e 'CHECKSUM TABLE sbtest1'
}

run_sysbench() {
  check 'prepare' bench oltp_read_write disable 1 1 prepare
  sql "$DB_SCHEMA" -e "UPDATE sbtest1 SET k = id % 7, c = REPEAT(id, 10), pad = REPEAT('p', id % 50)" # what prepare makes up differs
  for way in disable auto; do
    for script in oltp_point_select oltp_read_only oltp_write_only oltp_read_write; do
      check "$script, prepared statements: $way" counted $script $way 1 100
    done
    # Threads whose statements do not depend on their order.
    check "oltp_point_select in 8 threads, prepared statements: $way" counted oltp_point_select $way 8 2000
    check "oltp_read_only in 8 threads, prepared statements: $way" counted oltp_read_only $way 8 100
  done
  check 'cleanup' bench oltp_read_write disable 1 1 cleanup
}

slap() { mariadb-slap --no-defaults "${login[@]}" --protocol=tcp "$@" 2>&1 | grep -v ' seconds$'; }

run_slap() {
  local insert="INSERT INTO slap (owner, qty) VALUES ('a', 1); SELECT COUNT(*) > 0 FROM slap WHERE id = LAST_INSERT_ID()"
  check 'generated' slap --auto-generate-sql --auto-generate-sql-load-type=mixed --auto-generate-sql-add-autoincrement --concurrency=4 --number-of-queries=400
  check 'transactions' slap --auto-generate-sql --auto-generate-sql-load-type=update --auto-generate-sql-guid-primary --commit=5 --concurrency=2 --number-of-queries=200
  check 'own statements' slap --create-schema="$DB_OTHER" --no-drop --create='CREATE TABLE slap (id INT AUTO_INCREMENT PRIMARY KEY, owner VARCHAR(9), qty INT)' --query="$insert" --delimiter=';' \
    --concurrency=4 --iterations=1 --number-of-queries=400
  check 'what they left' sql "$DB_OTHER" -e 'SELECT COUNT(*), SUM(qty), MIN(id), MAX(id) FROM slap; SHOW TABLES'
}

dump() { mariadb-dump --no-defaults "${login[@]}" --protocol=tcp --routines --triggers --events --hex-blob --skip-dump-date "$@" 2>&1 | grep -v '^-- Host:'; }
# The element options is SHOW TABLE STATUS: times and guesses.
xml() { mariadb-dump --no-defaults "${login[@]}" --protocol=tcp --xml --skip-dump-date "$DB_SCHEMA" 2>&1 | grep -v '<options' | md5sum; }
sums() { sql "$1" -e 'CHECKSUM TABLE kinds, orders, notes, numbers, stock, everything, log EXTENDED' | sed "s/^$1\.//"; }

# there and back: the dump of a schema is loaded into another one, whose dump is the same.
reload() {
  sql -e "DROP DATABASE IF EXISTS copied; CREATE DATABASE copied CHARACTER SET utf8mb4"
  dump "$@" "$DB_SCHEMA" >"$work/first"
  sql copied <"$work/first"
  dump "$@" copied >"$work/second"
  wc -l <"$work/first"
  md5sum <"$work/first"
  diff <(sed "s/$DB_SCHEMA/copied/g" "$work/first") "$work/second"
  diff <(sums "$DB_SCHEMA") <(sums copied) && sums copied
}

run_dump() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  check 'made' sql "$DB_SCHEMA" <testdata/everything.sql
  check 'locked tables' reload
  check 'one transaction' reload --single-transaction --quick
  check 'row by row' reload --skip-extended-insert --complete-insert --order-by-primary --skip-opt --create-options
  check 'replaced, without comments' reload --replace --skip-tz-utc --skip-comments --skip-quote-names
  check 'as XML' xml
  check 'view and trigger' sql copied -e "INSERT INTO everything (vc) VALUES ('new'); SELECT * FROM log; SELECT COUNT(*) FROM everything_seen; SELECT plus_one(4); CALL count_kinds(@n); SELECT @n; SHOW EVENTS"
  sql -e 'DROP DATABASE copied'
}

"run_$DB_STYLE"
case $DB_STYLE in
sysbench) version=$(sysbench --version | sed 's/sysbench //') ;;
*) version=$(mariadb --version | sed 's/.*Distrib \([0-9.]*\).*/\1/') ;;
esac
printf '{"check": "done", "got": "%s"}\n' "$version"
