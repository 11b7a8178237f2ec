# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Roots of Debian releases, made once by debootstrap and kept. Other scripts set the variables below, source this file
# after environment.sh, and call make_tree and inside. It needs root.
#   release: the code name, as trixie; packages: an array; cache: the folder of the root; tree: the root itself
#   caller: the name before each sentence; documents: set where man pages and documents of packages are kept
# Mounts and processes end with the command, because they are in namespaces of their own.

: "${caller:?the name before each sentence}"
mirror=${WEFT_DEBIAN_MIRROR:-}  # default: debootstrap's own

# cannot <sentence>: exits with 77, because the machine is the reason and not weft.
cannot() {
  echo "$caller: $*" >&2
  exit 77
}

# require_namespaces: exits with 77 where this process may not make roots.
require_namespaces() {
  [ "$(id -u)" -eq 0 ] || cannot "making and entering a Debian root needs root: run the script as root, or with sudo"
  unshare --mount --pid --fork true 2> /dev/null || cannot "this machine does not let root make namespaces"
}

# make_tree: makes the root, completely or not at all. Installs packages whenever the list changes.
make_tree() {
  # shellcheck disable=SC2154  # the script that sources this file sets these variables
  local wanted name=${cache##*/}
  # shellcheck disable=SC2154
  wanted=$(sha256sum <<< "$release ${packages[*]}")
  # shellcheck disable=SC2154
  [ -f "$cache/packages" ] && [ "$(< "$cache/packages")" = "$wanted" ] && [ -d "$tree" ] && return 0
  command -v debootstrap > /dev/null || cannot "debootstrap is not installed; \"scripts/setup ci\" installs it"
  mkdir -p "$cache"
  if [ ! -d "$tree" ]; then
    say "$name: debootstrap $release, in $tree"
    rm -rf "$tree.new"
    # A debootstrap that is older than the release has no script of its name. The one of unstable makes it too.
    local recipe=(${mirror:+"$mirror"})
    [ -e "/usr/share/debootstrap/scripts/$release" ] || recipe=("${mirror:-http://deb.debian.org/debian}" sid)
    debootstrap --variant=minbase "$release" "$tree.new" "${recipe[@]}" > "$cache/debootstrap.txt" 2>&1 \
      || { tail -n 5 "$cache/debootstrap.txt" >&2
           cannot "debootstrap failed${mirror:+ with $mirror}; the whole log is $cache/debootstrap.txt"; }
    # Faster, but not safe against a power failure. The script can make the root again.
    echo force-unsafe-io > "$tree.new/etc/dpkg/dpkg.cfg.d/speed"
    [ -n "${documents:-}" ] \
      || printf 'path-exclude=/usr/share/%s/*\n' doc man locale info > "$tree.new/etc/dpkg/dpkg.cfg.d/small"
    # Without an address, libfabric 2.1 resolves the host's name. This file makes the name resolvable.
    printf '127.0.0.1 localhost %s\n' "$(uname -n)" > "$tree.new/etc/hosts"
    mkdir -p "$tree.new/weft" "$tree.new/build"
    mv "$tree.new" "$tree"
  fi
  # The index of a mirror that is a snapshot has a date that passed. Its signature is checked all the same.
  say "$name: packages ${packages[*]}"
  inside /bin/sh -c 'export DEBIAN_FRONTEND=noninteractive
    apt-get -q -o Acquire::Check-Valid-Until=false update \
      && apt-get -q install -y --no-install-recommends "$@" && apt-get clean' \
    sh "${packages[@]}" > "$cache/packages.txt" 2>&1 \
    || { tail -n 5 "$cache/packages.txt" >&2
         echo "$caller: apt-get failed in the root; the whole log is $cache/packages.txt" >&2
         exit 1; }
  echo "$wanted" > "$cache/packages"
}

# inside <command...>: runs the command in the root, in namespaces of its own. Its mounts and processes end with it.
# /weft is this project, read-only; /build is kept from run to run.
# setpriv also ends them with this script: a signal to the script would not reach unshare and its child.
inside() {
  # shellcheck disable=SC2016,SC2154  # the inner shell expands it; environment.sh sets root
  setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child bash -c '
    set -euo pipefail
    tree=$1 project=$2 kept=$3
    shift 3
    mount --bind "$project" "$tree/weft"
    mount -o remount,bind,ro "$tree/weft"
    mount --bind "$kept" "$tree/build"
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    mount -t tmpfs tmpfs "$tree/dev/shm"
    mount -t tmpfs tmpfs "$tree/tmp"
    exec chroot "$tree" /usr/bin/env -C /weft HOME=/tmp TMPDIR=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
  ' bash "$tree" "$root" "$cache/build" "$@" <&0 &
  wait $!
}
