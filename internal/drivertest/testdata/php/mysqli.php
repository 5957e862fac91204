<?php
// mysqli's smoke list, over mysqlnd.
require __DIR__ . '/transcript.php';
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function connect(?string $schema = null, string $charset = 'utf8mb4', int $flags = 0, ?string $password = null): mysqli
{
    $c = mysqli_init();
    $c->options(MYSQLI_OPT_LOCAL_INFILE, true);
    $c->options(MYSQLI_SET_CHARSET_NAME, $charset);
    $c->options(MYSQLI_OPT_READ_TIMEOUT, 60);
    if (setting('CA') !== '') {
        $c->ssl_set(null, null, setting('CA'), null, null);
        $flags |= MYSQLI_CLIENT_SSL;
    }
    $c->real_connect(setting('HOST'), setting('USER'), $password ?? setting('PASSWORD'), $schema ?? setting('SCHEMA'), (int) setting('PORT'), null, $flags);
    return $c;
}

$c = connect();
$rows = fn (string $sql, ?mysqli $k = null) => ($k ?? $c)->query($sql)->fetch_all();
$one = fn (string $sql) => $c->query($sql)->fetch_row()[0];
$run = function (string $sql) use (&$c) {
    $c->query($sql);
    return [$c->affected_rows, $c->insert_id, $c->warning_count, $c->info, $c->field_count];
};
$refused = function (callable $body) {
    try {
        return ['no error', $body()];
    } catch (mysqli_sql_exception $e) {
        return [$e->getCode(), $e->getSqlState(), $e->getMessage()];
    }
};
$warnings = function () use (&$c) {
    $got = [];
    for ($w = $c->get_warnings(), $more = (bool) $w; $more; $more = $w->next()) {
        $got[] = [$w->errno, $w->sqlstate, $w->message];
    }
    return $got;
};
$execute = function (string $sql, mixed ...$values) use (&$c) {
    $s = $c->prepare($sql);
    $s->execute($values);
    $r = $s->get_result();
    return $r ? $r->fetch_all() : [$s->affected_rows, $s->insert_id, $s->error];
};
$sets = function () use (&$c) {
    $got = [];
    do {
        $r = $c->store_result();
        $got[] = $r ? $r->fetch_all() : [$c->affected_rows, $c->insert_id];
    } while ($c->more_results() && $c->next_result());
    return $got;
};

check('state after connect', fn () => [$rows(STATE), $c->character_set_name(), $c->server_info, $c->protocol_version]);
check('text types', fn () => $rows('SELECT * FROM kinds ORDER BY id'));
check('columns', fn () => $c->query('SELECT k.*, 1 + 1 AS sum FROM kinds k')->fetch_fields());
check('prepared types', fn () => $execute('SELECT * FROM kinds WHERE id < ? ORDER BY id', 9));
check('native numbers', function () use ($rows, $c) {
    $c->options(MYSQLI_OPT_INT_AND_FLOAT_NATIVE, 1);
    $got = $rows('SELECT * FROM kinds ORDER BY id');
    $c->options(MYSQLI_OPT_INT_AND_FLOAT_NATIVE, 0);
    return $got;
});
foreach (['/* conn_tag:mysqli */ SELECT 1', 'SELECT 2 /* conn_tag:mysqli */', "SELECT '/* conn_tag:nobody */', 3"] as $sql) {
    check("tagged $sql", fn () => $rows($sql));
}
if (setting('STYLE') === 'login') {
    check('change user', fn () => [$c->change_user(setting('USER'), setting('PASSWORD'), setting('OTHER')), $one('SELECT DATABASE()'),
        $refused(fn () => $c->change_user(setting('USER'), 'wrong', setting('OTHER')))[0]]);
    check('wrong password', fn () => array_slice($refused(fn () => connect(password: 'wrong')), 0, 2));
    check('done', fn () => mysqli_get_client_info());
    exit;
}

