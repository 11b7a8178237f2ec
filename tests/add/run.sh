#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh SOURCE WORK [WEFT_PROBE]: adds providers without a row to a copy of the tree, one with connected endpoints and,
# with WEFT_ADD_EVERY_KIND, one with addressed ones. Each must pass every conformance suite, and no file is edited by
# hand. A third provider claims atomics that do not work: the test must find that.
set -euo pipefail
source=$1 work=$2
with_probe=()
[ $# -lt 3 ] || with_probe=(--program "$3")
fi_info -l | grep -qx 'net:' ||
  { echo "add: SKIPPED: this libfabric has no provider net, which the test adds"; exit 77; }

# fail <sentence>
fail() { echo "add: $*"; exit 1; }
# expect <file> <text>
expect() { grep -qF -- "$2" "$1" || { cat "$1"; fail "nobody said: $2"; }; }

rm -rf "$work"
mkdir -p "$work/tree"
tar -C "$source" --exclude=./build --exclude=./.git -cf - . | tar -C "$work/tree" -xf -
cd "$work/tree"

# sums: of every file that is not built
sums() { find . \( -path ./build -o -name __pycache__ \) -prune -o -type f -print0 | xargs -0 sha256sum | sort -k2; }
add() { ./weft add "$@" "${with_probe[@]}"; }

sums > ../before.txt

# A refusal comes before any change.
if add tcp --provider net > ../refused.txt 2>&1; then fail "a second row tcp was added"; fi
expect ../refused.txt "there is a row tcp already"
if add "no-name" --provider net > ../refused.txt 2>&1; then fail "a row no-name was added"; fi
expect ../refused.txt "cannot be the name of a row"
if add nothing --provider no_such_provider > ../refused.txt 2>&1; then fail "a provider that is not there was added"; fi
expect ../refused.txt "there is no no_such_provider"
if add nothing --provider shm --endpoint msg > ../refused.txt 2>&1; then fail "shm was added as connected"; fi
expect ../refused.txt "it has addressed endpoints only, and no connected ones"
if FI_PROVIDER=^ofi_rxd add nothing --provider udp --endpoint dgram > ../refused.txt 2>&1; then
  fail "datagrams were added"
fi
expect ../refused.txt "may be lost, repeated and reordered: weft promises one end of each operation"

# Atomics that are claimed and do not work: found, marked, and answered without them.
add net_rdm --provider net --endpoint rdm --dry-run > ../net_rdm.txt
expect ../net_rdm.txt "claim and behaviour differ: atomics is none, though provider is claimed"
expect ../net_rdm.txt "atomics::target"
sums | diff -q - ../before.txt > /dev/null || fail "something was written, though all of it was refused or a dry run"

add net --provider net --endpoint msg | tee ../net.txt
fabrics=(net)
if [ "${WEFT_ADD_EVERY_KIND:-}" ]; then
  add net_rxm --provider 'net;ofi_rxm' | tee ../net_rxm.txt
  fabrics+=(net_rxm)
fi
for fabric in "${fabrics[@]}"; do
  grep -qE '; ([0-9]+) of \1 conformance suites ' "../$fabric.txt" ||
    { cat "../$fabric.txt"; fail "not all conformance suites of $fabric passed"; }
  expect "../$fabric.txt" "$fabric is a working fabric"
done
expect generated/net.hpp "      answers::atomics::target,"
expect generated/net.hpp "      answers::endpoint::connected,"
[ "${#fabrics[@]}" -eq 1 ] || expect generated/net_rxm.hpp "      answers::endpoint::addressed,"
./weft check > ../check.txt 2>&1 || { cat ../check.txt; fail "./weft check is not content with what was added"; }

# Only the matrix and the files generated from it have changed.
sums | diff - ../before.txt | sed -n 's/^[<>] [0-9a-f]*  //p' | sort -u \
  | grep -vE '^\./(providers\.yaml|README\.md|docs/(matrix\.md|reference/matrix\.html)|generated/.*)$' \
  > ../others.txt || true
[ ! -s ../others.txt ] || { cat ../others.txt; fail "these files changed too"; }
echo "add: working fabrics: ${fabrics[*]}"
