# 1,000 transactions as ActiveRecord makes them over Ruby's mysql2, with prepared statements.
require "json"
require "mysql2"

def connect
  c = Mysql2::Client.new(host: ENV["DB_HOST"], port: ENV["DB_PORT"].to_i, username: ENV["DB_USER"], password: ENV["DB_PASSWORD"], database: ENV["DB_SCHEMA"],
                         encoding: "utf8mb4", flags: Mysql2::Client::FOUND_ROWS, as: :array)
  c.query("SET NAMES utf8mb4, @@SESSION.sql_mode = CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO'), @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483")
  c.query("SELECT VERSION()").to_a
  c.query("SHOW FULL FIELDS FROM carts").to_a
  c.query("SHOW KEYS FROM carts").to_a
  c
end

def transact(c, prepared, n)
  c.ping if (n % 10).zero?
  item = n % 10 + 1
  c.query("BEGIN")
  left = prepared[:read].execute(item, as: :array).first[0]
  prepared[:update].execute(1, item)
  touched = prepared[:update].affected_rows
  prepared[:insert].execute("owner #{n}", 1)
  made = prepared[:insert].last_id
  same = c.query("SELECT LAST_INSERT_ID()").first[0] == made
  c.query("SAVEPOINT active_record_1")
  owner = c.query("SELECT owner FROM carts WHERE id = #{made}").first[0]
  c.query("RELEASE SAVEPOINT active_record_1")
  c.query("COMMIT")
  [made, left, touched, same, owner]
end

def check(name, got) = puts(JSON.generate(check: name, got: got))

10.times do |pack|
  c = connect
  prepared = { read: c.prepare("SELECT /* conn_tag:ruby */ qty FROM stock WHERE id = ?"), update: c.prepare("UPDATE stock SET qty = qty - ? WHERE id = ?"),
               insert: c.prepare("INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))") }
  check("transactions #{pack}00 to #{pack}99", (0...100).map { |n| transact(c, prepared, 100 * pack + n) })
  prepared.each_value(&:close)
  c.close
end
check("what 1,000 transactions left", connect.query("SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts").first.map(&:to_s))
check("done", "")