check('prepared again and again', function () use ($c) {
    $s = $c->prepare('SELECT ? AS v, ? IS NULL AS n');
    $v = null;
    $got = [];
    foreach ([['i', 1], ['s', 'two'], ['s', null], ['d', 3.5], ['i', null], ['s', "\x00\xff"], ['s', 'naïve 😀'], ['i', PHP_INT_MIN]] as [$type, $v]) {
        $s->bind_param($type . $type, $v, $v);
        $s->execute();
        $got[] = $s->get_result()->fetch_all();
    }
    $got[] = $s->reset();
    $s->close();
    return $got;
});
check('long data', function () use ($c) {
    // A parameter that was ever bound to a number comes out as garbage: MariaDB takes its old buffer for the long data.
    $s = $c->prepare('SELECT MD5(?), LENGTH(?)');
    $s->bind_param('bs', $long, $text);
    foreach (['x', null, 'yy'] as $text) {
        for ($i = 0; $i < 4; $i++) {
            $s->send_long_data(0, str_repeat("chunk $i ", 50000));
        }
        $s->execute();
        $got[] = $s->get_result()->fetch_all();
    }
    return [...$got, $s->reset(), $s->close()];
});
check('two statements in turn', function () use ($c) {
    [$a, $b] = [$c->prepare('INSERT INTO orders (item, qty) VALUES (?, ?)'), $c->prepare('SELECT COUNT(*) FROM orders WHERE qty <=> ?')];
    $got = [];
    foreach ([['pen', 1], ['ink', null], ['nib', 3], ['cap', null]] as [$item, $qty]) {
        $a->execute([$item, $qty]);
        $b->execute([$qty]);
        $got[] = [$a->affected_rows, $a->insert_id, $b->get_result()->fetch_row(), $a->sqlstate];
    }
    return $got;
});
check('prepared errors', fn () => [$refused(fn () => $c->prepare('SELEC ?')), $refused(fn () => $execute("INSERT INTO orders (item) VALUES (?)", 'pen')), $one('SELECT 1')]);
check('bound result, unbuffered', function () use ($c) {
    $s = $c->prepare('SELECT n, pad FROM numbers WHERE n > ? ORDER BY n');
    $min = 1990;
    $s->bind_param('i', $min);
    $s->execute();
    $s->bind_result($n, $pad);
    $got = [];
    while ($s->fetch()) {
        $got[] = [$n, strlen($pad)];
    }
    $s->execute();
    $s->fetch();
    $s->free_result(); // leaves rows to be dropped
    $s->execute();
    $s->store_result();
    return [$got, $s->num_rows];
});
check('server-side cursor', function () use ($c) {
    $s = $c->prepare('SELECT n FROM numbers ORDER BY n');
    $s->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    $s->execute();
    $s->bind_result($n);
    for ($sum = 0; $s->fetch(); $sum += $n);
    $s->execute();
    $s->fetch();
    $first = $n;
    $s->close();
    return [$sum, $first];
});
check('many statements', function () use ($execute, $one) {
    for ($sum = 0, $n = 0; $n < 150; $n++) {
        $sum += $execute("SELECT $n + ?", $n)[0][0] + $one("SELECT $n");
    }
    return $sum;
});

check('commit and rollback', fn () => [$c->begin_transaction(), $run("INSERT INTO orders (item) VALUES ('kept')"), $c->commit(), $c->begin_transaction(MYSQLI_TRANS_START_READ_WRITE, 'name'),
    $run("INSERT INTO orders (item) VALUES ('lost')"), $c->savepoint('s'), $run('DELETE FROM orders'), $run('ROLLBACK TO s'), $c->release_savepoint('s'), $c->rollback(), $rows('SELECT * FROM orders'),
    $c->begin_transaction(MYSQLI_TRANS_START_READ_ONLY), $refused(fn () => $run('DELETE FROM orders')), $c->commit(MYSQLI_TRANS_COR_AND_CHAIN), $run("SET @x=1"), $c->rollback()]);
check('autocommit off', fn () => [$c->autocommit(false), $run("INSERT INTO orders (item) VALUES ('off')"), $refused(fn () => $run('SELECT nothing')), $c->rollback(), $run("INSERT INTO orders (item) VALUES ('off')"),
    $c->autocommit(true), $rows('SELECT * FROM orders')]);
