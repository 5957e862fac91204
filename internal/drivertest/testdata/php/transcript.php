<?php
// What both PHP scripts share: where to connect, and how a check is printed.
error_reporting(E_ALL);
ini_set('memory_limit', '512M');

const STATE = 'SELECT DATABASE(), @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection,'
    . ' @@autocommit, @@sql_mode, @@time_zone, @@tx_isolation, @@group_concat_max_len, VERSION()';

function setting(string $name): string
{
    return getenv('DB_' . $name);
}

/** Bytes that are no UTF-8 are shown in hex; everything else as JSON does. */
function shown(mixed $v): mixed
{
    if (is_array($v)) {
        return array_map('shown', $v);
    }
    if (is_object($v)) {
        return shown(get_object_vars($v));
    }
    return is_string($v) && !mb_check($v) ? 'hex:' . bin2hex($v) : $v;
}

function mb_check(string $s): bool
{
    return preg_match('//u', $s) === 1;
}

function check(string $name, callable $body): void
{
    try {
        $line = ['check' => $name, 'got' => shown($body())];
    } catch (Throwable $e) {
        $line = ['check' => $name, 'broke' => get_class($e) . ' ' . $e->getMessage()];
    }
    echo json_encode($line, JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR), "\n";
}

/** The statements that must fail, each with another error. */
const WRONG = ["INSERT INTO orders (item) VALUES ('a')", 'SELEC 1', 'SELECT * FROM missing', 'SELECT nope FROM orders', 'CALL complain()', 'USE nowhere',
    'SELECT (SELECT n FROM numbers)', 'SELECT * FROM nowhere.t', 'CALL missing()', 'KILL 999999'];

function digest(array $rows): array
{
    return [count($rows), md5(json_encode($rows))];
}
