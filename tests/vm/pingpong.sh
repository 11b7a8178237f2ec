#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs in the guest: does its soft device carry traffic between two processes, through the connection manager? The least that all else needs.
set -euo pipefail
ibv_devinfo -d "${WEFT_VM_DEVICE}0"
timeout 20 rping -s -a "$WEFT_VM_ADDRESS" -C 10 &
server=$!
sleep 1
timeout 20 rping -c -a "$WEFT_VM_ADDRESS" -C 10 -v
wait $server || true  # rping's listener ends with an error when its peer leaves, which says nothing
echo "${WEFT_VM_DEVICE}0 carries traffic"
