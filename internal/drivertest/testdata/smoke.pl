# The smoke list of Perl's two drivers; DB_STYLE names one, mysql or MariaDB, and how it prepares: client or server.
use strict;
use warnings;
use utf8;
use DBI;
use Digest::MD5;
use Encode;
use JSON::PP;

binmode STDOUT, ':raw';
$| = 1;
my ($driver, $side) = split / /, $ENV{DB_STYLE};
my $json = JSON::PP->new->utf8->allow_nonref->canonical;
my $state = 'SELECT DATABASE(), @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection,'
  . ' @@autocommit, @@sql_mode, @@time_zone, @@tx_isolation, @@group_concat_max_len, VERSION()';

sub connected {
    my (%bend) = @_;
    my $password = delete $bend{password} // $ENV{DB_PASSWORD};
    my $schema = delete $bend{schema} // $ENV{DB_SCHEMA};
    my $dsn = "DBI:$driver:host=$ENV{DB_HOST};port=$ENV{DB_PORT}" . ($schema ? ";database=$schema" : '');
    my $p = lc $driver;
    my %options = (RaiseError => 1, PrintError => 0, AutoCommit => 1, "${p}_server_prepare" => $side eq 'server', "${p}_multi_statements" => 1, "${p}_local_infile" => 1);
    $options{mysql_enable_utf8mb4} = 1 if $driver eq 'mysql';
    @options{"${p}_ssl", "${p}_ssl_ca_file"} = (1, $ENV{DB_CA}) if $ENV{DB_CA};
    return DBI->connect($dsn, $ENV{DB_USER}, $password, { %options, %bend });
}

# What is bytes and no text is shown in hex.
sub shown {
    my ($v) = @_;
    return [map { shown($_) } @$v] if ref $v eq 'ARRAY';
    return $v if !defined $v || utf8::is_utf8($v) || $v !~ /[^\x20-\x7e]/;
    return 'hex:' . unpack('H*', $v);
}

