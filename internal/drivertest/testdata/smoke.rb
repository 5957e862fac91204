# The smoke list of Ruby's mysql2, over MariaDB's C client.
require "bigdecimal"
require "digest"
require "json"
require "mysql2"

STATE = "SELECT DATABASE(), @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection," \
        " @@autocommit, @@sql_mode, @@time_zone, @@tx_isolation, @@group_concat_max_len, VERSION()".freeze

def connect(**bend)
  options = { host: ENV["DB_HOST"], port: ENV["DB_PORT"].to_i, username: ENV["DB_USER"], password: ENV["DB_PASSWORD"], database: ENV["DB_SCHEMA"],
              encoding: "utf8mb4", local_infile: true, flags: Mysql2::Client::MULTI_STATEMENTS, as: :array, cast_booleans: true }
  options.merge!(sslca: ENV["DB_CA"], ssl_mode: :required) unless ENV["DB_CA"].empty?
  Mysql2::Client.new(options.merge(bend))
end

def shown(value)
  case value
  when Array then value.map { |v| shown(v) }
  when Hash then value.transform_values { |v| shown(v) }
  when String
    text = value.dup.force_encoding("UTF-8")
    text.valid_encoding? ? text : "hex:" + value.unpack1("H*")
  when Mysql2::Result then shown(value.to_a)
  when nil, true, false, Integer, Float then value
  else value.inspect
  end
end

def check(name)
  line = { check: name, got: shown(yield) }
rescue StandardError => e
  line = { check: name, broke: "#{e.class} #{e.message}" }
ensure
  puts JSON.generate(line)
  $stdout.flush
end

def refused
  ["no error", yield]
rescue Mysql2::Error => e
  [e.error_number, e.sql_state, e.message]
end

$c = connect
def rows(sql, **options) = $c.query(sql, **options).to_a
def one(sql) = rows(sql)[0][0]

def run(sql)
  $c.query(sql)
  [$c.affected_rows, $c.last_id, $c.warning_count, $c.query_info]
end

def digest(rows) = [rows.size, Digest::MD5.hexdigest(rows.inspect)]

def sets
  got = []
  loop do
    got << ($c.store_result&.to_a || [$c.affected_rows, $c.last_id])
    break unless $c.next_result
  end
  got
end

check("state after connect") { [rows(STATE), $c.server_info, $c.encoding.to_s] }
check("text types") { rows("SELECT * FROM kinds ORDER BY id") }
check("fields") { r = $c.query("SELECT * FROM kinds"); [r.fields, r.respond_to?(:field_types) && r.field_types] }
["/* conn_tag:ruby */ SELECT 1", "SELECT 2 /* conn_tag:ruby */", "SELECT '/* conn_tag:nobody */', 3"].each { |sql| check("tagged #{sql}") { rows(sql) } }

check("prepared types") { $c.prepare("SELECT * FROM kinds WHERE id < ? ORDER BY id").execute(9, as: :array).to_a }
check("prepared again and again") do
  s = $c.prepare("SELECT ? AS v, ? IS NULL AS n")
  [1, "two", nil, 3.5, nil, 2**63, true, "naïve 😀", "\x00\xff".b, Time.utc(2020, 2, 2, 3, 4, 5), Date.new(2021, 1, 1), BigDecimal("1.20")].map { |v| s.execute(v, v, as: :array).to_a }
end
check("prepared statements in turn") do
  a, b = $c.prepare("INSERT INTO orders (item, qty) VALUES (?, ?)"), $c.prepare("SELECT COUNT(*) FROM orders WHERE qty <=> ?")
  got = [["pen", 1], ["ink", nil], ["nib", 3], ["cap", nil]].map { |v| a.execute(*v); [a.affected_rows, a.last_id, b.execute(v[1], as: :array).to_a] }
  got << refused { a.execute("pen", 1) } << refused { $c.prepare("SELEC ?") } << a.close
end
check("prepared, streamed") do
  s = $c.prepare("SELECT n FROM numbers WHERE n > ? ORDER BY n")
  s.execute(5, as: :array, stream: true, cache_rows: false).map { |r| r[0] }.sum
end
check("many statements") { (0...300).sum { |n| one("SELECT #{n}") } }
check("commit and rollback") do
  [run("BEGIN"), run("INSERT INTO orders (item) VALUES ('kept')"), run("COMMIT"), run("BEGIN"), run("INSERT INTO orders (item) VALUES ('lost')"), run("ROLLBACK"), rows("SELECT * FROM orders"),
   run("SET autocommit=0"), run("INSERT INTO orders (item) VALUES ('off')"), refused { rows("SELECT nothing") }, run("ROLLBACK"), run("SET autocommit=1"), rows("SELECT COUNT(*) FROM orders")]
end
check("affected rows") do
  [run("INSERT INTO orders (item, qty) VALUES ('a', 1), ('b', 2), ('c', 3)"), one("SELECT LAST_INSERT_ID()"), run("UPDATE orders SET qty=2 WHERE item IN ('a', 'b')"), run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"),
   run("DELETE FROM orders WHERE item='c'"), one("SELECT ROW_COUNT()"), one("SELECT LAST_INSERT_ID()")]
