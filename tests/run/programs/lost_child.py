# SPDX-License-Identifier: Apache-2.0
"""A job that forks while a lock of libebb's is held: lost_child.py LIBEBB FIFO

A thread loads a driver that is a pipe, which takes until somebody writes into it. The child says what
a cleanup did there, once its agent has said good-bye.
"""
import ctypes
import os
import signal
import sys
import threading
import time

signal.alarm(240)
agent = ctypes.CDLL(None)
while not agent.ebb_agent_is_supervised():
    time.sleep(0.01)
os.environ["EBB_TORCH_DRIVER"] = "cuda:" + sys.argv[2]
library = ctypes.CDLL(sys.argv[1])
memory = ctypes.c_void_p()
allocate = threading.Thread(
    target=library.ebb_torch_try_alloc, args=(512, 0, None, ctypes.byref(memory)))
allocate.start()


def is_opening():
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/syscall") as file:
            if file.read().split()[0] in ("257", "56"):  # openat on x86-64 and aarch64
                return True
    return False


while not is_opening():
    time.sleep(0.01)
child = os.fork()
if child == 0:
    signal.alarm(240)
    report = (ctypes.c_uint32 * 256)(1024)
    assert library.ebb_cleanup(0, report) == 0
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.01)
    print(agent.ebb_agent_is_supervised(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
os.close(os.open(sys.argv[2], os.O_WRONLY))
allocate.join()
print(agent.ebb_agent_is_supervised(), flush=True)
