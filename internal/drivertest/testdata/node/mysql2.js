'use strict';
// mysql2's smoke list; of DB_STYLE "login" only what depends on who logs in and how.
const fs = require('fs');
const crypto = require('crypto');
const mysql = require('mysql2/promise');

const env = process.env;
const base = {
  host: env.DB_HOST, port: +env.DB_PORT, user: env.DB_USER, password: env.DB_PASSWORD, database: env.DB_SCHEMA,
  multipleStatements: true, supportBigNumbers: true, dateStrings: true, infileStreamFactory: (path) => fs.createReadStream(path),
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

// refused is the error that a statement must give.
async function refused(promise) {
  try {
    await promise;
    return 'no error';
  } catch (e) {
    return [e.code, e.errno, e.sqlState, e.sqlMessage ?? e.message];
  }
}

const outcome = ([r]) => [r.affectedRows, r.insertId, r.changedRows, r.warningStatus, r.info, r.serverStatus];
const columns = ([, fields]) => fields.map((f) => [f.name, f.orgName, f.table, f.orgTable, f.schema, f.columnType, f.flags, f.columnLength, f.characterSet, f.decimals]);
const digest = (s) => [s.length, crypto.createHash('md5').update(s).digest('hex')];

const state = 'SELECT DATABASE() d, @@character_set_client c, @@character_set_connection cc, @@character_set_results cr, @@collation_connection co,' +
  ' @@autocommit a, @@sql_mode m, @@time_zone z, @@tx_isolation i, @@group_concat_max_len g, VERSION() v';

async function main() {
  const c = await mysql.createConnection(base);
  const one = async (sql, values) => Object.values((await c.query(sql, values))[0][0])[0];
  const all = async (sql, values) => (await c.query({ sql, rowsAsArray: true }, values))[0];
  const run = async (sql, values) => outcome(await c.query(sql, values));
  const exec = async (sql, values) => outcome(await c.execute(sql, values));

  await check('state after connect', () => all(state));
  await check('text types', () => all('SELECT * FROM kinds ORDER BY id'));
  await check('text columns', async () => columns(await c.query('SELECT k.*, 1 + 1 AS sum FROM kinds k LIMIT 0')));
  await check('prepared types', async () => (await c.execute({ sql: 'SELECT * FROM kinds WHERE id < ? ORDER BY id', rowsAsArray: true }, [9]))[0]);
  await check('prepared columns', async () => columns(await c.execute('SELECT k.*, 1 + 1 AS sum FROM kinds k LIMIT 0')));
  for (const sql of ['/* conn_tag:mysql2 */ SELECT 1', 'SELECT 2 /* conn_tag:mysql2 */', "SELECT 3 /*conn_tag='mysql2',route='%2Fa'*/",
    '-- conn_tag:mysql2\nSELECT 4', '# conn_tag:mysql2\nSELECT 5', "SELECT '/* conn_tag:nobody */', 6", '/*!50000 SELECT 7 */']) {
    await check('tagged ' + sql, () => all(sql));
  }
  if (env.DB_STYLE === 'login') {
    await check('change user', async () => {
      await c.query('SET @gone=1');
      await c.changeUser({ database: env.DB_OTHER });
      return [await all('SELECT @gone, DATABASE()'), await refused(c.changeUser({ password: 'wrong' }))];
    });
    await check('wrong password', async () => (await refused(mysql.createConnection({ ...base, password: 'wrong' }))).slice(0, 3));
    await check('done', () => require('mysql2/package.json').version);
    process.exit(0);
  }

  await check('prepared again and again', async () => {
    const got = [];
    for (const v of [1, 'two', null, 3.5, true, Buffer.from([0, 255]), null, 'naïve 😀', new Date(Date.UTC(2020, 1, 2)), 7n]) {
      got.push((await c.execute({ sql: 'SELECT ? AS v, ? IS NULL AS n', rowsAsArray: true }, [v, v]))[0]);
    }
    return got;
  });
  await check('prepared object', async () => {
    const s = await c.prepare('INSERT INTO orders (item, qty) VALUES (?, ?)');
    const got = [];
    for (const v of [['pen', 1], ['ink', null], ['nib', 3], ['cap', null]]) got.push(outcome(await s.execute(v)));
    got.push(await refused(s.execute(['pen', 1])));
    await s.close();
    got.push(await all('SELECT * FROM orders ORDER BY id'));
    return got;
  });
  await check('prepare refused', () => refused(c.execute('SELEC ?', [1])));
  await check('many statements', async () => {
    let sum = 0;
    for (let n = 0; n < 300; n++) sum += (await c.execute({ sql: `SELECT ${n} + ?`, rowsAsArray: true }, [n]))[0][0][0];
    return sum;
  });

  await check('commit and rollback', async () => {
    const got = [];
    await c.beginTransaction();
    got.push(await run("INSERT INTO orders (item) VALUES ('kept')"));
    await c.commit();
    await c.beginTransaction();
    got.push(await exec('INSERT INTO orders (item) VALUES (?)', ['lost']));
    got.push(await run('SAVEPOINT here'), await run('DELETE FROM orders'), await run('ROLLBACK TO here'));
    await c.rollback();
    return [got, await all('SELECT * FROM orders ORDER BY id')];
  });
  await check('isolation', async () => {
    await c.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
    const got = [await run('START TRANSACTION READ ONLY'), await refused(c.query('DELETE FROM orders')), await run('COMMIT')];
    await c.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    got.push(await one('SELECT @@tx_isolation'));
    return got;
  });
  await check('autocommit off', async () => {
    const got = [await run('SET autocommit=0'), await run("INSERT INTO orders (item) VALUES ('off')"), await run('ROLLBACK')];
    got.push(await one("SELECT COUNT(*) FROM orders WHERE item='off'"), await refused(c.query('SELECT nothing')));
    got.push(await run("INSERT INTO orders (item) VALUES ('off')"), await run('SET autocommit=1'));
    got.push(await one("SELECT COUNT(*) FROM orders WHERE item='off'"));
    return got;
  });

  await check('affected rows', async () => [
    await run("INSERT INTO orders (item, qty) VALUES ('a', 1), ('b', 2), ('c', 3)"), await one('SELECT LAST_INSERT_ID()'),
    await run("UPDATE orders SET qty=2 WHERE item IN ('a', 'b')"), await run("UPDATE orders SET qty=2 WHERE item='zz'"),
    await run("INSERT INTO orders (item, qty) VALUES ('a', 9) ON DUPLICATE KEY UPDATE qty=qty+1, id=LAST_INSERT_ID(id)"), await one('SELECT LAST_INSERT_ID()'),
    await run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"), await run("INSERT INTO orders VALUES (500, 'explicit', 1)"), await one('SELECT LAST_INSERT_ID()'),
    await run("DELETE FROM orders WHERE item='c'"), await one('SELECT ROW_COUNT()'), await run('SELECT id FROM orders WHERE 0'),
    await run('DO LAST_INSERT_ID(77)'), await one('SELECT LAST_INSERT_ID()'), await exec('INSERT INTO orders (item) SELECT CONCAT(?, LAST_INSERT_ID())', ['x']),
  ]);
  await check('found rows', async () => [await all('SELECT SQL_CALC_FOUND_ROWS n FROM numbers ORDER BY n LIMIT 2'), await one('SELECT FOUND_ROWS()'),
    await all('SELECT n FROM numbers WHERE n < 4'), await one('SELECT FOUND_ROWS()')]);
  await check('warnings', async () => {
    const got = [await run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', 999), ('a', -999)"), await all('SHOW WARNINGS'), await all('SHOW WARNINGS LIMIT 1')];
    await c.query('SELECT 1/0, CAST("12x" AS INT)');
    got.push(await one('SHOW COUNT(*) WARNINGS'), await one('SELECT @@warning_count'));
    await refused(c.query('SELECT nowhere'));
    got.push(await all('SHOW ERRORS'), await one('SELECT 1'), await all('SHOW WARNINGS'));
    return got;
  });
  await check('errors', async () => {
    const got = [];
    for (const sql of ["INSERT INTO orders (item) VALUES ('a')", 'SELEC 1', 'SELECT * FROM missing', 'SELECT nope FROM orders', 'CALL complain()',
      'USE nowhere', 'SELECT (SELECT n FROM numbers)', '', ';', 'SELECT * FROM nowhere.t', 'CALL missing()', 'KILL 999999']) {
      got.push(await refused(c.query(sql)), await one('SELECT 1'));
    }
    return got;
  });

  await check('multi statements', async () => [
    show(await c.query({ sql: "SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes; SET @x=5; SELECT @x", rowsAsArray: true }).then(([r]) => r)),
    await refused(c.query("INSERT INTO notes VALUES (2, 'kept'); SELECT * FROM missing; INSERT INTO notes VALUES (3, 'never')")),
    await all('SELECT * FROM notes'), await all("BEGIN; INSERT INTO notes VALUES (4, 'x'); ROLLBACK; SELECT COUNT(*) FROM notes")]);
  await check('procedure', async () => {
    const [sets] = await c.query('CALL totals(3, @t)');
    const got = [show(sets), await all('SELECT @t')];
    got.push(show((await c.execute('CALL totals(?, @t)', [5]))[0]), await all('SELECT @t, @t + 1'));
    return got;
  });
  await check('function with a side effect', async () => [await one('SELECT bump(4)'), await one('SELECT @bumped')]);

  await check('large result', async () => digest(JSON.stringify(await all('SELECT * FROM numbers ORDER BY n'))));
  await check('large prepared result', async () => digest(JSON.stringify((await c.execute({ sql: 'SELECT * FROM numbers WHERE n > ? ORDER BY n', rowsAsArray: true }, [0]))[0])));
  await check('large parameter', async () => [await all('SELECT LENGTH(?), MD5(?)', ['é'.repeat(1 << 20), 'é'.repeat(1 << 20)]),
    (await c.execute({ sql: 'SELECT LENGTH(?) AS l', rowsAsArray: true }, [Buffer.alloc(17 << 20, 7)]))[0]]);
  await check('value of several packets', async () => digest(await one("SELECT REPEAT('x', 17 * 1024 * 1024)")));
  await check('stream', () => new Promise((resolve, reject) => {
    let rows = 0;
    c.connection.query('SELECT n, pad FROM numbers ORDER BY n').stream({ highWaterMark: 2 }).on('data', () => { rows++; }).on('end', () => resolve(rows)).on('error', reject);
  }));

  await check('temporary table', async () => [await run('CREATE TEMPORARY TABLE scratch (n INT)'), await run('INSERT INTO scratch VALUES (1), (2)'),
    await all('SELECT * FROM scratch'), await run('DROP TEMPORARY TABLE scratch'), await refused(c.query('SELECT * FROM scratch'))]);
  await check('user lock', async () => [await one("SELECT GET_LOCK('l', 1)"), await one("SELECT IS_USED_LOCK('l') IS NOT NULL"), await one("SELECT RELEASE_LOCK('l')")]);
  await check('table locks', async () => [await run('LOCK TABLES orders READ'), await refused(c.query('SELECT * FROM notes')), await refused(c.query('DELETE FROM orders')),
    await run('UNLOCK TABLES'), await all('SELECT COUNT(*) FROM notes')]);
  await check('variables', async () => [await run("SET @a=1, @b='é', SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00', group_concat_max_len=11, sql_select_limit=2"),
    await all("SELECT @a, @b, 'é' AS \"q\", @@sql_mode, @@time_zone, @@group_concat_max_len"), await all('SELECT n FROM numbers ORDER BY n'), await all(state),
    await run('SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, group_concat_max_len=DEFAULT, sql_select_limit=DEFAULT'), await all(state)]);
  await check('text prepare', async () => [await run("PREPARE p FROM 'SELECT ? + 1'"), await all('SET @n=4; EXECUTE p USING @n').then((r) => r[1]), await run('DEALLOCATE PREPARE p'),
    await refused(c.query('EXECUTE p'))]);
  await check('set names', async () => [await run('SET NAMES latin1'), await all(state), await all("SELECT HEX('é'), 'é', s FROM kinds WHERE id=1"), await run('SET NAMES utf8mb4 COLLATE utf8mb4_bin'), await all(state),
    await run('SET NAMES utf8mb4')]);
  await check('load data', async () => [await run('DELETE FROM notes'), await run(`LOAD DATA LOCAL INFILE '${env.DB_FILE}' INTO TABLE notes CHARACTER SET utf8mb4`), await all('SHOW WARNINGS'), await all('SELECT * FROM notes')]);
  await check('change schema', async () => [await run('USE ' + env.DB_OTHER), await all('SELECT DATABASE(), label FROM shelves'), await refused(c.query('SELECT * FROM orders')), await run('USE ' + env.DB_SCHEMA), await one('SELECT DATABASE()')]);
  await check('ping', () => c.ping());
  await check('change user', async () => {
    await c.query("SET @gone=1, SESSION sql_mode='', autocommit=0");
    await c.changeUser({ database: env.DB_OTHER });
    const got = [await all(state), await one('SELECT @gone'), await all('SELECT * FROM shelves')];
    got.push(await refused(c.changeUser({ database: env.DB_SCHEMA, charset: 'LATIN1_SWEDISH_CI' })), await all(state));
    return got;
  });
  await check('reset', async () => {
    if (!c.reset) return 'not offered';
    await c.query("SET @gone=1, SESSION sql_mode='', autocommit=0");
    await c.query('CREATE TEMPORARY TABLE scratch (n INT)');
    await c.reset();
    return [await all(state), await one('SELECT @gone'), await refused(c.query('SELECT * FROM scratch'))];
  });
  await check('kill a statement', async () => {
    const k = await mysql.createConnection(base);
    const slow = refused(c.query('SELECT SLEEP(30)'));
    const [[{ id }]] = await k.query('SELECT ? AS id', [c.threadId]);
    for (;;) { // until the statement runs
      const [r] = await k.query("SELECT COUNT(*) n FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(30)%'");
      if (r[0].n) break;
    }
    const got = [outcome(await k.query('KILL QUERY ' + id)), await slow, await one('SELECT 1')];
    await k.end();
    return got;
  });
  await c.end();

  for (const charset of ['utf8mb4', 'LATIN1_SWEDISH_CI', 'UTF8MB4_UNICODE_CI']) {
    await check('connect with ' + charset, async () => {
      const k = await mysql.createConnection({ ...base, charset });
      const got = [(await k.query({ sql: state, rowsAsArray: true }))[0], (await k.query("SELECT HEX('é') h, 'é' s"))[0], (await k.execute('SELECT HEX(?) h, ? s', ['é', 'é']))[0]];
      await k.end();
      return got;
    });
  }
  await check('connect without schema', async () => {
    const k = await mysql.createConnection({ ...base, database: undefined });
    const got = [(await k.query(state))[0], await refused(k.query('SELECT * FROM orders'))];
    await k.end();
    return got;
  });
  await check('found rows flag off', async () => {
    const k = await mysql.createConnection({ ...base, flags: ['-FOUND_ROWS'] });
    const got = outcome(await k.query("UPDATE orders SET qty=qty"));
    await k.end();
    return got;
  });
  await check('multi statements off', async () => {
    const k = await mysql.createConnection({ ...base, multipleStatements: false });
    const got = await refused(k.query('SELECT 1; SELECT 2'));
    await k.end();
    return got;
  });
  await check('compression asked for', async () => {
    const k = await mysql.createConnection({ ...base, compress: true });
    const got = (await k.query('SELECT 1'))[0];
    await k.end();
    return got;
  });
  await check('wrong password', () => refused(mysql.createConnection({ ...base, password: 'wrong' })));
  await check('unknown schema', () => refused(mysql.createConnection({ ...base, database: 'nowhere' })));
  await check('done', () => require('mysql2/package.json').version);
}

main().catch((e) => { console.error(e); process.exit(1); });
