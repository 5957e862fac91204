import java.io.FileInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.*;

/** The smoke list of MariaDB Connector/J; DB_STYLE is how it prepares: client or server. */
public class Smoke {
    static final Map<String, String> ENV = System.getenv();
    static final String STATE = "SELECT DATABASE(), @@character_set_client, @@character_set_results, @@collation_connection, @@autocommit, @@sql_mode, @@time_zone, @@tx_isolation, VERSION()";
    static Connection c;

    interface Body { Object run() throws Exception; }

    static Connection connect(String more) throws SQLException {
        String url = "jdbc:mariadb://" + ENV.get("DB_HOST") + ":" + ENV.get("DB_PORT") + "/" + ENV.get("DB_SCHEMA") + "?allowLocalInfile=true&useServerPrepStmts=" + ENV.get("DB_STYLE").equals("server");
        if (!ENV.get("DB_CA").isEmpty()) url += "&useSsl=true&serverSslCert=" + ENV.get("DB_CA");
        return DriverManager.getConnection(url + more, ENV.get("DB_USER"), ENV.get("DB_PASSWORD"));
    }

    static String json(Object v) {
        if (v == null || v instanceof Integer || v instanceof Long || v instanceof Boolean) return String.valueOf(v);
        if (v instanceof int[]) return Arrays.toString((int[]) v);
        if (v instanceof byte[]) return json("hex:" + HexFormat.of().formatHex((byte[]) v));
        if (v instanceof Collection) {
            StringJoiner j = new StringJoiner(", ", "[", "]");
            for (Object e : (Collection<?>) v) j.add(json(e));
            return j.toString();
        }
        StringBuilder b = new StringBuilder("\"");
        for (char ch : v.toString().toCharArray()) {
            if (ch == '"' || ch == '\\') b.append('\\').append(ch);
            else if (ch < ' ') b.append(String.format("\\u%04x", (int) ch));
            else b.append(ch);
        }
        return b.append('"').toString();
    }

    static void check(String name, Body body) {
        String line;
        try {
            line = "\"got\": " + json(body.run());
        } catch (Exception e) {
            line = "\"broke\": " + json(e.toString());
        }
        System.out.println("{\"check\": " + json(name) + ", " + line + "}");
    }

    /** The error that a call must give. Its text ends with the connection's id in Connector/J's words: "(conn=7) ". */
    static Object refused(Body body) {
        try {
            return list("no error", body.run());
        } catch (SQLException e) {
            return list(e.getErrorCode(), e.getSQLState(), e.getMessage().replaceAll("\\(conn=\\d+\\) ", ""));
        } catch (Exception e) {
            return e.toString();
        }
    }

    static List<Object> list(Object... v) { return Arrays.asList(v); }

    static List<Object> rows(ResultSet r) throws SQLException {
        List<Object> all = new ArrayList<>();
        while (r.next()) {
            List<Object> row = new ArrayList<>();
            for (int n = 1; n <= r.getMetaData().getColumnCount(); n++) row.add(r.getMetaData().getColumnType(n) == Types.BIT ? r.getBytes(n) : r.getObject(n));
            all.add(row);
        }
        return all;
    }

    static List<Object> rows(String sql) throws SQLException {
        try (Statement s = c.createStatement()) { return rows(s.executeQuery(sql)); }
    }

