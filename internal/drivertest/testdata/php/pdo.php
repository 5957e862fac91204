<?php
// PDO's smoke list, over mysqlnd; DB_STYLE is how it prepares: emulated or native.
require __DIR__ . '/transcript.php';

function connect(?string $schema = null, string $charset = 'utf8mb4', array $bend = [], ?string $password = null): PDO
{
    $dsn = sprintf('mysql:host=%s;port=%s;charset=%s;dbname=%s', setting('HOST'), setting('PORT'), $charset, $schema ?? setting('SCHEMA'));
    $options = [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_EMULATE_PREPARES => setting('STYLE') === 'emulated',
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_NUM,
        PDO::MYSQL_ATTR_LOCAL_INFILE => true,
    ];
    if (setting('CA') !== '') {
        $options[PDO::MYSQL_ATTR_SSL_CA] = setting('CA');
    }
    return new PDO($dsn, setting('USER'), $password ?? setting('PASSWORD'), $bend + $options);
}

$c = connect();
$rows = fn (string $sql, mixed ...$values) => ($s = $c->prepare($sql))->execute($values) ? $s->fetchAll() : null;
$one = fn (string $sql, mixed ...$values) => $rows($sql, ...$values)[0][0];
$run = function (string $sql, mixed ...$values) use (&$c) {
    $s = $c->prepare($sql);
    $s->execute($values);
    return [$s->rowCount(), $c->lastInsertId(), $s->columnCount()];
};
$refused = function (callable $body) {
    try {
        return ['no error', $body()];
    } catch (PDOException $e) {
        return [$e->getCode(), $e->errorInfo, $e->getMessage()];
    }
};
$sets = function (PDOStatement $s) {
    $got = [];
    do {
        $got[] = $s->columnCount() ? $s->fetchAll() : $s->rowCount();
    } while ($s->nextRowset());
    return $got;
};

check('state after connect', fn () => [$rows(STATE), $c->getAttribute(PDO::ATTR_SERVER_VERSION)]);
check('types', fn () => $rows('SELECT * FROM kinds WHERE id < ? ORDER BY id', 9));
check('columns', fn () => array_map($c->query('SELECT k.*, 1 + 1 AS sum FROM kinds k')->getColumnMeta(...), range(0, 18)));
foreach (['/* conn_tag:pdo */ SELECT ?', 'SELECT ? /* conn_tag:pdo */', "SELECT '/* conn_tag:nobody */', ?"] as $sql) {
    check("tagged $sql", fn () => $rows($sql, 1));
}
check('prepared again and again', function () use ($c) {
    $s = $c->prepare('SELECT :v AS v, :w IS NULL AS n');
    $got = [];
    foreach ([[1, PDO::PARAM_INT], ['two', PDO::PARAM_STR], [null, PDO::PARAM_NULL], ["\x00\xff", PDO::PARAM_LOB], [true, PDO::PARAM_BOOL], ['naïve 😀', PDO::PARAM_STR]] as [$v, $type]) {
        $s->bindValue('v', $v, $type);
        $s->bindValue('w', $v, $type);
        $s->execute();
        $got[] = $s->fetchAll();
    }
    return $got;
});
check('two statements in turn', function () use ($c) {
    [$a, $b] = [$c->prepare('INSERT INTO orders (item, qty) VALUES (?, ?)'), $c->prepare('SELECT COUNT(*) FROM orders WHERE qty <=> ?')];
    $got = [];
    foreach ([['pen', 1], ['ink', null], ['nib', 3], ['cap', null]] as [$item, $qty]) {
        $a->execute([$item, $qty]);
        $b->execute([$qty]);
        $got[] = [$a->rowCount(), $c->lastInsertId(), $b->fetchAll()];
    }
    return $got;
});
check('many statements', function () use ($one) {
    for ($sum = 0, $n = 0; $n < 250; $n++) {
        $sum += $one("SELECT $n + ?", $n);
    }
    return $sum;
});
check('commit and rollback', fn () => [$c->beginTransaction(), $run("INSERT INTO orders (item) VALUES (?)", 'kept'), $c->inTransaction(), $c->commit(), $c->beginTransaction(), $run("INSERT INTO orders (item) VALUES ('lost')"),
    $c->rollBack(), $c->inTransaction(), $rows('SELECT * FROM orders'), $c->beginTransaction(), $run('CREATE TABLE made (n INT)'), $c->inTransaction(), $refused(fn () => $c->commit()), $run('DROP TABLE made')]);
check('autocommit off', fn () => [$c->setAttribute(PDO::ATTR_AUTOCOMMIT, false), $run("INSERT INTO orders (item) VALUES ('off')"), $c->inTransaction(), $refused(fn () => $run('SELECT nothing')), $run('ROLLBACK'),
    $run("INSERT INTO orders (item) VALUES ('off')"), $c->setAttribute(PDO::ATTR_AUTOCOMMIT, true), $rows('SELECT * FROM orders')]);
check('affected rows', fn () => [$run("INSERT INTO orders (item, qty) VALUES ('a', ?), ('b', 2), ('c', 3)", 1), $one('SELECT LAST_INSERT_ID()'), $run("UPDATE orders SET qty=? WHERE item IN ('a', 'b')", 2),
    $run("INSERT INTO orders (item, qty) VALUES ('a', 9) ON DUPLICATE KEY UPDATE qty=qty+1"), $run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"), $c->exec("DELETE FROM orders WHERE item='c'"),
    $one('SELECT ROW_COUNT()'), $one('SELECT LAST_INSERT_ID()')]);
