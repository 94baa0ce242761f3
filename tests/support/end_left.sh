#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ends what a test has left behind, however the test ended: end_left.sh VARIABLE
#
# Reads until its input ends, which the test holds open as long as it lives, then kills every process that has an
# entry in its environment that begins with VARIABLE. Nobody's child and in a session of its own, so that whatever
# ends the test does not end it too.
if [ "$2" != there ]; then
  exec 3<&0  # what is started behind a shell's back would have none of its input
  setsid sh "$0" "$1" there <&3 3<&- > /dev/null 2>&1 &
  exit
fi
cat > /dev/null
for _ in 1 2 3 4 5; do  # some may be about to fork
  left=$(cd /proc && grep -lsaz "^$1" [0-9]*/environ | cut -d/ -f1)
  [ -n "$left" ] || exit 0
  kill -KILL $left
  sleep 0.05
done