check('affected rows', fn () => [$run("INSERT INTO orders (item, qty) VALUES ('a', 1), ('b', 2), ('c', 3)"), $one('SELECT LAST_INSERT_ID()'), $run("UPDATE orders SET qty=2 WHERE item IN ('a', 'b')"),
    $run("INSERT INTO orders (item, qty) VALUES ('a', 9) ON DUPLICATE KEY UPDATE qty=qty+1"), $run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"), $run("DELETE FROM orders WHERE item='c'"),
    $one('SELECT ROW_COUNT()'), $run('ALTER TABLE notes ADD COLUMN extra INT'), $run('ALTER TABLE notes DROP COLUMN extra'), $one('SELECT LAST_INSERT_ID()')]);
check('found rows', fn () => [$rows('SELECT SQL_CALC_FOUND_ROWS n FROM numbers ORDER BY n LIMIT 2'), $one('SELECT FOUND_ROWS()'), $rows('SELECT n FROM numbers WHERE n < 4'), $one('SELECT FOUND_ROWS()')]);
check('warnings', fn () => [$run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', 999), ('a', -999)"), $warnings(), $one('SELECT 1/0'), $c->warning_count, $warnings(), $execute('SELECT 1/?', 0), $warnings(), $one('SELECT 1'), $warnings()]);
check('errors', fn () => array_map(fn ($sql) => [$refused(fn () => $run($sql)), $c->error_list, $one('SELECT 1')], WRONG));
check('empty statement', fn () => [$refused(fn () => $c->query(' ')), $refused(fn () => $c->query(';'))]);

check('multi statements', fn () => [$c->multi_query("SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes; SET @x=5; SELECT @x"), $sets(),
    $c->multi_query("INSERT INTO notes VALUES (2, 'kept'); SELECT * FROM missing; INSERT INTO notes VALUES (3, 'never')"), $refused($sets), $rows('SELECT * FROM notes'), $refused(fn () => $c->query('SELECT 1; SELECT 2'))]);
check('procedure', function () use ($c, $sets, $rows, $one) {
    $c->multi_query('CALL totals(3, @t)');
    $got = [$sets(), $rows('SELECT @t')];
    $s = $c->prepare('CALL totals(?, ?)');
    $s->execute([5, 0]);
    do {
        $r = $s->get_result();
        $got[] = $r ? $r->fetch_all() : null;
    } while ($s->more_results() && $s->next_result());
    return [...$got, $one('SELECT bump(4)'), $one('SELECT @bumped')];
});
check('large result', fn () => [digest($rows('SELECT * FROM numbers ORDER BY n')), digest($execute('SELECT * FROM numbers WHERE n > ? ORDER BY n', 0))]);
check('large parameter', fn () => [$rows("SELECT LENGTH('" . str_repeat('é', 1 << 20) . "')"), $execute('SELECT LENGTH(?), MD5(?)', str_repeat('x', 17 << 20), str_repeat('y', 2 << 20))]);
check('value of several packets', fn () => digest($rows("SELECT REPEAT('x', 17 * 1024 * 1024)")));
check('unbuffered', function () use ($c, $one) {
    $r = $c->query('SELECT n, pad FROM numbers ORDER BY n', MYSQLI_USE_RESULT);
    for ($n = 0; $r->fetch_row(); $n++);
    $r->free();
    $r = $c->query('SELECT n, pad FROM numbers ORDER BY n', MYSQLI_USE_RESULT);
    $first = $r->fetch_row()[0];
    $r->free(); // leaves rows to be dropped
    return [$n, $first, $one('SELECT 1')];
});
check('asynchronous', function () use ($c, $rows) {
    $c->query('SELECT SLEEP(0.05), 7', MYSQLI_ASYNC);
    return [$c->reap_async_query()->fetch_all(), $rows('SELECT 1')];
});
check('temporary table', fn () => [$run('CREATE TEMPORARY TABLE scratch (n INT)'), $run('INSERT INTO scratch VALUES (1), (2)'), $execute('SELECT * FROM scratch WHERE n > ?', 1), $run('DROP TEMPORARY TABLE scratch'),
    $refused(fn () => $run('SELECT * FROM scratch'))]);
check('user lock', fn () => [$one("SELECT GET_LOCK('l', 1)"), $one("SELECT IS_USED_LOCK('l') IS NOT NULL"), $one("SELECT RELEASE_LOCK('l')")]);
check('variables', fn () => [$run("SET @a=1, SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00', sql_select_limit=2"), $rows("SELECT @a, 'é' AS \"q\""), $rows('SELECT n FROM numbers ORDER BY n'), $rows(STATE),
    $run('SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, sql_select_limit=DEFAULT'), $rows(STATE)]);
check('set charset', fn () => [$c->set_charset('latin1'), $c->character_set_name(), $c->real_escape_string("é'\\"), bin2hex($one("SELECT 'é'")), $rows(STATE), $c->set_charset('utf8mb4'), $rows(STATE), $c->get_charset()]);
check('load data', fn () => [$run('DELETE FROM notes'), $run("LOAD DATA LOCAL INFILE '" . setting('FILE') . "' INTO TABLE notes CHARACTER SET utf8mb4"), $rows('SELECT * FROM notes')]);
check('load data without a file', fn () => [$refused(fn () => @$run("LOAD DATA LOCAL INFILE '/nowhere/at/all' INTO TABLE notes")), $one('SELECT 1')]);
check('change schema', fn () => [$c->select_db(setting('OTHER')), $rows('SELECT DATABASE(), label FROM shelves'), $refused(fn () => $c->select_db('nowhere')), $one('SELECT DATABASE()'), $c->select_db(setting('SCHEMA'))]);
check('statistics', fn () => [$c->ping(), str_starts_with($c->stat(), 'Uptime: '), $c->dump_debug_info(), $c->refresh(MYSQLI_REFRESH_TABLES), $one('SELECT 1')]);
check('change user', fn () => [$run("SET @gone=1, SESSION sql_mode=''"), $run('CREATE TEMPORARY TABLE scratch (n INT)'), $c->change_user(setting('USER'), setting('PASSWORD'), setting('OTHER')), $rows(STATE), $one('SELECT @gone'),
    $rows('SELECT * FROM shelves'), $refused(fn () => $c->change_user(setting('USER'), 'wrong', setting('OTHER')))]);
check('after a refused change of user', fn () => $refused(fn () => $one('SELECT 1')));
$c = connect();
check('kill', function () use (&$c, $refused) {
    [$k, $id] = [connect(), $c->thread_id];
    $c->query('SELECT SLEEP(30)', MYSQLI_ASYNC);
    while (!$k->query("SELECT 1 FROM information_schema.processlist WHERE info = 'SELECT SLEEP(30)'")->num_rows);
    $got = [$k->query("KILL QUERY $id"), $refused(fn () => $c->reap_async_query()->fetch_all()), $c->query('SELECT 1')->fetch_all(), $k->kill($id)];
    return [...$got, $refused(fn () => @$c->query('SELECT 1'))];
});

foreach (['utf8mb4', 'latin1', 'utf8'] as $charset) {
    check("connect with $charset", function () use ($charset) {
        $k = connect(charset: $charset);
        return [$k->query(STATE)->fetch_all(), $k->query("SELECT HEX('é'), 'é'")->fetch_all()];
    });
}
check('connect without schema', fn () => [connect('')->query(STATE)->fetch_all(), $refused(fn () => connect('')->query('SELECT * FROM orders'))]);
check('found rows flag', function () {
    $k = connect(flags: MYSQLI_CLIENT_FOUND_ROWS | MYSQLI_CLIENT_IGNORE_SPACE);
    $k->query('UPDATE orders SET qty=qty');
    return [$k->affected_rows, $k->query(STATE)->fetch_all()];
});
check('wrong password', fn () => $refused(fn () => connect(password: 'wrong')));
check('unknown schema', fn () => $refused(fn () => connect('nowhere')));
check('done', fn () => mysqli_get_client_info());
