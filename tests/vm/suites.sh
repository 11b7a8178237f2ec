#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs in the guest: every suite of a list (name, deadline in seconds and command, with tabs between), each with its output and its exit status in
# the share, where result.py finds them. A suite that fails does not fail the guest: its own test says so.
set -uo pipefail
while IFS=$'\t' read -r name deadline command; do
  [ -n "$name" ] || continue
  begin=$SECONDS
  dmesg --clear 2> /dev/null
  timeout --kill-after=5 "$deadline" bash -c "$command" > "$WEFT_VM_RESULTS/$name.log" 2>&1 < /dev/null
  ended=$?
  if [ $ended -eq 124 ] || [ $ended -eq 137 ]; then echo "not done within its deadline of $deadline s" >> "$WEFT_VM_RESULTS/$name.log"; fi
  if [ $ended -ne 0 ]; then dmesg | grep -v 'speed is unknown' | sed 's/^/kernel: /' | tail -20 >> "$WEFT_VM_RESULTS/$name.log"; fi
  echo $ended > "$WEFT_VM_RESULTS/$name.status"
  echo "$name: exit $ended after $((SECONDS - begin)) s"
done < "$1"