    static List<Object> ask(String sql, Object... values) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int n = 0; n < values.length; n++) s.setObject(n + 1, values[n]);
            return rows(s.executeQuery());
        }
    }

    static List<Object> run(String sql, Object... values) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            for (int n = 0; n < values.length; n++) s.setObject(n + 1, values[n]);
            List<Object> got = new ArrayList<>(list(s.executeUpdate(), rows(s.getGeneratedKeys())));
            for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) got.add(w.getErrorCode() + " " + w.getMessage());
            return got;
        }
    }

    static List<Object> sets(Statement s, boolean isRows) throws SQLException {
        List<Object> got = new ArrayList<>();
        for (; ; isRows = s.getMoreResults()) {
            if (isRows) got.add(rows(s.getResultSet()));
            else if (s.getUpdateCount() == -1) return got;
            else got.add(s.getUpdateCount());
        }
    }

    public static void main(String[] args) throws Exception {
        System.setOut(new java.io.PrintStream(System.out, true, StandardCharsets.UTF_8));
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        c = connect("&allowMultiQueries=true");
        check("state after connect", () -> list(rows(STATE), c.getMetaData().getDatabaseProductVersion(), c.getTransactionIsolation(), c.getCatalog()));
        check("types", () -> list(rows("SELECT * FROM kinds ORDER BY id"), ask("SELECT * FROM kinds WHERE id < ? ORDER BY id", 9)));
        for (String sql : new String[] {"/* conn_tag:java */ SELECT ?", "SELECT ? /* conn_tag:java */", "SELECT '/* conn_tag:nobody */', ?"}) check("tagged " + sql, () -> ask(sql, 1));
        check("prepared again and again", () -> {
            List<Object> got = new ArrayList<>();
            try (PreparedStatement s = c.prepareStatement("SELECT ? AS v, ? IS NULL AS n")) {
                for (Object v : new Object[] {1, "two", null, 3.5, null, new BigDecimal("1.20"), true, Timestamp.valueOf("2020-02-02 03:04:05.678"), "naïve 😀", new byte[] {0, -1}}) {
                    s.setObject(1, v);
                    s.setObject(2, v);
                    got.add(rows(s.executeQuery()));
                }
            }
            return got;
        });
        check("batches", () -> {
            List<Object> got = new ArrayList<>();
            try (PreparedStatement s = c.prepareStatement("INSERT INTO orders (item, qty) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
                for (int n = 0; n < 20; n++) {
                    s.setString(1, "batch " + n);
                    s.setObject(2, n % 3 == 0 ? null : n, Types.INTEGER);
                    s.addBatch();
                }
                got.add(list(s.executeBatch(), rows(s.getGeneratedKeys())));
            }
            try (Statement s = c.createStatement()) {
                s.addBatch("UPDATE orders SET qty=1");
                s.addBatch("INSERT INTO orders (item) VALUES ('batch 0')");
                s.addBatch("DELETE FROM orders");
                got.add(refused(s::executeBatch));
            }
            got.add(rows("SELECT * FROM orders"));
            return got;
        });
        check("many statements", () -> {
            for (int n = 0; n < 300; n++) if (!ask("SELECT " + n % 230 + " + ?", n).toString().equals("[[" + (n % 230 + n) + "]]")) return n;
            return "right";
        });
        check("transactions", () -> {
            c.setAutoCommit(false);
            List<Object> got = new ArrayList<>(list(run("INSERT INTO orders (item) VALUES (?)", "kept")));
            c.commit();
            Savepoint p = c.setSavepoint("here");
            got.add(run("DELETE FROM orders"));
            c.rollback(p);
            got.add(refused(() -> run("SELECT nothing")));
            got.add(run("INSERT INTO orders (item) VALUES ('lost')"));
            c.rollback();
            c.setAutoCommit(true);
            c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            c.setReadOnly(true);
            c.setReadOnly(false);
            got.add(rows("SELECT COUNT(*) FROM orders"));
            got.add(rows(STATE));
            return got;
        });
        check("affected rows", () -> list(run("INSERT INTO orders (item, qty) VALUES ('a', 1), ('b', 2), ('c', 3)"), run("UPDATE orders SET qty=? WHERE item IN ('a', 'b')", 2), run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"),
            run("DELETE FROM orders WHERE item='c'"), rows("SELECT ROW_COUNT()"), rows("SELECT LAST_INSERT_ID()")));
        check("warnings", () -> list(run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', ?), ('a', -999)", 999), rows("SHOW WARNINGS")));
        check("errors", () -> {
            List<Object> got = new ArrayList<>();
            for (String sql : new String[] {"INSERT INTO orders (item) VALUES ('a')", "SELEC 1", "SELECT * FROM missing", "CALL complain()", "SELECT * FROM nowhere.t"}) got.add(list(refused(() -> run(sql)), rows("SELECT 1")));
            return got;
        });
        check("multi statements", () -> {
            try (Statement s = c.createStatement()) {
                return list(sets(s, s.execute("SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes")), refused(() -> sets(s, s.execute("INSERT INTO notes VALUES (2, 'k'); SELECT * FROM missing"))));
            }
        });
        check("procedure", () -> {
            try (CallableStatement s = c.prepareCall("{CALL totals(?, ?)}")) {
                s.setInt(1, 3);
                s.registerOutParameter(2, Types.INTEGER);
                boolean isRows = s.execute();
                int total = s.getInt(2);
                return list(total, sets(s, isRows));
            }
        });
        check("function", () -> {
            try (CallableStatement s = c.prepareCall("{? = CALL bump(?)}")) {
                s.registerOutParameter(1, Types.INTEGER);
                s.setInt(2, 4);
                s.execute();
                return list(s.getInt(1), rows("SELECT @bumped"));
            }
        });
        check("large", () -> list(rows("SELECT * FROM numbers ORDER BY n").hashCode(), ask("SELECT LENGTH(?)", "é".repeat(3 << 20)), rows("SELECT REPEAT('x', 17 * 1024 * 1024)").hashCode()));
        check("fetch size", () -> {
            try (Statement s = c.createStatement()) {
                s.setFetchSize(10);
                ResultSet r = s.executeQuery("SELECT n FROM numbers ORDER BY n");
                r.next();
                return list(r.getInt(1), rows("SELECT 1"), rows(r).size()); // the second statement makes the driver read the rest of the first
            }
        });
        check("query timeout", () -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                return list(refused(() -> rows(s.executeQuery("SELECT SLEEP(20) FROM numbers"))), rows("SELECT 1"));
            }
        });
        check("temporary table", () -> list(run("CREATE TEMPORARY TABLE scratch (n INT)"), run("INSERT INTO scratch VALUES (?)", 1), ask("SELECT * FROM scratch"), run("DROP TEMPORARY TABLE scratch")));
        check("load data", () -> {
            org.mariadb.jdbc.MariaDbStatement s = c.createStatement().unwrap(org.mariadb.jdbc.MariaDbStatement.class);
            run("DELETE FROM notes");
            s.setLocalInfileInputStream(new FileInputStream(ENV.get("DB_FILE")));
            return list(s.executeUpdate("LOAD DATA LOCAL INFILE 'given' INTO TABLE notes CHARACTER SET utf8mb4"), rows("SELECT * FROM notes"));
        });
        check("change schema", () -> {
            c.setCatalog(ENV.get("DB_OTHER"));
            List<Object> got = rows("SELECT DATABASE(), label FROM shelves");
            c.setCatalog(ENV.get("DB_SCHEMA"));
            return list(got, c.getCatalog(), c.isValid(5));
        });
        check("metadata", () -> list(rows(c.getMetaData().getColumns(ENV.get("DB_SCHEMA"), null, "orders", null)).size(), rows(c.getMetaData().getPrimaryKeys(ENV.get("DB_SCHEMA"), null, "orders"))));
        check("session variables", () -> {
            try (Connection k = connect("&sessionVariables=sql_mode='ANSI',time_zone='+05:00'&useBulkStmts=true&rewriteBatchedStatements=true"); Statement s = k.createStatement()) { return rows(s.executeQuery(STATE)); }
        });
        check("compression asked for", () -> {
            try (Connection k = connect("&useCompression=true"); Statement s = k.createStatement()) { return rows(s.executeQuery("SELECT 1")); }
        });
        check("done", () -> c.getMetaData().getDriverVersion());
        System.exit(0);
    }
}
