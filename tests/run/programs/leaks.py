# SPDX-License-Identifier: Apache-2.0
"""leaks.py WHICH STOP: three functions that allocate; WHICH says which of them keeps what it makes (0: none, 4: small
objects). Ends once the file STOP is there."""
import os
import sys
import threading
import time

kept = []


def load_batch(keep):
    batch = bytearray(48 << 10)  # line 13
    if keep:
        kept.append(batch)


def decode(keep):
    text = b"x" * (48 << 10)
    return text.decode() if not keep else kept.append(text.decode())  # line 20


class Model:
    def step(self, keep):
        gradients = [0.0] * 6000  # line 25
        if keep:
            kept.append(gradients)


def count_words(keep):
    words = {str(i) + "-" + str(time.monotonic_ns()): i for i in range(300)}  # line 31
    if keep:
        kept.append(words)


def work(which):
    for _ in range(4):
        load_batch(which == 1)
        decode(which == 2)
        Model().step(which == 3)
        count_words(which == 4)


def main():
    which = int(sys.argv[1])
    while not os.path.exists(sys.argv[2]):
        thread = threading.Thread(target=work, args=(which,))
        thread.start()
        thread.join()
        work(which)
        time.sleep(0.02)


main()
