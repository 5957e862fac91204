"""The smoke list of the two Python drivers; DB_STYLE names one: pymysql or mysqlclient."""
import datetime
import decimal
import hashlib
import importlib
import json
import os
import threading

env = os.environ
style = env["DB_STYLE"]
db = importlib.import_module({"pymysql": "pymysql", "mysqlclient": "MySQLdb"}[style])
cursors = importlib.import_module({"pymysql": "pymysql.cursors", "mysqlclient": "MySQLdb.cursors"}[style])
flags = importlib.import_module(db.__name__ + ".constants.CLIENT")


def connect(**bend):
    options = dict(host=env["DB_HOST"], port=int(env["DB_PORT"]), user=env["DB_USER"], password=env["DB_PASSWORD"],
                   database=env["DB_SCHEMA"], charset="utf8mb4", local_infile=True)
    if env["DB_CA"]:
        options["ssl"] = {"ca": env["DB_CA"]}
    options["client_flag"] = flags.MULTI_STATEMENTS | flags.MULTI_RESULTS
    options.update(bend)
    return db.connect(**{k: v for k, v in options.items() if v is not None})


def plain(v):
    if isinstance(v, bytes):
        return "hex:" + v.hex()
    if isinstance(v, (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal)):
        return repr(v)
    if isinstance(v, (set, frozenset)):
        return sorted(v)
    raise TypeError(repr(v))


def check(name):
    def now(body):
        try:
            line = {"check": name, "got": body()}
        except Exception as e:
            line = {"check": name, "broke": repr(e)}
        print(json.dumps(line, default=plain, ensure_ascii=False), flush=True)
    return now


def refused(call, *args):
    """The error that a call must give."""
    try:
        return ["no error", call(*args)]
    except db.Error as e:
        return [type(e).__name__, *e.args]


def outcome(cur):
    c = cur.connection
    return [cur.rowcount, cur.lastrowid, c.warning_count() if hasattr(c, "warning_count") else cur._result.warning_count,
            c.info() if hasattr(c, "info") else c._result.message]


def drain(cur):
    sets = [[cur.description, cur.fetchall()]]
    while cur.nextset():
        sets.append([cur.description, cur.fetchall()])
    return sets


def digest(rows):
    return [len(rows), hashlib.md5(repr(rows).encode()).hexdigest()]


STATE = ("SELECT DATABASE(), @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection,"
         " @@autocommit, @@sql_mode, @@time_zone, @@tx_isolation, @@group_concat_max_len, VERSION()")
c = connect()


def run(sql, args=None):
    cur = c.cursor()
    cur.execute(sql, args)
    return outcome(cur)


def rows(sql, args=None, conn=None):
    cur = (conn or c).cursor()
    cur.execute(sql, args)
    return cur.fetchall()


def one(sql, args=None):
    return rows(sql, args)[0][0]


check("state after connect")(lambda: rows(STATE))
check("types")(lambda: rows("SELECT * FROM kinds ORDER BY id"))


@check("columns")
def _():
    cur = c.cursor()
    cur.execute("SELECT k.*, 1 + 1 AS sum FROM kinds k LIMIT 0")
    return cur.description


for sql in ("/* conn_tag:%s */ SELECT 1" % style, "SELECT 2 /* conn_tag:%s */" % style, "SELECT 3 -- conn_tag:" + style,
            "SELECT '/* conn_tag:nobody */', 4"):
    check("tagged " + sql)(lambda: rows(sql))

check("parameters")(lambda: rows("SELECT %s, %s, %s, %s, %s, %s", (1, "two 'q' \\ 😀", None, 3.5, datetime.date(2020, 2, 2), decimal.Decimal("1.20"))))
check("many statements")(lambda: sum(one("SELECT %s + 1", (n,)) for n in range(300)))


@check("commit and rollback")
def _():
    got = [run("INSERT INTO orders (item) VALUES ('kept')"), c.commit(), run("INSERT INTO orders (item) VALUES ('lost')"), c.rollback(), c.rollback()]
    c.autocommit(True)
    got += [rows("SELECT * FROM orders"), c.get_autocommit(), run("INSERT INTO orders (item) VALUES ('at once')"), c.rollback()]
    got += [rows("SELECT * FROM orders"), c.begin(), run("DELETE FROM orders"), one("SELECT COUNT(*) FROM orders"), c.rollback(), one("SELECT COUNT(*) FROM orders")]
    c.autocommit(False)
    got += [refused(run, "SELECT nothing"), run("INSERT INTO orders (item) VALUES ('x')"), refused(run, "INSERT INTO orders (item) VALUES ('x')"), c.rollback()]
    c.autocommit(True)
    return got


