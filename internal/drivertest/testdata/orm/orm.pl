# 1,000 transactions as DBIx::Class makes them over Perl's two drivers; DB_STYLE names one, mysql or MariaDB, and how it prepares.
use strict;
use warnings;
use DBI;
use JSON::PP;

my ($driver, $side) = split / /, $ENV{DB_STYLE};
my $p = lc $driver;
my $json = JSON::PP->new->utf8->canonical;
sub say_check { print $json->encode({ check => $_[0], got => $_[1] }), "\n" }

sub connected {
    my $c = DBI->connect("DBI:$driver:host=$ENV{DB_HOST};port=$ENV{DB_PORT};database=$ENV{DB_SCHEMA}", $ENV{DB_USER}, $ENV{DB_PASSWORD},
        { RaiseError => 1, PrintError => 0, AutoCommit => 1, "${p}_server_prepare" => $side eq 'server', "${p}_auto_reconnect" => 0, $driver eq 'mysql' ? (mysql_enable_utf8mb4 => 1) : () });
    $c->do($_) for q{SET SQL_MODE = CONCAT('ANSI,TRADITIONAL,ONLY_FULL_GROUP_BY,', @@sql_mode)}, 'SET SQL_AUTO_IS_NULL = 0';
    $c->get_info(18);
    return $c;
}

sub transact {
    my ($c, $n) = @_;
    $c->ping if $n % 10 == 0;
    my $item = $n % 10 + 1;
    $c->begin_work;
    my ($left) = $c->selectrow_array($c->prepare_cached('SELECT /* conn_tag:perl */ qty FROM stock WHERE id = ?'), undef, $item);
    my $touched = $c->prepare_cached('UPDATE stock SET qty = qty - ? WHERE id = ?')->execute(1, $item);
    $c->prepare_cached('INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))')->execute("owner $n", 1);
    my $made = $c->last_insert_id(undef, undef, 'carts', 'id');
    my ($last) = $c->selectrow_array('SELECT LAST_INSERT_ID()');
    $c->do('SAVEPOINT savepoint_0');
    my ($owner) = $c->selectrow_array('SELECT owner FROM carts WHERE id = ?', undef, $made);
    $c->do('RELEASE SAVEPOINT savepoint_0');
    $c->commit;
    return [$made, $left, $touched, $last == $made ? 1 : 0, $owner];
}

for my $pack (0 .. 9) {
    my $c = connected();
    say_check("transactions ${pack}00 to ${pack}99", [map { transact($c, 100 * $pack + $_) } 0 .. 99]);
    $c->disconnect;
}
say_check('what 1,000 transactions left', connected()->selectrow_arrayref('SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts'));
say_check('done', '');
