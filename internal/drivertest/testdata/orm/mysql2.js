'use strict';
// 1,000 transactions as TypeORM and Sequelize make them over mysql2: statements prepared by the server, the rest as text.
const mysql = require('mysql2/promise');
const env = process.env;

const say = (check, got) => process.stdout.write(JSON.stringify({ check, got }) + '\n');

async function connect() {
  const c = await mysql.createConnection({ host: env.DB_HOST, port: +env.DB_PORT, user: env.DB_USER, password: env.DB_PASSWORD, database: env.DB_SCHEMA, charset: 'utf8mb4', dateStrings: true });
  for (const sql of ["SET time_zone = '+00:00'", 'SELECT VERSION() AS `version`', 'SELECT DATABASE() AS `db_name`', 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'", "SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = 'shop' AND `TABLE_NAME` = 'carts'"]) await c.query(sql);
  return c;
}

async function transact(c, n) {
  if (n % 10 === 0) await c.ping();
  const item = n % 10 + 1;
  await c.beginTransaction();
  const [[{ qty }]] = await c.execute('SELECT /* conn_tag:mysql2 */ qty FROM stock WHERE id = ?', [item]);
  const [u] = await c.execute('UPDATE stock SET qty = qty - ? WHERE id = ?', [1, item]);
  const [i] = await c.execute('INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))', ['owner ' + n, 1]);
  const [[{ id }]] = await c.query('SELECT LAST_INSERT_ID() AS id');
  await c.query('SAVEPOINT typeorm_1');
  const [[{ owner }]] = await c.query('SELECT owner FROM carts WHERE id = ?', [i.insertId]);
  await c.query('RELEASE SAVEPOINT typeorm_1');
  await c.commit();
  return [i.insertId, qty, u.affectedRows, u.info, id === i.insertId, owner];
}

async function main() {
  for (let pack = 0; pack < 10; pack++) {
    const c = await connect();
    const got = [];
    for (let n = 0; n < 100; n++) got.push(await transact(c, 100 * pack + n));
    say(`transactions ${pack}00 to ${pack}99`, got);
    await c.end();
  }
  const c = await connect();
  say('what 1,000 transactions left', (await c.query('SELECT COUNT(*) a, SUM(qty) b, MIN(id) c, MAX(id) d, (SELECT SUM(qty) FROM stock) e FROM carts'))[0]);
  say('done', '');
  process.exit(0);
}

main().catch((e) => { console.error(e); process.exit(1); });
