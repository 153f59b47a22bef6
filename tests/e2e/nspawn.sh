#!/usr/bin/env bash
# nspawn.sh BUILD SCRIPT [FOLDER]...: a real systemd boots on this machine's own files, under an
# overlay, with what BUILD installs ("-": nothing) and, in /given/NAME, each FOLDER; runs SCRIPT and powers
# off. Its output is printed. As root; some two seconds.
set -euo pipefail
build=$1 script=$2
shift 2
if [[ -z ${IN_MOUNTS_OF_ITS_OWN:-} ]]; then
  exec env IN_MOUNTS_OF_ITS_OWN=1 unshare -m --propagation private "$0" "$build" "$script" "$@"
fi
at=$(mktemp -d)
# A control group of its own: systemd-nspawn makes groups with fixed names in the caller's, so two
# that run at once, or what one left that was killed, would meet there.
groups=()
for tree in /sys/fs/cgroup /sys/fs/cgroup/{systemd,unified}; do
  [[ -w $tree/cgroup.procs ]] && mkdir "$tree/nspawn.$$" && groups+=("$tree/nspawn.$$")
done
for group in "${groups[@]}"; do echo $$ >"$group/cgroup.procs"; done
finish() {
  umount -l "$at"
  rmdir "$at"
  for group in "${groups[@]}"; do
    echo $$ >"${group%/*}/cgroup.procs"
    find "$group" -depth -type d -exec rmdir {} +
  done
}
trap 'finish 2>/dev/null || true' EXIT
mount -t tmpfs tmpfs "$at"
mkdir "$at"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$at/upper,workdir=$at/work" "$at/root"
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd
guest=$at/root
[[ $build == - ]] || DESTDIR=$guest cmake --install "$build" >"$at/installed"
cp "$script" "$guest/script"
mkdir "$guest/given"
for folder; do cp -r "$folder" "$guest/given/"; done
cat >"$guest/etc/systemd/system/script.service" <<'UNIT'
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
StandardOutput=file:/said
StandardError=file:/said
ExecStart=/bin/bash /script
ExecStopPost=/bin/systemctl poweroff --force
UNIT
# Its own filter of system calls lacks what a sandbox of ours may want.
timeout 100 systemd-nspawn -q -D "$guest" --keep-unit --register=no --private-users=no \
  --link-journal=no --console=pipe --private-network \
  --system-call-filter='landlock_create_ruleset landlock_add_rule landlock_restrict_self' \
  /lib/systemd/systemd --unit=script.service >"$at/console" 2>&1 || true
cat "$guest/said" 2>/dev/null || {
  echo "the guest said nothing; its console:"
  tail -n 20 "$at/console"
  exit 1
}
