#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# try_debian.sh FOLDER: run by scripts/packages as root in a root of Debian. Installs FOLDER/*.deb, runs each test of
# FOLDER/debian/tests/control, and removes the packages. Exit 1: a test failed, or something is left.
set -eu
folder=$1
export DEBIAN_FRONTEND=noninteractive

# What apt itself makes is not listed, nor the copies of /etc/group and its like that a dependency's user leaves.
files() {
  find / \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /build -o -path /weft -o -path /run \
    -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path '/etc/*-' \) \
    -prune -o -print | sort
}

names=$(for each in "$folder"/*.deb; do dpkg-deb --field "$each" Package; done | grep -v -e '-dbgsym$')
files > /tmp/before
before=$(dpkg-query -W -f '${Package}\n' | wc -l)
set --
for name in $names; do
  set -- "$@" "$(echo "$folder/${name}"_*.deb)"
done
apt-get -q install -y --no-install-recommends "$@" > /tmp/installed 2>&1 || { tail -n 20 /tmp/installed; exit 1; }
echo "installed: $(echo "$names" | paste -sd ' ')"

failed=no
tests=$(sed -n 's/^Tests: //p' "$folder/debian/tests/control")
for test in $tests; do
  "$folder/debian/tests/$test" || { echo "the test $test failed"; failed=yes; }
done

# shellcheck disable=SC2086  # several names
apt-get -q purge -y --autoremove $names > /tmp/removed 2>&1 || { tail -n 20 /tmp/removed; exit 1; }
files > /tmp/after
if ! diff /tmp/before /tmp/after > /tmp/left || [ "$(dpkg-query -W -f '${Package}\n' | wc -l)" -ne "$before" ]; then
  echo "something is left after the removal, or is gone:"
  head -n 20 /tmp/left
  exit 1
fi
[ $failed = no ] || exit 1
echo "removed: nothing is left"
