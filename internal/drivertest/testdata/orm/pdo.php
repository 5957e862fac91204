<?php
// 1,000 transactions as Laravel and Doctrine make them over PDO: every statement prepared by the server, once per use.
require __DIR__ . '/../php/transcript.php';

function connect(): PDO
{
    $c = new PDO('mysql:host=' . setting('HOST') . ';port=' . setting('PORT') . ';dbname=' . setting('SCHEMA') . ';charset=utf8mb4', setting('USER'), setting('PASSWORD'),
        [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => false, PDO::ATTR_STRINGIFY_FETCHES => false]);
    $c->exec('use `' . setting('SCHEMA') . '`;');
    foreach (["set names 'utf8mb4' collate 'utf8mb4_unicode_ci'", "set time_zone='+00:00'", 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
        "set session sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"] as $sql) {
        $c->prepare($sql)->execute();
    }
    return $c;
}

function ask(PDO $c, string $sql, array $values): PDOStatement
{
    $s = $c->prepare($sql);
    $s->execute($values);
    return $s;
}

function transact(PDO $c, int $n): array
{
    $item = $n % 10 + 1;
    $c->beginTransaction();
    $left = ask($c, 'SELECT /* conn_tag:pdo */ qty FROM stock WHERE id = ?', [$item])->fetchColumn();
    $touched = ask($c, 'UPDATE stock SET qty = qty - ? WHERE id = ?', [1, $item])->rowCount();
    ask($c, 'INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))', ["owner $n", 1]);
    $made = (int) $c->lastInsertId();
    $same = (int) ask($c, 'SELECT LAST_INSERT_ID()', [])->fetchColumn() === $made;
    $c->exec('SAVEPOINT trans2');
    $owner = ask($c, 'SELECT owner FROM carts WHERE id = ?', [$made])->fetchColumn();
    $c->exec('RELEASE SAVEPOINT trans2');
    $c->commit();
    return [$made, $left, $touched, $same, $owner];
}

for ($pack = 0; $pack < 10; $pack++) {
    $c = connect();
    check("transactions {$pack}00 to {$pack}99", fn () => array_map(fn ($n) => transact($c, 100 * $pack + $n), range(0, 99)));
    $c = null;
}
check('what 1,000 transactions left', fn () => connect()->query('SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts')->fetch(PDO::FETCH_NUM));
check('done', fn () => connect()->getAttribute(PDO::ATTR_CLIENT_VERSION));
