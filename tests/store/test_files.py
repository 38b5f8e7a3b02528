import os
import subprocess
import sys
from pathlib import Path

import pytest

from eureka_lite.store.files import DiskFullError, StoreError, append_line, read_text, write_atomic


def test_a_write_replaces_the_whole_file_and_leaves_nothing_else(tmp_path):
    file = tmp_path / "a.json"
    write_atomic(file, "old and longer")
    write_atomic(file, "new é")
    assert file.read_bytes() == "new é".encode()
    assert [item.name for item in tmp_path.iterdir()] == ["a.json"]


def test_a_write_that_fails_keeps_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a.json"
    write_atomic(file, "old")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(DiskFullError, match="the disk is full"):
        write_atomic(file, "new")
    assert file.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.json"]


def test_an_interrupt_in_the_middle_leaves_no_temporary_file(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "a", "text")
    assert list(tmp_path.iterdir()) == []


def test_files_get_the_mode_that_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        write_atomic(tmp_path / "a", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_text_that_utf8_does_not_have_is_kept_as_an_escape(tmp_path):
    write_atomic(tmp_path / "a", "x\ud800")
    assert (tmp_path / "a").read_text() == "x\\ud800"


def test_a_line_after_a_torn_one_stands_alone(tmp_path):
    file = tmp_path / "j.jsonl"
    file.write_bytes(b'{"a": 1}\n{"b"')
    append_line(file, '{"c": 3}')
    assert file.read_bytes() == b'{"a": 1}\n{"b"\n{"c": 3}\n'


def test_a_line_that_does_not_fit_is_taken_back(tmp_path):
    """The size limit of a process stands in for a full disk: the first half of the line still fits."""
    file = tmp_path / "j.jsonl"
    file.write_bytes(b"x" * 99 + b"\n")
    program = f"""
import resource
from pathlib import Path
from eureka_lite.store.files import StoreError, append_line
resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
try:
    append_line(Path({str(file)!r}), "y" * 100)
except StoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "largest file size" in done.stdout
    assert file.read_bytes() == b"x" * 99 + b"\n"


def test_a_folder_that_is_a_file_is_said_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write .*: not a directory"):
        write_atomic(tmp_path / "file" / "a", "text")


def test_a_missing_folder_is_said_in_words(tmp_path):
    with pytest.raises(StoreError, match="is missing"):
        append_line(tmp_path / "none" / "a", "text")


def test_a_file_system_that_takes_no_files_is_said_in_words():
    with pytest.raises(StoreError, match="cannot write /proc/self/a"):
        append_line(Path("/proc/self/a"), "text")


def test_reading_nothing_is_none_and_reading_bytes_is_an_error(tmp_path):
    assert read_text(tmp_path / "none") is None
    (tmp_path / "bytes").write_bytes(b"ab\xff")
    with pytest.raises(StoreError, match="byte 2"):
        read_text(tmp_path / "bytes")