@check("executemany")
def _():
    cur = c.cursor()
    cur.executemany("INSERT INTO orders (item, qty) VALUES (%s, %s)", [("a", 1), ("b", 2), ("c", None)])
    return [outcome(cur), rows("SELECT * FROM orders ORDER BY id")]


check("affected rows")(lambda: [
    run("UPDATE orders SET qty=2 WHERE item IN ('a', 'b')"), run("INSERT INTO orders (item, qty) VALUES ('a', 9) ON DUPLICATE KEY UPDATE qty=qty+1"),
    one("SELECT LAST_INSERT_ID()"), run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"), one("SELECT LAST_INSERT_ID()"), c.insert_id(),
    run("INSERT INTO orders VALUES (500, 'explicit', 1)"), one("SELECT LAST_INSERT_ID()"), run("DELETE FROM orders WHERE item='c'"), one("SELECT ROW_COUNT()"),
    run("SELECT id FROM orders"), one("SELECT ROW_COUNT()"), run("DO LAST_INSERT_ID(77)"), one("SELECT LAST_INSERT_ID()")])
check("found rows")(lambda: [rows("SELECT SQL_CALC_FOUND_ROWS n FROM numbers ORDER BY n LIMIT 2"), one("SELECT FOUND_ROWS()"),
                             rows("SELECT n FROM numbers WHERE n < 4"), one("SELECT FOUND_ROWS()")])