check('found rows', fn () => [$rows('SELECT SQL_CALC_FOUND_ROWS n FROM numbers ORDER BY n LIMIT 2'), $one('SELECT FOUND_ROWS()'), $rows('SELECT n FROM numbers WHERE n < ?', 4), $one('SELECT FOUND_ROWS()')]);
check('warnings', fn () => [$run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', ?), ('a', -999)", 999), $rows('SHOW WARNINGS'), $one('SELECT 1/?', 0), $one('SHOW COUNT(*) WARNINGS'), $c->query('SELECT 1/0')->fetchAll(),
    $c->query('SHOW WARNINGS')->fetchAll(), $c->query('SELECT @@warning_count')->fetchAll()]);
check('errors', fn () => array_map(fn ($sql) => [$refused(fn () => $run($sql)), $c->errorInfo(), $one('SELECT 1')], WRONG));
check('refused value', fn () => [$refused(fn () => $run('INSERT INTO orders (item) VALUES (?)', 'a')), $refused(fn () => $run('INSERT INTO orders (qty) VALUES (?)', 'x')), $one('SELECT 1')]);
check('multi statements', fn () => [$refused(fn () => $sets($c->query("SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes; SET @x=5; SELECT @x"))),
    $refused(fn () => $sets($c->query("INSERT INTO notes VALUES (2, 'kept'); SELECT * FROM missing; INSERT INTO notes VALUES (3, 'never')"))), $c->exec("INSERT INTO notes VALUES (4, 'x'); DELETE FROM notes WHERE n=4"),
    $rows('SELECT * FROM notes')]);
check('procedure', function () use ($c, $sets, $rows, $one) {
    $s = $c->prepare('CALL totals(?, @t)');
    $s->execute([3]);
    return [$sets($s), $rows('SELECT @t'), $one('SELECT bump(?)', 4), $one('SELECT @bumped')];
});
check('large result', fn () => digest($rows('SELECT * FROM numbers WHERE n > ? ORDER BY n', 0)));
check('large parameter', fn () => $rows('SELECT LENGTH(?), MD5(?)', str_repeat('x', 17 << 20), str_repeat('é', 1 << 20)));
check('value of several packets', fn () => digest($rows("SELECT REPEAT('x', ?)", 17 << 20)));
check('unbuffered', function () use ($c, $one) {
    $c->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
    $s = $c->query('SELECT n, pad FROM numbers ORDER BY n');
    for ($n = 0; $s->fetch(); $n++);
    $s = $c->prepare('SELECT n, pad FROM numbers WHERE n > ? ORDER BY n');
    $s->execute([5]);
    $first = $s->fetch()[0];
    $busy = null;
    try {
        $c->query('SELECT 1');
    } catch (PDOException $e) {
        $busy = $e->errorInfo;
    }
    $s->closeCursor(); // leaves rows to be dropped
    $s = null;
    $c->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, true);
    return [$n, $first, $busy, $one('SELECT 1')];
});
check('temporary table', fn () => [$run('CREATE TEMPORARY TABLE scratch (n INT)'), $run('INSERT INTO scratch VALUES (?), (2)', 1), $rows('SELECT * FROM scratch WHERE n > ?', 0), $run('DROP TEMPORARY TABLE scratch'),
    $refused(fn () => $rows('SELECT * FROM scratch'))]);
check('variables', fn () => [$run("SET @a=?, SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00', sql_select_limit=2", 1), $rows('SELECT @a'), $rows('SELECT n FROM numbers ORDER BY n'), $rows(STATE),
    $run('SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, sql_select_limit=DEFAULT'), $rows(STATE)]);
check('load data', fn () => [$run('DELETE FROM notes'), $c->exec("LOAD DATA LOCAL INFILE '" . setting('FILE') . "' INTO TABLE notes CHARACTER SET utf8mb4"), $rows('SELECT * FROM notes')]);
check('change schema', fn () => [$c->exec('USE ' . setting('OTHER')), $rows('SELECT DATABASE(), label FROM shelves'), $c->exec('USE ' . setting('SCHEMA')), $one('SELECT DATABASE()')]);
check('statistics', fn () => str_starts_with($c->getAttribute(PDO::ATTR_SERVER_INFO), 'Uptime: '));
foreach (['utf8mb4', 'latin1'] as $charset) {
    check("connect with $charset", fn () => [connect(charset: $charset)->query(STATE)->fetchAll(), connect(charset: $charset)->query("SELECT HEX('é'), 'é'")->fetchAll()]);
}
check('init command', fn () => connect(bend: [PDO::MYSQL_ATTR_INIT_COMMAND => "SET NAMES utf8mb4 COLLATE utf8mb4_bin, time_zone='+05:00'", PDO::ATTR_AUTOCOMMIT => false])->query(STATE)->fetchAll());
check('connect without schema', fn () => [connect('')->query(STATE)->fetchAll(), $refused(fn () => connect('')->query('SELECT * FROM orders'))]);
check('found rows flag', fn () => connect(bend: [PDO::MYSQL_ATTR_FOUND_ROWS => true])->exec('UPDATE orders SET qty=qty'));
check('multi statements off', fn () => $refused(fn () => connect(bend: [PDO::MYSQL_ATTR_MULTI_STATEMENTS => false])->exec('SELECT 1; SELECT 2')));
check('wrong password', fn () => $refused(fn () => connect(password: 'wrong')));
check('unknown schema', fn () => $refused(fn () => connect('nowhere')));
check('persistent', function () {
    for ($n = 0; $n < 3; $n++) {
        $k = connect(bend: [PDO::ATTR_PERSISTENT => true]);
        $got[] = $k->query('SELECT @kept, DATABASE()')->fetchAll();
        $k->exec('SET @kept=' . $n);
        $k = null;
    }
    return $got;
});
check('done', fn () => $c->getAttribute(PDO::ATTR_CLIENT_VERSION));
