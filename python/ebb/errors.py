# SPDX-License-Identifier: Apache-2.0
"""What Ebb raises: classes of `Error`, with one line that says what, where and what was expected."""

from __future__ import annotations


class Error(Exception):
    """Anything that Ebb raises."""


class BadInput(Error, ValueError):
    """An argument or an environment variable that cannot be used."""


class NotFound(Error, LookupError):
    """A process, a file or a name that is not there."""


class NotPermitted(Error, PermissionError):
    """There, but not ours."""


class Unavailable(Error):
    """This machine, build or process cannot do it."""


class OutOfMemory(Error, MemoryError):
    """Memory that is not there."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class Bug(Error):
    """A bug in Ebb."""


class LibraryMissing(Unavailable, ImportError):
    """libebb.so is not there, or is no libebb.so that this package can use."""


class WrongArchitecture(LibraryMissing):
    """libebb.so was built for another processor than this Python."""


class NeedsCuda(Unavailable):
    """Only with PyTorch for CUDA and a GPU."""


class TooLate(Unavailable):
    """Had to be called before the first use of CUDA."""


class Forked(Unavailable):
    """Device memory of a parent process cannot be used in its forked child."""


BY_CODE: dict[int, type[Error]] = {
    1: BadInput,
    2: NotFound,
    3: NotPermitted,
    4: Unavailable,
    5: OutOfMemory,
    6: FileError,
    7: Bug,
}
