#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs in the guest: every suite of a list (name, deadline in seconds and command, separated by tabs). Output and exit
# status of each go to the share, where result.py finds them. A failed suite does not fail the guest: its own test
# reports it. With WEFT_AGAIN (scripts/test --again) a failed suite runs once more. If it passes then, its log says
# "unsteady": a soft device stalls when the emulator gets no processor.
set -uo pipefail

# once <name> <deadline> <command>: appends to the suite's log.
once() {
  timeout --kill-after=5 "$2" bash -c "$3" >> "$WEFT_VM_RESULTS/$1.log" 2>&1 < /dev/null
  local ended=$?
  if [ $ended -eq 124 ] || [ $ended -eq 137 ]; then
    echo "not done within its deadline of $2 s" >> "$WEFT_VM_RESULTS/$1.log"
  fi
  if [ $ended -ne 0 ]; then
    dmesg | grep -v 'speed is unknown' | sed 's/^/kernel: /' | tail -20 >> "$WEFT_VM_RESULTS/$1.log"
  fi
  return $ended
}

# idle: how long both processors were idle since the guest's start, in hundredths of a second.
idle() { awk '/^cpu / { print $5 }' /proc/stat; }

while IFS=$'\t' read -r name deadline command; do
  [ -n "$name" ] || continue
  begin=$SECONDS
  idle=$(idle)
  dmesg --clear 2> /dev/null
  : > "$WEFT_VM_RESULTS/$name.log"
  once "$name" "$deadline" "$command"
  ended=$?
  if [ $ended -ne 0 ] && [ $ended -ne 77 ] && [ -n "${WEFT_AGAIN:-}" ]; then
    echo "$name: exit $ended after $((SECONDS - begin)) s; once more"
    once "$name" "$deadline" "$command"
    ended=$?
    if [ $ended -eq 0 ]; then echo "unsteady: passed the second time" >> "$WEFT_VM_RESULTS/$name.log"; fi
  fi
  echo $ended > "$WEFT_VM_RESULTS/$name.status"
  echo "$name: exit $ended after $((SECONDS - begin)) s, processors idle for $((($(idle) - idle) / 100)) s"
done < "$1"
