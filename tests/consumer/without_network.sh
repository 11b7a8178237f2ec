#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# without_network.sh <command> [argument...]: runs the command in a network namespace without a route.
# So the command cannot download anything. Exit 77, with the reason, if the machine grants no such namespace.
set -eu
if [ "$(id -u)" -eq 0 ] && reason=$(unshare -n true 2>&1); then
  isolate="unshare -n"
elif reason=$(unshare -rn true 2>&1); then
  isolate="unshare -rn"
else
  echo "skipped: this machine grants no network namespace: $reason"
  exit 77
fi
# /proc/net/route has one line of titles, then one line per IPv4 route.
# shellcheck disable=SC2016  # expanded in the namespace
exec $isolate sh -c '
  if [ "$(wc -l < /proc/net/route)" -gt 1 ]; then
    echo "the network namespace has a route:" >&2
    cat /proc/net/route >&2
    exit 1
  fi
  exec "$@"' sh "$@"
