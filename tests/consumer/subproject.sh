#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# subproject.sh <source> <build> <programs> <cmake option...>: configures the project, builds and runs each program.
# <programs> is a comma-separated list of targets <name>.<fabric>; each must print "hello from <fabric>".
# Users of weft need no Python, git or download tool, so programs that fail and leave a trace replace them here.
set -eu
source=$1 build=$2 programs=$3
shift 3
rm -rf "$build"
mkdir -p "$build/refused"
for tool in python python3 git hg svn curl wget; do
  printf '#!/bin/sh\necho "%s $*" >> "%s/refused/calls"\nexit 1\n' "$tool" "$build" > "$build/refused/$tool"
  chmod +x "$build/refused/$tool"
done
PATH=$build/refused:$PATH
export PATH
cmake -S "$source" -B "$build/project" "$@"
# shellcheck disable=SC2086  # several words
programs=$(echo "$programs" | tr ',' ' ')
for program in $programs; do
  if ! cmake --build "$build/project" --target "$program" > "$build/output" 2>&1; then
    cat "$build/output" >&2
    exit 1
  fi
  if grep -q 'warning:' "$build/output"; then
    echo "weft's warning flags reached the user's program $program:" >&2
    cat "$build/output" >&2
    exit 1
  fi
  said=$("$build/project/$program")
  if [ "$said" != "hello from ${program#*.}" ]; then
    echo "$program printed \"$said\"" >&2
    exit 1
  fi
  echo "$program: $said"
done
if [ -e "$build/refused/calls" ]; then
  echo "building with weft called a program that users need not have:" >&2
  cat "$build/refused/calls" >&2
  exit 1
fi
