# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# scripts/test sources this file, after scripts/environment.sh: ctest, a second run of failed tests, and the count of
# unsteady tests. `again` is yes or no. A test is unsteady if it fails first and passes when it runs alone. More than
# two unsteady tests fail the whole run: then a defect hides behind "the machine was busy".
# shellcheck disable=SC2154  # root and python come from scripts/environment.sh
unsteady_permitted=2
unsteady_lists=()  # one for each run_ctest of this run

# without_kernel_symbols <command...>: libfabric 1.17 reads all of /proc/kallsyms twice at the start of each process, to
# find whether cards can reach memory of GPUs: 65 ms of processor time. Here the file is empty.
without_kernel_symbols() {
  if [ "$(id -u)" = 0 ] && unshare --mount mount --bind /dev/null /proc/kallsyms 2> /dev/null; then
    unshare --mount sh -c 'mount --bind /dev/null /proc/kallsyms && exec "$@"' sh "$@"
  else
    "$@"
  fi
}

# run_ctest <build directory> <log> [ctest option...]: exit 0 if each test passed, the first time or alone.
run_ctest() {
  local directory=$1 log=$2 results=$1/results code=0
  shift 2
  mkdir -p "$results"
  rm -f "$results/all.xml" "$results/again.xml" "$results/unsteady.txt"
  unsteady_lists+=("$results/unsteady.txt")
  without_kernel_symbols ctest --test-dir "$directory" --output-on-failure --output-junit "$results/all.xml" "$@" \
    | tee "$log" || code=$?
  if [ $code -ne 0 ] && [ "$again" = yes ]; then
    if grep -qE '^[[:space:]]+[0-9]+ - vm\.' "$log"; then
      echo "tests failed in a guest, which already ran failed suites twice: no test runs once more"
    else
      say "once more, one at a time"
      # By name: --rerun-failed goes by number, and with -L or -E the numbers are those of other tests.
      without_kernel_symbols ctest --test-dir "$directory" \
        -R "$("$python" "$root/scripts/unsteady.py" --failed "$results")" --output-on-failure \
        --output-junit "$results/again.xml" | tee "$log.again" || true
    fi
  fi
  "$python" "$root/scripts/unsteady.py" "$results" $code
}

# unsteady_tests: prints the unsteady tests of this run by name. Exit 1 if they are more than permitted.
unsteady_tests() {
  local names
  names=$(cat "${unsteady_lists[@]}" 2> /dev/null || true)
  [ -n "$names" ] || return 0
  local count
  count=$(wc -l <<< "$names")
  echo "unsteady: $count tests failed and then passed alone ($unsteady_permitted are permitted):"
  while IFS= read -r name; do echo "  $name"; done <<< "$names"
  [ "$count" -le "$unsteady_permitted" ]
}
