package invisible

// userVariableMoves assign user variables in all the ways there are, and read them back.
var userVariableMoves = []move{
	say(12,
		"SET @a=1", "SET @a:=2", "SET @a=NULL", "SET @b='text'", "SET @c=1.50", "SET @d=2.5e3", "SET @a=1, @b=2, @c='x,y'", "SET @a=@a+1",
		"SET @s='naïve✓'", "SET @s=_latin1'e'", "SET @s=x'00ff27'", "SET @s=CONVERT('x' USING latin1)", "SET @b=CONCAT('a',@b,'\\\\')",
		"SET @d=CAST('1.25' AS DECIMAL(10,4))", "SET @d=-0.0", "SET @a=18446744073709551615", "SET @a=-5", "SET @`a`='back', @'b'=\"dq\"",
		"SET @c=NOW() IS NULL", "SET @b='', @c=NULL", "SET @a=TRUE, @b=b'101'", "SET @c=DATE'2024-01-01'", "SET @a=(SELECT MAX(id) FROM t)",
		"SELECT @a:=5", "SELECT @a:=v FROM t ORDER BY id", "UPDATE t SET v = (@a:=v) WHERE id = 1", "DO @a:=3",
		"SELECT 7, 'x' INTO @a, @b", "SELECT v INTO @a FROM t WHERE id = 1", "SELECT id, v FROM t WHERE id = 99 INTO @a, @b",
		"SELECT COUNT(*) FROM t INTO @a", "SELECT 1 INTO @", "SELECT 1, 2 INTO @a"),
	say(14,
		"SELECT @a, @b, @c", "SELECT @a", "SELECT @a + 1, @b", "SELECT @a IS NULL", "SELECT v FROM t WHERE id = @a", "INSERT INTO t(v) VALUES (@a)",
		"SELECT @s, HEX(@s)", "SELECT @d, @d * 2", "SELECT @`a`, @A, @'b'"),
}
