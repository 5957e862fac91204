<?php
// 1,000 transactions over mysqli, with statements prepared by the server.
require __DIR__ . '/../php/transcript.php';
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function connect(): mysqli
{
    $c = mysqli_init();
    $c->options(MYSQLI_INIT_COMMAND, "SET SESSION sql_mode = 'STRICT_TRANS_TABLES', time_zone = '+00:00'");
    $c->real_connect(setting('HOST'), setting('USER'), setting('PASSWORD'), setting('SCHEMA'), (int) setting('PORT'));
    $c->set_charset('utf8mb4');
    $c->query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    $c->query('SELECT VERSION(), @@sql_mode')->fetch_row();
    return $c;
}

function transact(mysqli $c, array $prepared, int $n): array
{
    $n % 10 || $c->ping();
    [$read, $update, $insert] = $prepared;
    $item = $n % 10 + 1;
    $c->begin_transaction();
    $read->execute([$item]);
    $left = $read->get_result()->fetch_row()[0];
    $update->execute([1, $item]);
    $insert->execute(["owner $n", 1]);
    $made = $insert->insert_id;
    $same = (int) $c->query('SELECT LAST_INSERT_ID()')->fetch_row()[0] === $made;
    $c->savepoint('s1');
    $owner = $c->query("SELECT owner FROM carts WHERE id = $made")->fetch_row()[0];
    $c->release_savepoint('s1');
    $c->commit();
    return [$made, $left, $update->affected_rows, $same, $owner];
}

for ($pack = 0; $pack < 10; $pack++) {
    $c = connect();
    $prepared = array_map(fn ($sql) => $c->prepare($sql), ['SELECT /* conn_tag:mysqli */ qty FROM stock WHERE id = ?', 'UPDATE stock SET qty = qty - ? WHERE id = ?',
        'INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))']);
    check("transactions {$pack}00 to {$pack}99", fn () => array_map(fn ($n) => transact($c, $prepared, 100 * $pack + $n), range(0, 99)));
    $c->close();
}
check('what 1,000 transactions left', fn () => connect()->query('SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts')->fetch_row());
check('done', fn () => mysqli_get_client_info());
