"""Runs that are broken off: what was finished stays, no process is left behind, and `review` shows it."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.end_to_end.command import only_run, run, start

# the second generation is still training when the first has its results
LONG = ("--candidates", "2", "--generations", "9", "--worlds", "16", "--steps", "20000", "--plain")
FILES = {"prompt.md", "reply.md", "reward.py", "check.json", "curves.jsonl", "result.json", "feedback.md", "policy.safetensors"}  # fmt: skip


@pytest.fixture
def going(tmp_path):
    """A run in its second generation, and the process ids of its workers."""
    process = start(tmp_path, "design", "balance the pole", *LONG)
    try:
        wait_for(lambda: any(tmp_path.glob("runs/*/candidates/g02c01/reply.md")) or process.poll() is not None, 120)
        assert process.poll() is None, process.communicate()
        yield process, children(process.pid), tmp_path
    finally:
        process.kill()
        process.communicate()


def wait_for(happened, seconds):
    """Wait until something holds; an error if it does not within `seconds`."""
    ends = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.05)


def children(parent):
    """Process ids whose parent is `parent`."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return found


def alive(pid):
    """Whether a process runs (one that has ended and waits to be reaped does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def the_first_generation_is_whole(cwd):
    folder = only_run(cwd)
    for id in ("g01c01", "g01c02"):
        there = {path.name for path in (folder / "candidates" / id).iterdir()}
        status = json.loads((folder / "candidates" / id / "check.json").read_text())["status"]
        assert there >= (
            FILES if status == "accepted" else FILES & {"prompt.md", "reply.md", "reward.py", "check.json"}
        )
    assert (folder / "candidates" / "g01c01" / "result.json").is_file()
    assert not (folder / "ranking.json").exists()
    return folder


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_is_finished_and_says_where(going, how):
    process, workers, cwd = going
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err and "eureka-lite review" in err
    folder = the_first_generation_is_whole(cwd)
    last = json.loads((folder / "journal.jsonl").read_text().splitlines()[-1])
    assert (last["kind"], last["reason"]) == ("run_failed", "interrupted")
    assert workers and not any(alive(pid) for pid in workers)
    shown = run(cwd, "review").stdout
    assert "g01c01" in shown and "INTERRUPTED" in shown


def test_a_killed_run_leaves_no_worker_and_can_be_reviewed(going):
    process, workers, cwd = going
    process.kill()
    process.wait()
    the_first_generation_is_whole(cwd)
    assert workers
    wait_for(lambda: not any(alive(pid) for pid in workers), 20)
    assert "g01c01" in run(cwd, "review").stdout
    assert run(cwd, "evaluate", "last", "g01c01", "--worlds", "8").stdout.startswith("g01c01:")


def test_a_run_whose_worker_is_killed_goes_on(going):
    process, workers, cwd = going
    (worker,) = workers
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: any(cwd.glob("runs/*/candidates/g02c01/result.json")), 120)
    (result,) = cwd.glob("runs/*/candidates/g02c01/result.json")
    assert json.loads(result.read_text())["status"] == "trained"
    assert "died (signal 9)" in (only_run(cwd) / "journal.jsonl").read_text()
