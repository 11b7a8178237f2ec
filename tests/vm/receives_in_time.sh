#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs in the guest: receives_in_time.sh COMMAND...: the command must pass, and during it no sender may have met a peer
# without a posted receive. Receiver-not-ready retries hide a sender without credit and cost milliseconds each.
# InfiniBand specification, 9.7.5.2.8.
set -uo pipefail
counters=/sys/class/infiniband/${WEFT_VM_DEVICE}0/ports/1/hw_counters
read_both() { cat "$counters/rcvd_rnr_err" "$counters/send_rnr_err"; }
before=$(read_both) || exit 1
"$@" || exit $?
after=$(read_both) || exit 1
echo "receiver not ready, received and sent: before ${before//$'\n'/, }, after ${after//$'\n'/, }"
[ "$before" = "$after" ]
