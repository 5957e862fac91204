#!/usr/bin/env bash
# Installs from Debian's packages the MySQL drivers of some languages that are missing. They are libraries, so scripts/setup.sh
# can't see them in PATH: each is asked for in its own language.
#
#   scripts/drivers.sh LANGUAGE...     of: php python ruby java perl
set -euo pipefail

missing=()
for language in "$@"; do
  case $language in
  php) php -m | grep -q pdo_mysql || missing+=(php-mysql) ;;
  python)
    /usr/bin/python3 -c 'import pymysql' 2>/dev/null || missing+=(python3-pymysql)
    /usr/bin/python3 -c 'import MySQLdb' 2>/dev/null || missing+=(python3-mysqldb)
    ;;
  ruby) /usr/bin/ruby -e 'require "mysql2"' 2>/dev/null || missing+=(ruby-mysql2) ;;
  java) [ -e /usr/share/java/mariadb-java-client.jar ] || missing+=(libmariadb-java) ;;
  perl)
    /usr/bin/perl -MDBD::mysql -e1 2>/dev/null || missing+=(libdbd-mysql-perl)
    /usr/bin/perl -MDBD::MariaDB -e1 2>/dev/null || missing+=(libdbd-mariadb-perl)
    ;;
  *)
    printf 'drivers: no drivers of %s\n' "$language" >&2
    exit 2
    ;;
  esac
done
exec "$(dirname "$0")/setup.sh" "${missing[@]}"
