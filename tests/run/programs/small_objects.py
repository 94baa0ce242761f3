# SPDX-License-Identifier: Apache-2.0
"""small_objects.py grow|hold|drop STOP: small objects of Python, until the file STOP is there.

grow: remember() keeps some; look_through() takes more and drops them, so that whenever Python needs another arena, it is
for look_through(). hold: the same, until remember() keeps 32 MiB; then STOP.held is there. drop: 64 MiB at once, which
are dropped; then STOP.dropped is there.
"""
import gc
import os
import sys
import time


NOTES = (64 << 20) // 136  # bytes of one and its text


class Note:  # has no free list, as tuples and lists have
    __slots__ = ("before", "text")

    def __init__(self, before, text):
        self.before = before
        self.text = text


newest = None


def remember(count):
    global newest
    for number in range(count):
        newest = Note(newest, "%d is remembered" % number)  # line 31


def look_through(count):
    seen = None
    for number in range(count):
        seen = Note(seen, "%d is only looked at" % number)  # line 37


def forget():
    global newest
    while newest is not None:  # one by one: a chain that goes at once goes deep
        newest = newest.before


def main():
    what, stop = sys.argv[1:]
    gc.disable()  # there are no cycles to find
    if what == "drop":
        remember(NOTES)
        forget()
        open(stop + ".dropped", "w").close()
    if what == "hold":
        for _ in range(500):  # in steps that no arena is filled by: empty ones go back
            remember(NOTES // 1000)
            look_through(NOTES // 500)
        open(stop + ".held", "w").close()
    while not os.path.exists(stop):
        if what == "grow":
            remember(4000)
            look_through(12000)
        time.sleep(0.03)
    os._exit(0)  # without taking it all apart


main()
