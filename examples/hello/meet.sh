#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# meet.sh <listener> <caller>: runs both; passes if the listener prints what the caller wrote, and both end well.
set -eu
heard=$(mktemp)
"$1" > "$heard" &
listener=$!
trap 'kill $listener 2> /dev/null || true; rm -f "$heard"' EXIT

# The listener may not be there yet: a caller that is refused tries again, ten seconds in all.
tries=0
until "$2"; do
  tries=$((tries + 1))
  if [ $tries -ge 50 ] || ! kill -0 $listener 2> /dev/null; then
    echo "the caller failed $tries times; the listener said: $(cat "$heard")" >&2
    exit 1
  fi
  sleep 0.2
done
wait $listener
cat "$heard"
[ "$(cat "$heard")" = "hello, world (7)" ]
