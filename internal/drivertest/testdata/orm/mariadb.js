'use strict';
// 1,000 transactions over MariaDB's connector for Node: its own pool, statements prepared by the server, the rest as text.
const mariadb = require('mariadb');
const env = process.env;

const say = (check, got) => process.stdout.write(JSON.stringify({ check, got }, (k, v) => (typeof v === 'bigint' ? Number(v) : v)) + '\n');

async function transact(c, n) {
  const item = n % 10 + 1;
  await c.beginTransaction();
  const [{ qty }] = await c.execute('SELECT /* conn_tag:mariadb */ qty FROM stock WHERE id = ?', [item]);
  const u = await c.execute('UPDATE stock SET qty = qty - ? WHERE id = ?', [1, item]);
  const i = await c.execute('INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))', ['owner ' + n, 1]);
  const [{ id }] = await c.query('SELECT LAST_INSERT_ID() AS id');
  await c.query('SAVEPOINT s1');
  const [{ owner }] = await c.query('SELECT owner FROM carts WHERE id = ?', [i.insertId]);
  await c.query('RELEASE SAVEPOINT s1');
  await c.commit();
  return [i.insertId, qty, u.affectedRows, id === i.insertId, owner];
}

async function main() {
  for (let pack = 0; pack < 10; pack++) {
    const pool = mariadb.createPool({ host: env.DB_HOST, port: +env.DB_PORT, user: env.DB_USER, password: env.DB_PASSWORD, database: env.DB_SCHEMA, connectionLimit: 1, minDelayValidation: 0,
      timezone: 'Z', pipelining: false, sessionVariables: { sql_mode: 'STRICT_TRANS_TABLES', wait_timeout: 28000 }, initSql: ['SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED'] });
    const got = [];
    for (let n = 0; n < 100; n++) {
      const c = await pool.getConnection(); // the pool pings
      got.push(await transact(c, 100 * pack + n));
      await c.release();
    }
    say(`transactions ${pack}00 to ${pack}99`, got);
    if (pack === 9) say('what 1,000 transactions left', await pool.query('SELECT COUNT(*) a, SUM(qty) b, MIN(id) c, MAX(id) d, (SELECT SUM(qty) FROM stock) e FROM carts'));
    await pool.end();
  }
  say('done', '');
  process.exit(0);
}

main().catch((e) => { console.error(e); process.exit(1); });
