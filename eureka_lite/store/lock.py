"""One writer per run: a lock that the system drops when its process ends, however it ends.

Bottom of the package: knows a path and a process id.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from eureka_lite.store.files import StoreError, storing

_NO_LOCKS = (errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK)
_TRIES, _PAUSE_S = 5, 0.02


def acquire(file: Path) -> int:
    """Lock the file for this process and write its id there; returns what `release` wants.

    Raises StoreError with the id of the process that holds it. A file system that knows no locks goes unlocked.
    """
    with storing(file, "write"):
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    for left in reversed(range(_TRIES)):  # a reader that asks for the holder has it for a moment
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError as error:
            if error.errno in _NO_LOCKS:
                break
            if not left:
                process = _process(descriptor)
                os.close(descriptor)
                advice = "wait for it or stop it first"
                raise StoreError(f"process {process} is writing to {file.parent}; {advice}") from error
            time.sleep(_PAUSE_S)
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def release(descriptor: int) -> None:
    """Give a lock back."""
    os.close(descriptor)


def holder(file: Path) -> str | None:
    """Id of the process that holds the lock, as text; None if nobody does or it cannot be told."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError as error:
        return None if error.errno in _NO_LOCKS else _process(descriptor)
    finally:
        os.close(descriptor)


def _process(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
