# SPDX-License-Identifier: Apache-2.0
"""forked_leak.py STOP: the parent holds memory and waits; its forked child leaks until the file STOP is there."""
import os
import sys
import time

held = [bytearray(1 << 20) for _ in range(64)]
kept = []


def leak():
    for _ in range(8):
        # What the child inherited, it gives back: that is no business of its table.
        if held:
            held.pop()
        kept.append(bytearray(48 << 10))  # line 16
    time.sleep(0.02)


child = os.fork()
while not os.path.exists(sys.argv[1]):
    if child == 0:
        leak()
    else:
        time.sleep(0.05)
if child:
    os.waitpid(child, 0)
