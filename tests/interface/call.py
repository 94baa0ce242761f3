# SPDX-License-Identifier: Apache-2.0
"""Calls libebb as a process of its own and prints the JSON that it answers with.

  call.py LIBRARY ebb_call VERB [ARGUMENTS]
  call.py LIBRARY ebb_torch_stats
"""
import ctypes
import sys
from typing import List


def stats(ebb: ctypes.CDLL, result: ctypes.c_char_p) -> int:
    """What a device that has been used a little tells of itself."""
    memory = ctypes.c_void_p()
    code = ebb.ebb_torch_try_alloc(ctypes.c_size_t(1 << 20), 0, None, ctypes.byref(memory))
    return code or ebb.ebb_torch_stats(0, ctypes.byref(result))


def main(library: str, function: str, words: List[str]) -> int:
    ebb = ctypes.CDLL(library)
    ebb.ebb_last_error.restype = ctypes.c_char_p
    result = ctypes.c_char_p()
    if function == "ebb_torch_stats":
        code = stats(ebb, result)
    else:
        arguments = words[1].encode() if len(words) > 1 else None
        code = ebb.ebb_call(words[0].encode(), arguments, ctypes.byref(result))
    if code != 0:
        print(ebb.ebb_last_error().decode(), file=sys.stderr)
        return code
    print((result.value or b"").decode())
    ebb.ebb_free(result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
