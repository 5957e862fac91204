import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.*;

/** 1,000 transactions as Hibernate makes them over a pool such as HikariCP: statements prepared by the server and cached by the driver. */
public class Orm {
    static Connection connect() throws SQLException {
        Map<String, String> env = System.getenv();
        Connection c = DriverManager.getConnection("jdbc:mariadb://" + env.get("DB_HOST") + ":" + env.get("DB_PORT") + "/" + env.get("DB_SCHEMA") +
            "?useServerPrepStmts=true&cachePrepStmts=true&sessionVariables=sql_mode='STRICT_TRANS_TABLES',time_zone='+00:00'", env.get("DB_USER"), env.get("DB_PASSWORD"));
        c.isValid(1);
        c.setNetworkTimeout(Runnable::run, 30000);
        c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        c.setReadOnly(false);
        c.setAutoCommit(false);
        return c;
    }

    static List<Object> transact(Connection c, int n) throws SQLException {
        int item = n % 10 + 1, left, touched;
        long made, last;
        String owner;
        if (n % 10 == 0) c.isValid(1);
        try (PreparedStatement s = c.prepareStatement("SELECT /* conn_tag:java */ qty FROM stock WHERE id = ?")) {
            s.setInt(1, item);
            ResultSet r = s.executeQuery();
            r.next();
            left = r.getInt(1);
        }
        try (PreparedStatement s = c.prepareStatement("UPDATE stock SET qty = qty - ? WHERE id = ?")) {
            s.setInt(1, 1);
            s.setInt(2, item);
            touched = s.executeUpdate();
        }
        try (PreparedStatement s = c.prepareStatement("INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))", Statement.RETURN_GENERATED_KEYS)) {
            s.setString(1, "owner " + n);
            s.setInt(2, 1);
            s.executeUpdate();
            ResultSet r = s.getGeneratedKeys();
            r.next();
            made = r.getLong(1);
        }
        Savepoint p = c.setSavepoint("s1");
        try (Statement s = c.createStatement()) {
            ResultSet r = s.executeQuery("SELECT LAST_INSERT_ID(), owner FROM carts WHERE id = " + made);
            r.next();
            last = r.getLong(1);
            owner = r.getString(2);
        }
        c.releaseSavepoint(p);
        c.commit();
        return List.of(made, left, touched, last == made, '"' + owner + '"');
    }

    public static void main(String[] args) throws Exception {
        System.setOut(new java.io.PrintStream(System.out, true, StandardCharsets.UTF_8));
        for (int pack = 0; pack < 10; pack++) {
            List<Object> got = new ArrayList<>();
            try (Connection c = connect()) {
                for (int n = 0; n < 100; n++) got.add(transact(c, 100 * pack + n));
            }
            System.out.println("{\"check\": \"transactions " + pack + "00 to " + pack + "99\", \"got\": " + got + "}");
        }
        try (Connection c = connect(); Statement s = c.createStatement()) {
            ResultSet r = s.executeQuery("SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts");
            r.next();
            System.out.println("{\"check\": \"what 1,000 transactions left\", \"got\": " + List.of(r.getLong(1), r.getLong(2), r.getLong(3), r.getLong(4), r.getLong(5)) + "}");
            System.out.println("{\"check\": \"done\", \"got\": \"" + c.getMetaData().getDriverVersion() + "\"}");
        }
    }
}
