# SPDX-License-Identifier: Apache-2.0
"""What Ebb raises: subclasses of `Error`, with one line that says what, where and what was expected."""

from __future__ import annotations


class Error(Exception):
    """Anything that Ebb raises."""


class BadInput(Error, ValueError):
    """An argument or an environment variable that cannot be used."""


class NotFound(Error, LookupError):
    """A process, a file or a name that does not exist."""


class NotPermitted(Error, PermissionError):
    """It exists, but access is denied."""


class Unavailable(Error):
    """This machine, build or process cannot do it."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class Bug(Error):
    """A bug in Ebb."""


class LibraryMissing(Unavailable, ImportError):
    """libebb.so is missing, or is one that this package cannot use."""


class WrongArchitecture(LibraryMissing):
    """libebb.so was built for another processor than this Python."""


class NeedsCuda(Unavailable):
    """Needs a PyTorch built for CUDA, and a GPU."""


class TooLate(Unavailable):
    """Called too late: it has to be called before the first use of CUDA."""


class Forked(Unavailable):
    """A forked child cannot use its parent's device memory, nor what another thread was changing meanwhile."""


class SimulationFailed(Error, RuntimeError):
    """A simulation that failed on the way, or whose process died: its last line says why."""


BY_CODE: dict[int, type[Error]] = {
    1: BadInput,
    2: NotFound,
    3: NotPermitted,
    4: Unavailable,
    5: OutOfMemory,
    6: FileError,
    7: Bug,
}
