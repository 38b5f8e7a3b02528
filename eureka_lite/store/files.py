"""Durable files: whole or not at all, on disk before the call returns.

Bottom of the package: knows paths and bytes, nothing of runs or of what the files mean. Every OSError leaves here as a
StoreError with one line for the person at the keyboard.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


class StoreError(RuntimeError):
    """A file of a run cannot be read or written: which one, why, and what to do."""


class DiskFullError(StoreError):
    """There is no space left for a file of a run."""


@contextmanager
def storing(path: Path, verb: str) -> Iterator[None]:
    """Turn an OSError of the block, which does `verb` to `path`, into a StoreError."""
    try:
        yield
    except OSError as error:
        raise _in_words(error, path, verb) from error


def write_atomic(path: Path, content: str) -> None:
    """Replace the file at `path` by `content` as UTF-8: a reader sees the old file or the new one, never a part.

    Characters that UTF-8 does not have (lone surrogates) are written as their escape. Raises StoreError.
    """
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.tmp"
    with storing(path, "write"):
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(descriptor)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _sync_folder(path.parent)


def append_line(path: Path, line: str) -> None:
    """Add one line to the end of the file at `path` and sync it to disk.

    A torn line that an earlier crash left at the end is closed first, so it spoils no other line; a line that cannot be
    written whole is taken back. Raises StoreError.
    """
    content = line.encode("utf-8", "backslashreplace") + b"\n"
    with storing(path, "write"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                content = b"\n" + content
            try:
                while content:
                    content = content[os.write(descriptor, content) :]
                os.fsync(descriptor)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


def read_text(path: Path) -> str | None:
    """Read a text file; None if there is none, StoreError if it cannot be read or is not UTF-8."""
    try:
        with storing(path, "read"):
            return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} is damaged: byte {error.start} is not UTF-8 text") from error
    except StoreError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def _in_words(error: OSError, path: Path, verb: str) -> StoreError:
    why = (error.strerror or str(error)).lower()
    if error.errno in _FULL:
        return DiskFullError(f"the disk is full: cannot {verb} {path}; free space and run again")
    if error.errno in _FORBIDDEN:
        return StoreError(f"cannot {verb} {path}: {why}; change its permissions or choose another folder with --out")
    if error.errno == errno.ENOENT:
        return StoreError(f"cannot {verb} {path}: it or its folder is missing")
    if error.errno == errno.EFBIG:
        return StoreError(f"cannot {verb} {path}: it would exceed the largest file size allowed here (see `ulimit -f`)")
    return StoreError(f"cannot {verb} {path}: {why}")


def _sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut; some file systems cannot sync a folder and need not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