end
check("found rows") { [rows("SELECT SQL_CALC_FOUND_ROWS n FROM numbers ORDER BY n LIMIT 2"), one("SELECT FOUND_ROWS()"), rows("SELECT n FROM numbers WHERE n < 4"), one("SELECT FOUND_ROWS()")] }
check("warnings") { [run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', 999), ('a', -999)"), rows("SHOW WARNINGS"), rows("SELECT 1/0"), $c.warning_count, one("SHOW COUNT(*) WARNINGS")] }
check("errors") do
  ["INSERT INTO orders (item) VALUES ('a')", "SELEC 1", "SELECT * FROM missing", "SELECT nope FROM orders", "CALL complain()", "USE nowhere", "SELECT (SELECT n FROM numbers)", "", ";", "CALL missing()", "KILL 999999"]
    .map { |sql| [refused { rows(sql) }, one("SELECT 1")] }
end
check("multi statements") do
  $c.query("SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes; SET @x=5; SELECT @x")
  got = [$c.next_result && sets]
  $c.query("INSERT INTO notes VALUES (2, 'kept'); SELECT * FROM missing; INSERT INTO notes VALUES (3, 'never')")
  got << refused { $c.next_result } << ($c.abandon_results! || rows("SELECT * FROM notes"))
end
check("procedure") do
  first = $c.query("CALL totals(3, @t)").to_a
  [first, $c.next_result && sets, rows("SELECT @t"), one("SELECT bump(4)"), one("SELECT @bumped")]
end
check("large result") { digest(rows("SELECT * FROM numbers ORDER BY n")) }
check("large parameter") { [rows("SELECT LENGTH('#{"é" * (1 << 20)}')"), $c.prepare("SELECT LENGTH(?)").execute("x" * (17 << 20), as: :array).to_a] }
check("value of several packets") { digest(rows("SELECT REPEAT('x', 17 * 1024 * 1024)")) }
check("streamed") { $c.query("SELECT n FROM numbers ORDER BY n", stream: true, cache_rows: false).map { |r| r[0] }.sum }
check("asynchronous") { $c.query("SELECT SLEEP(0.05), 7", async: true); $c.async_result.to_a }
check("temporary table") { [run("CREATE TEMPORARY TABLE scratch (n INT)"), run("INSERT INTO scratch VALUES (1), (2)"), rows("SELECT * FROM scratch"), run("DROP TEMPORARY TABLE scratch"), refused { rows("SELECT * FROM scratch") }] }
check("variables") do
  [run("SET @a=1, SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00', sql_select_limit=2"), rows("SELECT @a, 'é' AS \"q\""), rows("SELECT n FROM numbers ORDER BY n"), rows(STATE),
   run("SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, sql_select_limit=DEFAULT"), rows(STATE)]
end
check("load data") { [run("DELETE FROM notes"), run("LOAD DATA LOCAL INFILE '#{ENV["DB_FILE"]}' INTO TABLE notes CHARACTER SET utf8mb4"), rows("SELECT * FROM notes"), refused { run("LOAD DATA LOCAL INFILE '/nowhere/at/all' INTO TABLE notes") }, one("SELECT 1")] }
check("change schema") { [$c.select_db(ENV["DB_OTHER"]), rows("SELECT DATABASE(), label FROM shelves"), refused { $c.select_db("nowhere") }, $c.select_db(ENV["DB_SCHEMA"]), one("SELECT DATABASE()")] }
check("server option") { [$c.set_server_option(Mysql2::Client::OPTION_MULTI_STATEMENTS_OFF), refused { rows("SELECT 1; SELECT 2") }, $c.set_server_option(Mysql2::Client::OPTION_MULTI_STATEMENTS_ON), $c.query("SELECT 1; SELECT 2").to_a, $c.abandon_results!] }
check("ping") { $c.ping }
check("kill") do
  k, id = connect, $c.thread_id
  $c.query("SELECT SLEEP(30)", async: true)
  nil until k.query("SELECT 1 FROM information_schema.processlist WHERE info = 'SELECT SLEEP(30)'").count.positive?
  k.query("KILL QUERY #{id}")
  [refused { $c.async_result.to_a }, one("SELECT 1"), k.query("KILL #{id}"), refused { one("SELECT 1") }[0].is_a?(Integer)]
end
%w[utf8mb4 latin1].each do |encoding|
  check("connect with #{encoding}") { k = connect(encoding: encoding); [k.query(STATE).to_a, k.query("SELECT HEX('é'), 'é'").to_a, k.prepare("SELECT HEX(?)").execute("é", as: :array).to_a] }
end
check("connect without schema") { [connect(database: nil).query(STATE).to_a, refused { connect(database: nil).query("SELECT * FROM orders") }] }
check("init command") { connect(init_command: "SET time_zone='+05:00'").query(STATE).to_a }
check("found rows flag") { k = connect(flags: Mysql2::Client::FOUND_ROWS); k.query("UPDATE orders SET qty=qty"); k.affected_rows }
check("reconnect") { k = connect(reconnect: true); k.query("SET @a=1"); connect.query("KILL #{k.thread_id}"); [k.ping, k.query("SELECT @a, DATABASE()").to_a] }
check("wrong password") { refused { connect(password: "wrong") } }
check("unknown schema") { refused { connect(database: "nowhere") } }
check("done") { "#{Mysql2::VERSION}, C library #{Mysql2::Client.info[:version]}" }
