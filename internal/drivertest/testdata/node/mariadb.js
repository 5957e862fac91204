'use strict';
// The smoke list of MariaDB's connector for Node.
const fs = require('fs');
const crypto = require('crypto');
const mariadb = require('mariadb');

const env = process.env;
const base = {
  host: env.DB_HOST, port: +env.DB_PORT, user: env.DB_USER, password: env.DB_PASSWORD, database: env.DB_SCHEMA,
  multipleStatements: true, dateStrings: true, rowsAsArray: true, permitLocalInfile: true, logger: { error: () => {} },
};
if (env.DB_CA) base.ssl = { ca: fs.readFileSync(env.DB_CA) };

const show = (value) => JSON.stringify(value, (key, v) =>
  v && v.type === 'Buffer' ? 'hex:' + Buffer.from(v.data).toString('hex') : typeof v === 'bigint' ? String(v) : v);

async function check(name, body) {
  try {
    process.stdout.write(show({ check: name, got: (await body()) ?? null }) + '\n');
  } catch (e) {
    process.stdout.write(show({ check: name, broke: `${e.errno} ${e.sqlState} ${e.message}` }) + '\n');
  }
}

// refused is the error that a statement must give. Its whole message names the connection's id.
async function refused(promise) {
  try {
    await promise;
    return 'no error';
  } catch (e) {
    return [e.code, e.errno, e.sqlState, e.fatal, e.sqlMessage ?? e.message];
  }
}

const outcome = (r) => [r.affectedRows, r.insertId, r.warningStatus];
const columns = (meta) => meta.map((f) => [f.name(), f.orgName(), f.table(), f.orgTable(), f.db(), f.type, f.flags, f.columnLength, f.collation && f.collation.index, f.scale]);
const digest = (s) => [s.length, crypto.createHash('md5').update(s).digest('hex')];

const state = 'SELECT DATABASE() d, @@character_set_client c, @@character_set_connection cc, @@character_set_results cr, @@collation_connection co,' +
  ' @@autocommit a, @@sql_mode m, @@time_zone z, @@tx_isolation i, @@group_concat_max_len g, VERSION() v';

