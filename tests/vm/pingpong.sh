#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs in the guest: two processes exchange data over the soft device and the connection manager. All other suites need
# this.
set -euo pipefail
ibv_devinfo -d "${WEFT_VM_DEVICE}0"
timeout 20 rping -s -a "$WEFT_VM_ADDRESS" -C 10 &
server=$!
sleep 1
timeout 20 rping -c -a "$WEFT_VM_ADDRESS" -C 10 -v
wait $server || true  # rping's listener always ends with an error when its peer closes
echo "${WEFT_VM_DEVICE}0 carries traffic"
