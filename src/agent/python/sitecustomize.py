# SPDX-License-Identifier: Apache-2.0
"""Start-up hook of Python jobs under `ebb run`: garbage collection and CUDA's cache take part in
cleanups, rounds of NVFlare and Flower are announced, and NVFlare's RSS markers are recorded. No object of
the job is changed, unless that was asked for (`ebb run --nvflare`), and a `sitecustomize` of the job's own
runs as it would without this one. An interpreter that ignores PYTHONPATH is given this file by the agent,
under another name.

Nothing here may disturb the job: whatever fails is left out, silently.
"""

_NOT_KNOWN = 2**64 - 1
_LONGEST_WAIT = 10  # seconds: a collection of the largest heaps takes less


def _run_the_next_sitecustomize():
    """The one that Python would have found without this file."""
    import importlib.machinery
    import importlib.util
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    elsewhere = [p for p in sys.path if os.path.abspath(p or os.curdir) != here]
    # Only for this interpreter: a child with another one is given the path by the environment.
    sys.path[:] = elsewhere
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _agent():
    """The functions of the agent in this process; None where there is none."""
    import ctypes

    process = ctypes.CDLL(None)
    try:
        process.ebb_agent_begin_collections.restype = ctypes.c_int
        process.ebb_agent_begin_collections.argtypes = []
        process.ebb_agent_await_collection.restype = ctypes.c_uint32
        process.ebb_agent_await_collection.argtypes = []
        process.ebb_agent_collected.restype = None
        process.ebb_agent_collected.argtypes = []
        process.ebb_agent_device.restype = None
        process.ebb_agent_device.argtypes = [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64]
        process.ebb_agent_device_memory.restype = None
        process.ebb_agent_device_memory.argtypes = [ctypes.c_uint32] + 6 * [ctypes.c_uint64]
        process.ebb_agent_end_collections.restype = None
        process.ebb_agent_end_collections.argtypes = []
        process.ebb_agent_share_arenas.restype = ctypes.c_int
        process.ebb_agent_share_arenas.argtypes = []
        process.ebb_agent_is_supervised.restype = ctypes.c_int
        process.ebb_agent_is_supervised.argtypes = []
        process.ebb_agent_marked.restype = None
        process.ebb_agent_marked.argtypes = [ctypes.c_char_p]
        process.ebb_agent_name.restype = None
        process.ebb_agent_name.argtypes = [ctypes.c_char_p]
        process.ebb_agent_round_done.restype = None
        process.ebb_agent_round_done.argtypes = [ctypes.c_uint64]
    except AttributeError:
        return None
    return process


def _count_arenas():
    """From the interpreter's start on, also where the agent was faster to start a hook of its own: that one comes late,
    and would count only what comes later. Where small objects are not in arenas there is nothing to count."""
    import ctypes
    import os
    import sys

    if (__name__ == "sitecustomize" and "t" not in getattr(sys, "abiflags", "") and
            not os.environ.get("PYTHONMALLOC", "").startswith("mimalloc")):
        ctypes.PyDLL(None).ebb_agent_count_arenas()  # unlike CDLL with the interpreter's lock


def _collect(agent):
    """Serves cleanups on a thread of Python's own: with the interpreter's lock like any other."""
    import gc
    import sys

    while True:
        wanted = agent.ebb_agent_await_collection()
        if not wanted:
            return
        try:
            if wanted & 1:
                gc.collect()
            torch = sys.modules.get("torch")
            if wanted & 2 and torch is not None and torch.cuda.is_initialized():
                _empty_device_caches(agent, torch)
            if wanted & 8 and torch is not None and torch.cuda.is_initialized():
                _tell_of_devices(agent, torch)
            arrow = sys.modules.get("pyarrow")
            if wanted & 4 and arrow is not None:
                # mimalloc gives nothing back on a thread that never took anything.
                arrow.allocate_buffer(64)
                arrow.default_memory_pool().release_unused()
        except Exception:  # the next cleanup may work
            pass
        finally:
            agent.ebb_agent_collected()


def _device_allocator(torch):
    """Whoever tells what is held of devices: under Ebb's allocator PyTorch's own functions raise."""
    import sys

    ours = sys.modules.get("ebb.torch")
    return ours if ours is not None and ours.installed() else torch.cuda


