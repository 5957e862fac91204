package sqlscan

// The four texts that speed is measured on.
const (
	pointSelect = "SELECT c FROM sbtest1 WHERE id=4711"

	insert = "INSERT INTO `orders` (`shop_id`, `customer_id`, `status`, `currency`, `total`, `note`, `created_at`, `updated_at`) " +
		"VALUES (17, 90210, 'open', 'EUR', 129.95, 'leave it at the neighbour''s door', '2026-11-03 10:11:12', '2026-11-03 10:11:12')"

	ormJoin = "SELECT `orders`.`id` AS t0_r0, `orders`.`shop_id` AS t0_r1, `orders`.`status` AS t0_r2, `line_items`.`id` AS t1_r0, " +
		"`line_items`.`sku` AS t1_r1, `line_items`.`quantity` AS t1_r2 FROM `orders` LEFT OUTER JOIN `line_items` ON " +
		"`line_items`.`order_id` = `orders`.`id` WHERE `orders`.`shop_id` = 17 AND `orders`.`status` IN ('open', 'paid') AND " +
		"`line_items`.`quantity` > 0 ORDER BY `orders`.`created_at` DESC LIMIT 50 OFFSET 10"

	sqlcommenter = "SELECT c FROM sbtest1 WHERE id=4711 /*action='show',application='Shop',conn_tag='checkout_completion'," +
		"controller='orders',db_driver='mysql2',framework='rails_v7.1',route='%2Forders%2F%3Aid'," +
		"traceparent='00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01'*/"
)

// oddTexts seed the fuzzers and the generator: texts that end in the middle of something, and rules that few remember.
var oddTexts = []string{
	"", " ", ";", ";;", "/", "*", "-", "--", "#", "@", "@@", "'", `"`, "`", `\`, ".", "/*", "/*/", "/**/", "/*!", "/*!*/", "/*M!",
	"/*+ x */", "/*vt+ A=b */", "SELECT 1.5INTO @x", "SELECT 1e0INTO @x", `SELECT \Ninto @x`, "SELECT 1..2", "SELECT 0x1Fg, 0b012",
	"SELECT 1 --\x01c\n, 2", "SELECT 1 -- a\x00, get_lock('a')", "SELECT @@session . identity", "SELECT @@session /*x*/ . warning_count",
	"SELECT @@`identity`, @@session.'error_count'", "SELECT @'a''b', @`c`, @\"d\", @e.f$", "/*!50000 SET @a := 1 */; /* x */",
	"SELECT 1 /*! + /* x */ 1 */ + 1", "SELECT 'a\\' /* x */', 'b''/* y */'", "SELECT \"a\\\" -- \", `/* z */`", "(((SELECT 1)))",
	"SELECT `get_lock`('a', 1), row_count ( ), found_rows/**/()", "GET DIAGNOSTICS @n = ROW_COUNT", "SHOW COUNT(*) WARNINGS",
	"SELECT NEXT VALUE FOR s, PREVIOUS VALUE FOR s, nextval(s)", "BEGIN; SELECT 1; COMMIT", "SELECT 1; /* conn_tag:a */",
	"/*1*//*2*//*3*//*4*//*5*//*6*//*7*//*8*//*9*//*10*/", "SELECT na\xc3\xafve, '\xff\xfe'", "XA START 'a'", "SET STATEMENT a=1 FOR SELECT 1",
	pointSelect, insert, ormJoin, sqlcommenter,
}
