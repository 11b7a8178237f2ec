#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh SOURCE WORK COMPILER [FLAG...]: adds a made-up row to a copy of the matrix and nowhere else. The row generates
# a header that compiles, and passes every conformance suite over the in-process port.
set -euo pipefail
ulimit -t 600  # seconds of processor time, for each process
source=$1 work=$2
shift 2
rm -rf "$work"
mkdir -p "$work/tree/tests" "$work/tree/docs" "$work/tree/generated"
cp -r "$source"/{core,wire,policies,backends,compose,coroutines,history} "$work/tree/"
cp -r "$source"/tests/{conformance,history} "$work/tree/tests/"
/usr/bin/python3 -B "$source/tests/made_up_row/row.py" "$source/providers.yaml" "$work/providers.yaml"
"$source/weft" generate --matrix "$work/providers.yaml" --output "$work/tree" > "$work/generate.txt"
header=$work/tree/generated/made_up.hpp
for answer in endpoint::addressed bootstrap::exchange framing::header region_address::virtual_address \
  region_key::provider local_descriptor::required region_binding::endpoint notify::message_after_delivery \
  write_fault::delivery_confirmed atomics::target progress::polling completion::every_operation liveness::heartbeat; do
  grep -q "\b$answer\b" "$header" || { echo "made_up_row: $header does not answer $answer"; exit 1; }
done
"$@" -DWEFT_FABRIC=made_up "$work/tree/tests/conformance/main.cpp" "$work/tree/tests/conformance/counted_new.cpp" \
  -lgtest -lgtest_main -pthread -o "$work/conformance"
"$work/conformance" --gtest_brief=1