def _empty_device_caches(agent, torch):
    allocator = _device_allocator(torch)

    def reserved():
        try:
            return [allocator.memory_reserved(device) for device in range(torch.cuda.device_count())]
        except RuntimeError:  # an allocator of somebody else's, which does not tell
            return []

    before = reserved()
    torch.cuda.empty_cache()
    for device, (had, has) in enumerate(zip(before, reserved())):
        if had > has:
            agent.ebb_agent_device(device, had, has)


def _tell_of_devices(agent, torch):
    allocator = _device_allocator(torch)
    for device in range(torch.cuda.device_count()):
        stats = allocator.memory_stats(device)
        reserved = stats.get("reserved_bytes.all.current", 0)
        # Asking for the memory of a device that is not in use would begin to use it.
        if reserved > 0:
            free, total = torch.cuda.mem_get_info(device)
            cached = max(0, reserved - stats["active_bytes.all.current"])
            live = stats.get("allocated_bytes.all.current", _NOT_KNOWN)
            inactive = stats.get("inactive_split_bytes.all.current", _NOT_KNOWN)
            agent.ebb_agent_device_memory(device, total, free, reserved, cached, live, inactive)


def _nvflares_results():
    """What lets go of results in NVFlare, where the job was started with `ebb run --nvflare`."""
    import importlib.util
    import os

    if os.environ.get("EBB_NVFLARE") != "1":
        return None
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvflare_results.py")
    spec = importlib.util.spec_from_file_location("_ebb_nvflare_results", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _others_import():
    """Whether another thread is importing something. It may need the lock of all imports, which whoever looks for a
    module holds: one that imports in there, and waits for that thread, waits for ever."""
    import _frozen_importlib
    import _thread

    locks = [reference() for reference in list(_frozen_importlib._module_locks.values())]
    return any(lock is not None and lock.owner not in (None, _thread.get_ident()) for lock in locks)


def _announce_rounds(agent):
    """Watches log records, from the moment at which NVFlare or Flower is imported."""
    import os
    import sys

    results, is_nvflare = None, False
    identity = server = None
    frameworks = {"nvflare", "flwr"}
    seen = {"round": -1, "tasks": 0, "in Flower's": False, "named in": 0}

    def announce(number):
        if number > seen["round"]:
            seen["round"] = number
            agent.ebb_agent_round_done(number)

    def look_at(record):
        text = record.msg if isinstance(record.msg, str) else ""
        if record.name == "nvflare.fuel.utils.mem_utils" and text.startswith("[RSS] "):
            agent.ebb_agent_marked(text.encode("utf-8", "replace"))
            return
        # What a process was called before it forked is not what its child is called.
        if (text.startswith("[identity=") and seen["named in"] != os.getpid() and
                agent.ebb_agent_is_supervised()):
            seen["named in"] = os.getpid()
            agent.ebb_agent_name(identity.match(text)[1].encode())
        found = server.search(text)
        if found and found[3]:
            announce(int(found[3]))
        elif found:
            announce(int(found[1]) - (found[2] == "started"))
        elif text.endswith("finished processing task"):
            # A client's round is a task that it has dealt with.
            seen["tasks"] += 1
            announce(seen["tasks"] - 1)
        elif text.startswith(("[ROUND %s", "Strategy execution finished", "Run finished ")):
            # Flower's: where one of its rounds begins, or all have ended, the one before has ended.
            if seen["in Flower's"]:
                announce(seen["round"] + 1)
            seen["in Flower's"] = text.startswith("[")

    def install(name):
        nonlocal identity, server
        if name in frameworks and "logging" not in sys.modules and not _others_import():
            __import__("logging")
        logging = sys.modules["logging"]
        if getattr(logging.__spec__, "_initializing", False):
            raise ImportError("logging is being imported")
        # Not before: where the hook came while it was being imported, it was not whole. Logging has imported it.
        re = sys.modules["re"]
        identity = re.compile(r"\[identity=([^,\]]+)")
        server = re.compile(r"\bRound (\d+) (started|finished)\b|\bFinished round (\d+)\b")
        make = logging.getLogRecordFactory()

        def make_and_look(*arguments, **named):
            nonlocal results, is_nvflare
            record = make(*arguments, **named)
            try:
                look_at(record)
                if is_nvflare:
                    is_nvflare = False
                    results = _nvflares_results()
                # NVFlare logs before its first round: by then its modules are there.
                if results is not None and results.drop_results(sys.modules):
                    results = None
            except Exception:
                pass
            return record

        logging.setLogRecordFactory(make_and_look)

    def begin(name):
        nonlocal is_nvflare
        install(name)
        if name == "nvflare" or "nvflare" in sys.modules:
            # Its threads take turns anyway, each with models of its own: what one of them freed
            # shall serve the next.
            agent.ebb_agent_share_arenas()
            is_nvflare = True

    class WhenImported:
        """A finder that finds nothing and sees the first import of NVFlare or Flower."""

        def __init__(self):
            self.is_beginning = False

        def find_spec(self, name, path=None, target=None):
            # One that was being looked for when the hook came, or before logging, is seen with a later import.
            if not self.is_beginning and (name in frameworks or not frameworks.isdisjoint(sys.modules)):
                self.is_beginning = True
                try:
                    begin(name)
                    sys.meta_path.remove(self)
                except Exception:  # logging is not there, or not whole: a later import sees it
                    pass
                self.is_beginning = False
            return None

    if not frameworks.isdisjoint(sys.modules):  # the hook came late
        try:
            return begin("")
        except Exception:
            pass
    sys.meta_path.insert(0, WhenImported())


class _Collecting:
    """The thread that serves cleanups. It is there before the job's first line and gone before the
    interpreter is taken down: one that is still about to start by then, or in a destructor,
    would use what is no longer there."""

    def __init__(self, agent):
        self.agent = agent
        self.ended = None

    def start(self):
        import _thread

        self.ended = None  # in a forked child it is the parent's
        begun, ended = _thread.allocate_lock(), _thread.allocate_lock()
        begun.acquire()
        ended.acquire()

        def serve():
            begun.release()
            try:
                _collect(self.agent)
            finally:
                ended.release()

        try:
            _thread.start_new_thread(serve, ())
        except RuntimeError:  # no more threads: cleanups do without
            return
        self.ended = ended
        begun.acquire(timeout=_LONGEST_WAIT)

    def end(self):
        self.agent.ebb_agent_end_collections()
        if self.ended is not None:
            self.ended.acquire(timeout=_LONGEST_WAIT)


def _show_frames_to_sites():
    """Where `ebb run` samples allocations: the sampler checks that what it would read of a stack is this very call."""
    import ctypes
    import sys

    process = ctypes.CDLL(None)
    if not hasattr(process, "ebb_sites_python") or "t" in sys.abiflags:
        return
    import atexit

    check = process.ebb_sites_python
    check.restype = ctypes.c_int
    check.argtypes = [ctypes.c_uint] + 2 * [ctypes.c_void_p] + 2 * [ctypes.c_char_p] + [ctypes.c_uint]
    this_thread = ctypes.cast(ctypes.pythonapi.PyGILState_GetThisThreadState, ctypes.c_void_p)
    loop = ctypes.cast(ctypes.pythonapi._PyEval_EvalFrameDefault, ctypes.c_void_p)
    frame = sys._getframe()
    code = frame.f_code
    file, name = code.co_filename.encode(), getattr(code, "co_qualname", code.co_name).encode()
    check(sys.version_info.minor, this_thread, loop, file, name, frame.f_lineno)
    atexit.register(process.ebb_sites_python_ends)


def _show_objects_to_sites():
    """Under `ebb run --sites=objects`: small objects are sampled one by one from the interpreter's start on. Not where the
    agent started a hook that comes late, nor where tracemalloc stands there: it would put us aside when it stops. Where
    small objects are not in arenas they are malloc's, or each thread has its own."""
    import ctypes
    import os
    import sys

    if (os.environ.get("EBB_SITES_OBJECTS") != "1" or __name__ != "sitecustomize" or
            "t" in getattr(sys, "abiflags", "") or os.environ.get("PYTHONMALLOC", "").startswith("mimalloc")):
        return
    import _tracemalloc
    if not _tracemalloc.is_tracing():
        ctypes.PyDLL(None).ebb_sites_python_objects()  # unlike CDLL with the interpreter's lock


def _take_part():
    agent = _agent()
    if agent is None or not agent.ebb_agent_begin_collections():
        return
    import atexit
    import os

    try:
        _announce_rounds(agent)
    except Exception:
        pass
    collecting = _Collecting(agent)
    collecting.start()
    atexit.register(collecting.end)
    # Threads do not survive a fork, and the child has an agent of its own.
    os.register_at_fork(after_in_child=collecting.start)


try:
    _show_frames_to_sites()
except Exception:
    pass
try:
    _show_objects_to_sites()
except Exception:
    pass
try:
    _count_arenas()
except Exception:
    pass
try:
    _take_part()
except Exception:
    pass
if __name__ == "sitecustomize":
    _run_the_next_sitecustomize()