sub check {
    my ($name, $body) = @_;
    my @got = eval { $body->() };
    my $line = $@ ? { check => $name, broke => "$@" =~ s/ at \S+ line \d+\.?\n?//r } : { check => $name, got => shown(\@got) };
    print $json->encode($line), "\n";
}

sub refused {
    my ($body) = @_;
    my @got = eval { $body->() };
    return ['no error', @got] unless $@;
    return [$DBI::err, $DBI::state, $DBI::errstr];
}

my $c = connected();
my $p = lc $driver;
sub rows { my ($sql, @v) = @_; return $c->selectall_arrayref($sql, undef, @v) }
sub one { return rows(@_)->[0][0] }
sub run {
    my ($sql, @v) = @_;
    my $n = $c->do($sql, undef, @v);
    return [$n + 0, $c->last_insert_id(undef, undef, undef, undef), $c->{"${p}_warning_count"} // $c->{"${p}_info"}];
}

check('state after connect', sub { rows($state), $c->get_info(18), $c->{"${p}_protoinfo"} });
check('types', sub { rows('SELECT * FROM kinds ORDER BY id') });
check('types by parameter', sub { rows('SELECT * FROM kinds WHERE id < ? ORDER BY id', 9) });
check('columns', sub { my $s = $c->prepare('SELECT k.*, 1 + 1 AS sum FROM kinds k'); $s->execute; my @got = map { $s->{$_} } qw(NAME NULLABLE PRECISION SCALE), map { "${p}_$_" } qw(type_name length is_blob is_pri_key table); $s->finish; @got });
check("tagged $_", do { my $sql = $_; sub { rows($sql) } }) for '/* conn_tag:perl */ SELECT 1', 'SELECT 2 /* conn_tag:perl */', "SELECT '/* conn_tag:nobody */', 3";
check('prepared again and again', sub {
    my $s = $c->prepare('SELECT ? AS v, ? IS NULL AS n');
    map { $s->execute($_, $_); $s->fetchall_arrayref } 1, 'two', undef, 3.5, undef, 'naïve 😀', 2**40, '';
});
check('prepared statements in turn', sub {
    my ($in, $count) = map { $c->prepare($_) } 'INSERT INTO orders (item, qty) VALUES (?, ?)', 'SELECT COUNT(*) FROM orders WHERE qty <=> ?';
    my @got = map { my @v = @$_; $in->execute(@v); $count->execute($v[1]); [$in->rows, $in->{"${p}_insertid"}, $count->fetchall_arrayref] } ['pen', 1], ['ink', undef], ['nib', 3], ['cap', undef];
    return @got, refused(sub { $in->execute('pen', 1) }), refused(sub { $c->prepare('SELEC ?')->execute(1) });
});
check('prepare_cached', sub { map { my $s = $c->prepare_cached('SELECT ? + 1'); $s->execute($_); my $r = $s->fetchall_arrayref; $s->finish; $r } 1 .. 20 });
check('many statements', sub { my $sum = 0; $sum += one("SELECT $_ + ?", $_) for 1 .. 300; $sum });
check('commit and rollback', sub {
    $c->begin_work;
    my @got = run("INSERT INTO orders (item) VALUES ('kept')");
    $c->commit;
    $c->begin_work;
    push @got, run('INSERT INTO orders (item) VALUES (?)', 'lost');
    $c->rollback;
    $c->{AutoCommit} = 0;
    push @got, run("INSERT INTO orders (item) VALUES ('off')"), refused(sub { one('SELECT nothing') });
    $c->rollback;
    $c->{AutoCommit} = 1;
    return @got, rows('SELECT * FROM orders');
});
check('affected rows', sub {
    run("INSERT INTO orders (item, qty) VALUES ('a', 1), ('b', 2), ('c', 3)"), one('SELECT LAST_INSERT_ID()'), run("UPDATE orders SET qty=2 WHERE item IN ('a', 'b')"), run("REPLACE INTO orders (item, qty) VALUES ('b', 5)"),
      run("DELETE FROM orders WHERE item='c'"), one('SELECT LAST_INSERT_ID()');
});
check('warnings', sub { run("INSERT IGNORE INTO orders (item, qty) VALUES ('w', 999), ('a', -999)"), rows('SHOW WARNINGS') });
check('errors', sub {
    map { my $sql = $_; (refused(sub { $c->do($sql) }), one('SELECT 1')) } "INSERT INTO orders (item) VALUES ('a')", 'SELEC 1', 'SELECT * FROM missing', 'SELECT nope FROM orders', 'CALL complain()', 'USE nowhere', 'CALL missing()', 'KILL 999999';
});
check('multi statements', sub {
    my $s = $c->prepare("SELECT 1; INSERT INTO notes VALUES (1, 'm'); SELECT * FROM notes", { "${p}_server_prepare" => 0 });
    $s->execute;
    my @got;
    do { push @got, $s->{NUM_OF_FIELDS} ? $s->fetchall_arrayref : $s->rows } while $s->more_results;
    @got;
}) if $side eq 'client';
check('procedure', sub {
    my $s = $c->prepare('CALL totals(3, @t)', { "${p}_server_prepare" => 0 });
    $s->execute;
    my @got;
    do { push @got, $s->fetchall_arrayref if $s->{NUM_OF_FIELDS} } while $s->more_results;
    @got, one('SELECT @t'), one('SELECT bump(4)'), one('SELECT @bumped');
});
check('large result', sub { Digest::MD5::md5_hex($json->encode(rows('SELECT * FROM numbers ORDER BY n'))) });
check('large parameter', sub { one('SELECT LENGTH(?)', 'é' x (1 << 20)), one('SELECT LENGTH(?)', 'x' x (17 << 20)) });
check('value of several packets', sub { my $v = one("SELECT REPEAT('x', 17 * 1024 * 1024)"); length $v, Digest::MD5::md5_hex($v) });
check('use_result', sub {
    my $s = $c->prepare('SELECT n FROM numbers ORDER BY n', { "${p}_use_result" => 1 });
    $s->execute;
    my @got = map { $s->fetchrow_array } 1 .. 3;
    $s->finish; # leaves rows to be dropped
    undef $s;
    @got, one('SELECT 1');
}) if $side eq 'client';
check('temporary table', sub { run('CREATE TEMPORARY TABLE scratch (n INT)'), run('INSERT INTO scratch VALUES (?), (2)', 1), rows('SELECT * FROM scratch'), run('DROP TEMPORARY TABLE scratch'), refused(sub { rows('SELECT * FROM scratch') }) });
check('user lock', sub { one("SELECT GET_LOCK('l', 1)"), one("SELECT RELEASE_LOCK('l')") });
check('variables', sub {
    run("SET \@a=1, SESSION sql_mode='ANSI_QUOTES', time_zone='+03:00', sql_select_limit=2"), one('SELECT @a'), rows('SELECT n FROM numbers ORDER BY n'), rows($state),
      run('SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, sql_select_limit=DEFAULT'), rows($state);
});
check('load data', sub { run('DELETE FROM notes'), run("LOAD DATA LOCAL INFILE '$ENV{DB_FILE}' INTO TABLE notes CHARACTER SET utf8mb4"), rows('SELECT * FROM notes') });
check('change schema', sub { run("USE $ENV{DB_OTHER}"), rows('SELECT DATABASE(), label FROM shelves'), run("USE $ENV{DB_SCHEMA}"), one('SELECT DATABASE()') });
check('catalogue', sub { [sort map { s/.*\.//r } $c->tables(undef, undef, '%', 'TABLE')], [$c->primary_key(undef, $ENV{DB_SCHEMA}, 'orders')], scalar @{ $c->column_info(undef, $ENV{DB_SCHEMA}, 'kinds', '%')->fetchall_arrayref } });
check('ping', sub { $c->ping ? 1 : 0 });
check('reconnect', sub {
    my $k = connected("${p}_auto_reconnect" => 1);
    my $id = $k->{"${p}_thread_id"};
    $c->do("KILL $id");
    $k->ping; # whether the first ping finds the connection alive again is up to the network
    $k->ping ? 1 : 0, $k->selectrow_array('SELECT DATABASE(), @gone');
});
check('connect without schema', sub { my $k = connected(schema => ''); $k->selectall_arrayref($state), refused(sub { $k->do('SELECT * FROM orders') }) });
check('init command', sub { connected("${p}_init_command" => "SET time_zone='+05:00', sql_mode='ANSI'")->selectall_arrayref($state) });
check('compression asked for', sub { connected("${p}_compression" => 1)->selectall_arrayref('SELECT 1') });
check('found rows flag off', sub { connected("${p}_client_found_rows" => 0)->do('UPDATE orders SET qty=qty') + 0 });
check('wrong password', sub { refused(sub { connected(password => 'wrong') }) });
check('unknown schema', sub { refused(sub { connected(schema => 'nowhere') }) });
$c->disconnect;
my $version = "DBD::$driver"->VERSION . ', C library ' . connected()->{"${p}_clientinfo"};
print $json->encode({ check => 'done', got => $version }), "\n";