async function main() {
  const c = await mariadb.createConnection(base);
  const all = (sql, values) => c.query(sql, values);
  const one = async (sql, values) => (await c.query(sql, values))[0][0];
  const run = async (sql, values) => outcome(await c.query(sql, values));
  const exec = async (sql, values) => outcome(await c.execute(sql, values));
  const other = async (bend, body) => {
    const k = await mariadb.createConnection({ ...base, ...bend });
    const got = await body(k);
    await k.end();
    return got;
  };

  await check('state after connect', async () => [await all(state), c.serverVersion(), c.info.status, c.info.database, c.info.collation && c.info.collation.name]);
  await check('text types', () => all('SELECT * FROM kinds ORDER BY id'));
  await check('text columns', async () => columns((await c.query({ sql: 'SELECT k.*, 1 + 1 AS sum FROM kinds k LIMIT 0', metaAsArray: true }))[1]));
  await check('prepared types', () => c.execute('SELECT * FROM kinds WHERE id < ? ORDER BY id', [9]));
  await check('prepared columns', async () => columns((await c.execute({ sql: 'SELECT k.*, 1 + 1 AS sum FROM kinds k LIMIT 0', metaAsArray: true }))[1]));
  for (const sql of ['/* conn_tag:mariadb */ SELECT 1', 'SELECT 2 /* conn_tag:mariadb */', "SELECT '/* conn_tag:nobody */', 3"]) await check('tagged ' + sql, () => all(sql));
  await check('prepared again and again', async () => {
    const got = [];
    for (const v of [1, 'two', null, 3.5, true, Buffer.from([0, 255]), null, 'naïve 😀', new Date(Date.UTC(2020, 1, 2)), 7n]) got.push(await c.execute('SELECT ? AS v, ? IS NULL AS n', [v, v]));
    return got;
  });
  await check('prepared object', async () => {
    const s = await c.prepare('INSERT INTO orders (item, qty) VALUES (?, ?)');
    const got = [];
    for (const v of [['pen', 1], ['ink', null], ['nib', 3], ['cap', null]]) got.push(outcome(await s.execute(v)));
    got.push(await refused(s.execute(['pen', 1])));
    s.close();
    return [...got, await all('SELECT * FROM orders ORDER BY id')];
  });
  await check('prepared, piped', async () => { // several commands are sent before the first reply is read
    const s = await c.prepare('SELECT ? + 1');
    const got = await Promise.all([...Array(50).keys()].map((n) => s.execute([n])));
    s.close();
    return got;
  });
  await check('piped', () => Promise.all([...Array(50).keys()].map((n) => c.query('SELECT ' + n))));
  await check('batch', async () => [outcome(await c.batch('INSERT INTO orders (item, qty) VALUES (?, ?)', [...Array(30).keys()].map((n) => ['batch ' + n, n % 3 ? n : null]))),
    await refused(c.batch('INSERT INTO orders (item, qty) VALUES (?, ?)', [['new', 1], ['batch 0', 2]])), await all('SELECT * FROM orders WHERE item LIKE "batch%" ORDER BY id'), await run('DELETE FROM orders')]);
  await c.query('ALTER TABLE orders AUTO_INCREMENT=100'); // what ids a batch leaves out is its own matter
  await check('prepare refused', () => refused(c.execute('SELEC ?', [1])));
  await check('many statements', async () => {
    let sum = 0;
    for (let n = 0; n < 300; n++) sum += Number((await c.execute(`SELECT ${n} + ?`, [n]))[0][0]);
    return sum;
  });
  await check('commit and rollback', async () => {
    await c.beginTransaction();
    const got = [await run("INSERT INTO orders (item) VALUES ('kept')"), await c.commit()];
    await c.beginTransaction();
    got.push(await exec('INSERT INTO orders (item) VALUES (?)', ['lost']), await run('SAVEPOINT here'), await run('DELETE FROM orders'), await run('ROLLBACK TO here'));
    await c.rollback();
    return [got, await all('SELECT * FROM orders ORDER BY id'), await c.commit(), await c.rollback()];
  });
  await check('autocommit off', async () => [await run('SET autocommit=0'), await run("INSERT INTO orders (item) VALUES ('off')"), await c.rollback(), await refused(c.query('SELECT nothing')),
    await run("INSERT INTO orders (item) VALUES ('off')"), await run('SET autocommit=1'), await one("SELECT COUNT(*) FROM orders WHERE item='off'")]);
  await check('affected rows', async () => [
    await run("INSERT INTO orders (item, qty) VALUES ('a', 1), ('b', 2), ('c', 3)"), await one('SELECT LAST_INSERT_ID()'), await run("UPDATE orders SET qty=2 WHERE item IN ('a', 'b')"),
    await run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"), await one('SELECT LAST_INSERT_ID()'), await run("INSERT INTO orders (item) VALUES ('r') RETURNING id"), await run("DELETE FROM orders WHERE item='c'"), await one('SELECT LAST_INSERT_ID()')]);
  await check('warnings', async () => [await run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', 999), ('a', -999)"), await all('SHOW WARNINGS')]);
  await check('errors', async () => {
    const got = [];
    for (const sql of ["INSERT INTO orders (item) VALUES ('a')", 'SELEC 1', 'SELECT * FROM missing', 'SELECT nope FROM orders', 'CALL complain()', 'USE nowhere', 'SELECT (SELECT n FROM numbers)', 'CALL missing()', 'KILL 999999']) {
      got.push(await refused(c.query(sql)), await one('SELECT 1'));
    }
    return got;
  });
  await check('multi statements', async () => [await all("SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes; SET @x=5; SELECT @x"),
    await refused(c.query("INSERT INTO notes VALUES (2, 'kept'); SELECT * FROM missing; INSERT INTO notes VALUES (3, 'never')")), await all('SELECT * FROM notes')]);
  await check('procedure', async () => [await all('CALL totals(3, @t)'), await all('SELECT @t'), await c.execute('CALL totals(?, @t)', [4]), await one('SELECT bump(4)'), await one('SELECT @bumped')]);
  await check('large result', async () => digest(show(await all('SELECT * FROM numbers ORDER BY n'))));
  await check('large parameter', async () => [await all('SELECT LENGTH(?)', ['é'.repeat(1 << 20)]), await c.execute('SELECT LENGTH(?)', ['x'.repeat(17 << 20)])]);
  await check('value of several packets', async () => digest(await one("SELECT REPEAT('x', 17 * 1024 * 1024)")));
  await check('streamed', async () => {
    let sum = 0;
    for await (const row of c.queryStream('SELECT n FROM numbers ORDER BY n')) sum += row[0];
    return sum;
  });
  await check('streamed parameter', async () => [await run('DELETE FROM notes'), await exec('INSERT INTO notes VALUES (?, ?)', [9, require('stream').Readable.from([Buffer.from('streamed')])]), await all('SELECT * FROM notes')]);
  await check('query timeout', async () => [await refused(c.query({ sql: 'SELECT SLEEP(20) FROM numbers', timeout: 100 })), await one('SELECT 1')]);
  await check('temporary table', async () => [await run('CREATE TEMPORARY TABLE scratch (n INT)'), await exec('INSERT INTO scratch VALUES (?), (2)', [1]), await all('SELECT * FROM scratch'), await run('DROP TEMPORARY TABLE scratch'),
    await refused(c.query('SELECT * FROM scratch'))]);
  await check('variables', async () => [await run("SET @a=1, SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00', sql_select_limit=2"), await all("SELECT @a, 'é' AS \"q\""), await all('SELECT n FROM numbers ORDER BY n'), await all(state),
    await run('SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, sql_select_limit=DEFAULT'), await all(state)]);
  await check('load data', async () => [await run('DELETE FROM notes'), await run(`LOAD DATA LOCAL INFILE '${env.DB_FILE}' INTO TABLE notes CHARACTER SET utf8mb4`), await all('SELECT * FROM notes')]);
  await check('change schema', async () => [await run('USE ' + env.DB_OTHER), await all('SELECT DATABASE(), label FROM shelves'), c.info.database, await run('USE ' + env.DB_SCHEMA), await one('SELECT DATABASE()')]);
  await check('ping', () => c.ping());
  await check('change user', async () => {
    await c.query("SET @gone=1, SESSION sql_mode='', autocommit=0");
    await c.changeUser({ user: base.user, password: base.password, database: env.DB_OTHER });
    return [await all(state), await one('SELECT @gone'), await all('SELECT * FROM shelves')];
  });
  await check('reset', async () => {
    await c.query("SET @gone=1, SESSION sql_mode='', autocommit=0");
    await c.query('CREATE TEMPORARY TABLE scratch (n INT)');
    await c.reset();
    return [await all(state), await one('SELECT @gone'), await refused(c.query('SELECT * FROM scratch'))];
  });
  await c.end();

  await check('prepared and executed in one go', () => other({ permitLocalInfile: false, pipelining: true }, async (k) => await refused(k.execute('SELECT ? + 1', [1]))));
  for (const bend of [{ collation: 'UTF8MB4_UNICODE_CI' }, { collation: 'LATIN1_SWEDISH_CI' }, { database: undefined }, { compress: true }, { foundRows: false }, { multipleStatements: false }, { bulk: false },
    { sessionVariables: { sql_mode: 'ANSI', wait_timeout: 1000 }, initSql: ["SET time_zone='+05:00'"], timezone: '+02:00' }]) {
    await check('connect with ' + JSON.stringify(bend), () => other(bend, async (k) => [await k.query(state), await k.query("SELECT HEX('é') h"), await refused(k.query('SELECT 1; SELECT 2')),
      await refused(k.query('SELECT * FROM orders WHERE 0')), outcome(await k.query(`UPDATE ${env.DB_SCHEMA}.orders SET qty=qty`))]));
  }
  await check('wrong password', async () => (await refused(mariadb.createConnection({ ...base, password: 'wrong' }))).slice(0, 3));
  await check('unknown schema', async () => (await refused(mariadb.createConnection({ ...base, database: 'nowhere' }))).slice(0, 3));
  await check('done', () => mariadb.version ?? require('mariadb/package.json').version);
  process.exit(0);
}

main().catch((e) => { console.error(e); process.exit(1); });
