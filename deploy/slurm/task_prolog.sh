#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A TaskProlog for Slurm: what `ebb run` records goes into a place of the job's own.
#
#   TaskProlog=/etc/slurm/task_prolog.sh        in slurm.conf
#   srun --task-prolog=task_prolog.sh ...       for one step
#
# Slurm runs it as the user before each task and takes over what it prints as `export NAME=value`. It prints one line:
# XDG_STATE_HOME, below which Ebb keeps its record (ebb/runs.db). Other programs that follow the XDG rules keep
# their state there as well. Where the user has set the variable, it stays.
#
# A record must not lie on a network file system. So the first of these folders is taken that is on a disk of this
# node: the one that the job was submitted from, the user's home, the temporary one. What ends up in the last of them
# goes with the node: write a report at the end of the job script (README.md).
set -uo pipefail

# Whether a folder can be written to and is on this node. Kinds of file systems that are not named here count as shared.
is_local() {
  [[ -n "$1" && -d "$1" && -w "$1" ]] || return 1
  case "$(stat -f -c %T -- "$1" 2>/dev/null)" in
    ext2/ext3 | xfs | btrfs | zfs | f2fs | tmpfs | overlayfs) return 0 ;;
    *) return 1 ;;
  esac
}

# A folder below one that everybody may write to: this user's alone, whoever else may have made one of that name.
is_made_private() {
  mkdir -m 700 -- "$1" 2>/dev/null
  [[ -d "$1" && ! -L "$1" && -O "$1" ]]
}

state_folder() {
  local name="ebb-job-$SLURM_JOB_ID" temporary=${TMPDIR:-/tmp}
  if is_local "${SLURM_SUBMIT_DIR:-}"; then
    echo "$SLURM_SUBMIT_DIR/$name"
  elif is_local "${HOME:-}"; then
    echo "$HOME/.local/state/$name"
  elif is_local "$temporary" && is_made_private "$temporary/$name"; then
    echo "$temporary/$name"
  fi
}

[[ -n "${SLURM_JOB_ID:-}" && -z "${XDG_STATE_HOME:-}" ]] || exit 0
folder=$(state_folder)
# Slurm reads lines: a folder with a line break in its name cannot be told.
[[ -z "$folder" || "$folder" == *$'\n'* ]] || echo "export XDG_STATE_HOME=$folder"
# A prolog that fails would take the job along.
exit 0
