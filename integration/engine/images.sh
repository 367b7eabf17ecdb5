#!/usr/bin/env bash
# Makes the two images that tests of the sandbox run in, from packages of this Debian:
#
#   toolhost-test/busybox  one static program and its names; two users, neither of them 1000
#   toolhost-test/debian   bash, dash, coreutils, util-linux, mount, procps, grep, sed, awk, find, perl, python3
#
# An image that this script made, as it is now, is left alone, and then no network is needed.
# Otherwise packages come from the sources of the machine's apt, into a directory that is
# removed at the end: nothing is installed, and root is not needed where docker can be used
# without.
set -euo pipefail

busybox_packages=(busybox-static)
# What is not named here comes as a dependency: libraries, tar, dpkg.
debian_packages=(
  base-files base-passwd bash dash coreutils util-linux mount procps grep sed mawk findutils
  python3 perl-base libc-bin usr-is-merged
)

# The label by which an image is known to be current.
label=toolhost.recipe
recipe=$(sha256sum "$0" | cut -d ' ' -f 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

current() {
  [ "$(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$1" 2>/dev/null)" = "$recipe" ]
}

# apt runs apt-get for an empty system of its own, so that all dependencies come along.
apt() {
  apt-get -qq -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" -o Dir::Cache="$work/cache" \
    -o APT::Install-Recommends=0 -o APT::Sandbox::User="" "$@"
}

update() {
  [ ! -d "$work/state" ] || return 0
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  : >"$work/state/status"
  apt -o Acquire::Languages=none update
}

# unpack puts packages and what they depend on into a directory.
unpack() {
  local root=$1 package
  shift
  update
  apt --download-only --yes install "$@" >/dev/null
  for package in "$work"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -p --keep-directory-symlink -C "$root"
    rm "$package"
  done
}

# skeleton makes the directories that no package brings, and /bin as a link into /usr.
skeleton() {
  local root=$1 dir
  for dir in bin sbin lib lib64; do
    mkdir -p "$root/usr/$dir"
    ln -s "usr/$dir" "$root/$dir"
  done
  mkdir -p "$root"/{dev,etc,proc,root,sys,tmp,run,var/tmp}
  chmod 1777 "$root/tmp" "$root/var/tmp"
  chmod 700 "$root/root"
}

import() {
  local name=$1 root=$2 before
  before=$(docker image inspect --format '{{.Id}}' "$name" 2>/dev/null || true)
  tar -c --owner=0 --group=0 --numeric-owner -C "$root" . |
    docker import --change "LABEL $label=$recipe" --change 'CMD ["/bin/sh"]' - "$name" >/dev/null
  [ -z "$before" ] || docker rmi "$before" >/dev/null 2>&1 || true
  echo "made $name"
}

busybox() {
  local root="$work/busybox" name
  skeleton "$root"
  unpack "$root" "${busybox_packages[@]}"
  rm -rf "$root/usr/share"
  for name in $("$root/bin/busybox" --list); do
    [ -e "$root/bin/$name" ] || ln -s busybox "$root/bin/$name"
  done
  cat >"$root/etc/passwd" <<'END'
root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/false
END
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
  import toolhost-test/busybox "$root"
}

debian() {
  local root="$work/debian"
  skeleton "$root"
  unpack "$root" "${debian_packages[@]}"
  # What the packages' own scripts would do.
  cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
  cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
  ln -sf dash "$root/bin/sh"
  ln -sf mawk "$root/bin/awk"
  ln -sf which.debianutils "$root/bin/which"
  rm -rf "$root"/usr/share/{doc,doc-base,info,locale,man,lintian,bug}
  import toolhost-test/debian "$root"
}

need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "making test images needs $program" >&2; exit 1; }
  done
}

need docker
docker version >/dev/null || { echo "hint: start a Docker engine first" >&2; exit 1; }
for image in busybox debian; do
  if ! current "toolhost-test/$image"; then
    need apt-get dpkg-deb tar
    "$image"
  fi
done
