#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes gzip files of every shape into a folder, each as NAME.gz beside NAME, its content.

  gzip_files.py FOLDER
"""
import gzip
import os
import random
import sys
import zlib


def contents():
    random.seed(4)
    words = [b"alloc", b"free_requested", b"\x94h\x05\x8a\x06", b"segment", bytes(40)]
    yield "nothing", b""
    yield "one", b"x"
    yield "zeros", bytes(3_000_000)
    yield "noise", random.randbytes(700_000)
    yield "words", b"".join(random.choices(words, k=150_000))
    yield "period_2", b"ab" * 200_000
    yield "period_7", b"abcdefg" * 100_000
    yield "far", (lambda block: block * 9)(random.randbytes(32768))
    yield "skewed", bytes(min(255, int(random.expovariate(0.09))) for _ in range(400_000))


def member(data, level, strategy=zlib.Z_DEFAULT_STRATEGY, flags=0, between=b""):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    body = packer.compress(data[:len(data) // 2])
    if level == 5:
        body += packer.flush(zlib.Z_FULL_FLUSH)
    body += packer.compress(data[len(data) // 2:]) + packer.flush()
    head = b"\x1f\x8b\x08" + bytes([flags]) + b"\0\0\0\0\0\xff" + between
    tail = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return head + body + tail


def main(folder):
    def write(name, content, packed):
        assert gzip.decompress(packed) == content
        for path, data in ((name, content), (name + ".gz", packed)):
            with open(os.path.join(folder, path), "wb") as file:
                file.write(data)

    for name, content in contents():
        for level in (0, 1, 5, 6, 9):
            write(f"{name}_{level}", content, member(content, level))
        for strategy in (zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE):
            write(f"{name}_s{strategy}", content, member(content, 6, strategy))
    extra = b"\x05\0extra" + b"name\0" + b"comment\0" + b"\0\0"
    header = b"\x1f\x8b\x08\x1e\0\0\0\0\0\xff" + extra[:-2]
    extra = extra[:-2] + (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    write("all_fields", b"content", member(b"content", 6, flags=0x1E, between=extra))
    parts = [random.randbytes(100), b"", bytes(50_000), b"end"]
    write("members", b"".join(parts), b"".join(member(part, 6) for part in parts))
    write("padded", b"end", member(b"end", 6) + bytes(1000))
    write("small", b"alloc alloc free alloc free", member(b"alloc alloc free alloc free", 9))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