@check("warnings")
def _():
    got = [run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', 999), ('a', -999)"), c.show_warnings()]
    got += [rows("SELECT 1/0"), one("SHOW COUNT(*) WARNINGS"), refused(run, "SELECT nowhere"), c.show_warnings(), rows("SHOW ERRORS"), one("SELECT 1")]
    return got + [run("SELECT 1"), c.show_warnings()]


@check("errors")
def _():
    got = []
    for sql in ("INSERT INTO orders (item) VALUES ('a')", "SELEC 1", "SELECT * FROM missing", "SELECT nope FROM orders", "CALL complain()", "USE nowhere",
                "SELECT (SELECT n FROM numbers)", "", ";", "SELECT * FROM nowhere.t", "CALL missing()", "KILL 999999"):
        got += [refused(run, sql), one("SELECT 1")]
    return got


@check("multi statements")
def _():
    cur = c.cursor()
    cur.execute("SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes; SET @x=5; SELECT @x")
    got = [drain(cur)]
    cur.execute("INSERT INTO notes VALUES (2, 'kept'); SELECT * FROM missing; INSERT INTO notes VALUES (3, 'never')")
    got.append(refused(cur.nextset))
    return got + [rows("SELECT * FROM notes")]


@check("procedure")
def _():
    cur = c.cursor()
    args = cur.callproc("totals", (3, 0))
    return [args, drain(cur), rows("SELECT @_totals_0, @_totals_1"), one("SELECT bump(4)"), one("SELECT @bumped")]


check("large result")(lambda: digest(rows("SELECT * FROM numbers ORDER BY n")))
check("large parameter")(lambda: rows("SELECT LENGTH(%s), MD5(%s)", ("é" * (1 << 20), "é" * (1 << 20))))
check("value of several packets")(lambda: digest(one("SELECT REPEAT('x', 17 * 1024 * 1024)")))


@check("unbuffered cursor")
def _():
    cur = c.cursor(cursors.SSCursor)
    cur.execute("SELECT n, pad FROM numbers ORDER BY n")
    got = [cur.fetchone()[0], [r[0] for r in cur.fetchmany(10)], digest(cur.fetchall())]
    cur.close()
    cur = c.cursor(cursors.SSDictCursor)
    cur.execute("SELECT n FROM numbers ORDER BY n")
    got.append(cur.fetchone())
    cur.close()  # leaves 1999 rows to be read and dropped
    return got + [one("SELECT 1")]


check("temporary table")(lambda: [run("CREATE TEMPORARY TABLE scratch (n INT)"), run("INSERT INTO scratch VALUES (1), (2)"), rows("SELECT * FROM scratch"),
                                  run("DROP TEMPORARY TABLE scratch"), refused(run, "SELECT * FROM scratch")])
check("user lock")(lambda: [one("SELECT GET_LOCK('l', 1)"), one("SELECT IS_USED_LOCK('l') IS NOT NULL"), one("SELECT RELEASE_LOCK('l')")])
check("variables")(lambda: [run("SET @a=1, @b='é', SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00', sql_select_limit=2"), rows("SELECT @a, @b, 'é' AS \"q\""),
                            rows("SELECT n FROM numbers ORDER BY n"), rows(STATE), run("SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, sql_select_limit=DEFAULT"), rows(STATE)])
check("text prepare")(lambda: [run("PREPARE p FROM 'SELECT ? + 1'"), run("SET @n=4"), rows("EXECUTE p USING @n"), run("DEALLOCATE PREPARE p"), refused(run, "EXECUTE p")])
check("load data")(lambda: [run("DELETE FROM notes"), run("LOAD DATA LOCAL INFILE '%s' INTO TABLE notes CHARACTER SET utf8mb4" % env["DB_FILE"]), c.show_warnings(),
                            rows("SELECT * FROM notes"), refused(run, "LOAD DATA LOCAL INFILE '/nowhere/at/all' INTO TABLE notes"), one("SELECT 1")])
check("change schema")(lambda: [c.select_db(env["DB_OTHER"]), rows("SELECT DATABASE(), label FROM shelves"), refused(c.select_db, "nowhere"), one("SELECT DATABASE()"),
                                run("USE " + env["DB_SCHEMA"]), one("SELECT DATABASE()")])
check("set charset")(lambda: [c.set_character_set("latin1") if hasattr(c, "set_character_set") else c.set_charset("latin1"), rows("SELECT HEX('é'), 'é'"), rows(STATE),
                              c.set_character_set("utf8mb4") if hasattr(c, "set_character_set") else c.set_charset("utf8mb4"), rows(STATE)])
check("ping")(lambda: c.ping(False) if style == "pymysql" else c.ping())
if style == "mysqlclient":
    check("change user")(lambda: [run("SET @gone=1, SESSION sql_mode=''"), c.change_user(env["DB_USER"], env["DB_PASSWORD"], env["DB_OTHER"]), rows(STATE), one("SELECT @gone"),
                                  rows("SELECT * FROM shelves"), refused(c.change_user, env["DB_USER"], "wrong", env["DB_OTHER"])])
    check("after a refused change of user")(lambda: refused(one, "SELECT 1"))
    c = connect()


@check("kill a statement")
def _():
    killer, got = connect(), []
    t = threading.Thread(target=lambda: got.append(refused(one, "SELECT SLEEP(30)")))
    t.start()
    while not rows("SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(30)%%'", conn=killer):
        pass
    rows("KILL QUERY %d" % c.thread_id(), conn=killer)
    t.join()
    killer.close()
    return got + [one("SELECT 1")]


@check("kill a connection")
def _():
    k = connect()
    run("KILL %d" % k.thread_id())
    return refused(lambda: rows("SELECT 1", conn=k))


c.close()
for charset in ("utf8mb4", "latin1", "utf8"):
    @check("connect with " + charset)
    def _():
        k = connect(charset=charset)
        return [rows(STATE, conn=k), rows("SELECT HEX(%s), %s", ("é", "é"), conn=k)]


@check("connect without schema")
def _():
    k = connect(database=None)
    return [rows(STATE, conn=k), refused(lambda: rows("SELECT * FROM orders", conn=k))]


@check("init command, sql_mode and autocommit at connect")
def _():
    k = connect(init_command="SET time_zone='+05:00'", sql_mode="ANSI", autocommit=True)
    return rows(STATE, conn=k)


check("multi statements off")(lambda: refused(lambda: rows("SELECT 1; SELECT 2", conn=connect(client_flag=0))))
check("wrong password")(lambda: refused(lambda: connect(password="wrong")))
check("unknown schema")(lambda: refused(lambda: connect(database="nowhere")))
if style == "mysqlclient":
    check("compression asked for")(lambda: rows("SELECT 1", conn=connect(compress=True)))
check("done")(lambda: db.__version__ if style == "pymysql" else "%s, C library %s" % (db.__version__, db.get_client_info()))
