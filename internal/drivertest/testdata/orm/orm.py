"""1,000 transactions as an ORM over a Python driver makes them; DB_STYLE names one: pymysql or mysqlclient."""
import importlib
import json
import os

env = os.environ
style = env["DB_STYLE"]
db = importlib.import_module({"pymysql": "pymysql", "mysqlclient": "MySQLdb"}[style])


def connect():
    """What Django and SQLAlchemy do with a new connection."""
    c = db.connect(host=env["DB_HOST"], port=int(env["DB_PORT"]), user=env["DB_USER"], password=env["DB_PASSWORD"], database=env["DB_SCHEMA"],
                   charset="utf8mb4", client_flag=2, init_command="SET sql_mode='STRICT_TRANS_TABLES'")
    cur = c.cursor()
    for sql in ("SELECT VERSION(), @@sql_mode, @@default_storage_engine, @@sql_auto_is_null, @@lower_case_table_names, CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL",
                "SET SQL_AUTO_IS_NULL = 0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT @@tx_isolation",
                "SHOW VARIABLES LIKE 'sql_mode'", "SHOW VARIABLES LIKE 'lower_case_table_names'", "SELECT DATABASE()", "SELECT CAST('test unicode returns' AS CHAR(60)) AS anon_1",
                "SET time_zone = '+00:00'"):
        cur.execute(sql)
        cur.fetchall()
    c.rollback()
    c.autocommit(True)
    return c


def transact(c, n):
    c.ping(*([False] if style == "pymysql" else []))
    c.autocommit(False)
    cur = c.cursor()
    item = n % 10 + 1
    cur.execute("SELECT /* conn_tag:%s */ qty FROM stock WHERE id = %%s" % style, (item,))
    left = cur.fetchone()[0]
    touched = cur.execute("UPDATE stock SET qty = qty - %s WHERE id = %s", (1, item))
    cur.execute("INSERT INTO carts (owner, qty, made) VALUES (%s, %s, UTC_TIMESTAMP(6))", ("owner %d" % n, 1))
    made = cur.lastrowid
    cur.execute("SELECT LAST_INSERT_ID()")
    same = cur.fetchone()[0] == made
    cur.execute("SAVEPOINT s1")
    cur.execute("SELECT owner FROM carts WHERE id = %s FOR UPDATE", (made,))
    owner = cur.fetchone()[0]
    cur.execute("RELEASE SAVEPOINT s1")
    c.commit()
    c.autocommit(True)
    return [made, left, touched, same, owner]


for pack in range(10):
    c = connect()
    print(json.dumps({"check": "transactions %d00 to %d99" % (pack, pack), "got": [transact(c, 100 * pack + n) for n in range(100)]}))
    c.close()
cur = connect().cursor()
cur.execute("SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts")
print(json.dumps({"check": "what 1,000 transactions left", "got": [str(v) for v in cur.fetchone()]}))
print(json.dumps({"check": "done", "got": ""}))
