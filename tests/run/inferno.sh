#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Says where inferno-flamegraph is: on PATH, or as cargo makes it from crates.io, once per user.
set -eu

version=0.11.12 # the newest that Debian 12's compiler takes
if command -v inferno-flamegraph; then
  exit
fi
folder="${XDG_CACHE_HOME:-$HOME/.cache}/ebb/inferno-$version"
if [ ! -x "$folder/bin/inferno-flamegraph" ]; then
  made="$folder.$$"
  trap 'rm -rf "$made"' EXIT
  cargo install --quiet --locked --version "$version" --no-default-features --features cli \
    --bin inferno-flamegraph --root "$made" inferno >&2
  mv "$made" "$folder" 2>/dev/null || [ -x "$folder/bin/inferno-flamegraph" ] # another was quicker
fi
echo "$folder/bin/inferno-flamegraph"
