import json
import os
import subprocess
import sys
import threading
import tomllib

import pytest

from eureka_lite.store.events import Event
from eureka_lite.store.files import DiskFullError, StoreError
from eureka_lite.store.formats import Candidate, Fit, Flag, Ranking, Spend
from eureka_lite.store.run import RunFolder

SETTINGS = {"seed": 7, "llm": 'a "model"\nüñ', "budget": None, "ppo": {"rate": 1e-3, "layers": [64, 64]}}


@pytest.fixture
def task(tmp_path):
    folder = tmp_path / "task_of_user"
    (folder / "rewards").mkdir(parents=True)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_text("")
    (folder / "task.toml").write_text("format = 1\n")
    (folder / "rewards" / "human.py").write_text("def reward(s, prev): ...\n")
    return folder


@pytest.fixture
def run(tmp_path, task):
    with RunFolder.create(tmp_path / "runs", "pour_cup", task, SETTINGS) as made:
        yield made


def test_a_new_run_has_its_settings_its_task_and_its_versions(run):
    written = tomllib.loads((run.path / "run.toml").read_text())
    assert written["format"] == 1
    assert written["task"] == "pour_cup"
    assert written["settings"] == {"seed": 7, "llm": 'a "model"\nüñ', "ppo": {"rate": 1e-3, "layers": [64, 64]}}
    assert written["versions"]["python"] == sys.version.split()[0]
    assert run.info == written
    copied = sorted(str(file.relative_to(run.task_folder)) for file in run.task_folder.rglob("*"))
    assert copied == ["rewards", "rewards/human.py", "task.toml"]
    assert run.name.endswith("-pour_cup")


def test_runs_of_the_same_second_get_different_folders(tmp_path, task):
    runs = [RunFolder.create(tmp_path / "runs", "pour_cup", task, {}) for _ in range(4)]
    assert len({run.path for run in runs}) == 4


def test_a_run_that_cannot_be_made_leaves_nothing(tmp_path):
    with pytest.raises(StoreError, match="cannot copy .*is missing"):
        RunFolder.create(tmp_path / "runs", "pour_cup", tmp_path / "no_task", {})
    assert list((tmp_path / "runs").iterdir()) == []


def test_runs_inside_the_task_would_be_copied_into_themselves_and_are_refused(task):
    with pytest.raises(StoreError, match="lies inside the task folder"):
        RunFolder.create(task / "runs", "pour_cup", task, {})


def test_a_runs_folder_that_cannot_be_made_is_said_in_words(tmp_path, task):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write .*: not a directory"):
        RunFolder.create(tmp_path / "file" / "runs", "pour_cup", task, {})


def test_a_run_of_another_format_is_refused(run):
    (run.path / "run.toml").write_text("format = 2\n")
    with pytest.raises(StoreError, match="has format 2, this program reads format 1"):
        RunFolder.open(run.path)
    (run.path / "run.toml").write_text("format = [\n")
    with pytest.raises(StoreError, match="damaged"):
        RunFolder.open(run.path)


def test_events_come_back_in_order(run):
    events = [Event("note", {"text": f"n{n} é\n"}, float(n)) for n in range(3)]
    for event in events:
        run.journal(event)
    assert run.events() == events
    assert RunFolder.open(run.path).events() == events


def test_a_torn_last_line_is_left_out_and_the_next_event_survives_it(run):
    run.journal(Event("note", {"text": "first"}, 1.0))
    with (run.path / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind": "note", "ti')
    assert [event.data["text"] for event in run.events()] == ["first"]
    run.journal(Event("note", {"text": "second"}, 2.0))
    assert [event.data["text"] for event in run.events()] == [
        "first",
        "line 2 of journal.jsonl is damaged and was skipped",
        "second",
    ]


@pytest.mark.parametrize("line", [b"\x00" * 40, b"\xff\xfe", b"[1, 2]", b"3", b'{"kind": 5}', b"[" * 100_000])
def test_a_damaged_line_in_the_middle_is_skipped_with_a_note(run, line):
    run.journal(Event("note", {"text": "first"}, 1.0))
    with (run.path / "journal.jsonl").open("ab") as file:
        file.write(line + b"\n")
    run.journal(Event("run_finished", {}, 2.0))
    assert [event.kind for event in run.events()] == ["note", "note", "run_finished"]


def test_every_cut_of_the_journal_gives_a_beginning_of_its_events(run):
    events = [Event("note", {"text": f"n{n}"}, float(n)) for n in range(4)]
    for event in events:
        run.journal(event)
    whole = (run.path / "journal.jsonl").read_bytes()
    for cut in range(len(whole)):
        (run.path / "journal.jsonl").write_bytes(whole[:cut])
        found = run.events()
        assert found == events[: len(found)]
        assert len(found) >= whole[:cut].count(b"\n")


def test_threads_do_not_mix_their_lines(run):
    def write(name):
        for n in range(20):
            run.journal(Event("note", {"text": f"{name}{n}" * 50}))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(run.events()) == 60
    assert all("damaged" not in event.data["text"] for event in run.events())


def test_candidate_files_come_back(run):
    run.write_text("g01c01", "reward.py", "def reward(s, prev): ...\n")
    run.write_json("g01c01", "result.json", {"x": float("nan"), "y": [1.5, (2, 3)]})
    run.append_jsonl("g01c01", "curves.jsonl", {"step": 1})
    run.append_jsonl("g01c01", "curves.jsonl", {"step": 2})
    assert run.read_candidate("g01c01", "reward.py") == "def reward(s, prev): ...\n"
    assert run.read_candidate("g01c01", "result.json") == {"x": None, "y": [1.5, [2, 3]]}
    assert run.read_candidate("g01c01", "curves.jsonl") == [{"step": 1}, {"step": 2}]
    assert run.read_candidate("g01c01", "prompt.md") is None
    assert run.read_candidate("g09c09", "prompt.md") is None
    assert run.candidates() == ["g01c01"]
    assert run.finished() == ["g01c01"]


def test_a_damaged_candidate_file_is_named(run):
    run.write_text("g01c01", "result.json", "{")
    with pytest.raises(StoreError, match=r"g01c01/result\.json is damaged"):
        run.read_candidate("g01c01", "result.json")


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", ".lock", "a\nb", "a b"])
def test_no_name_leads_out_of_the_run(run, name):
    with pytest.raises(StoreError, match="is no candidate id"):
        run.candidate(name)
    with pytest.raises(StoreError, match="is no candidate id"):
        run.write_text("g01c01", name, "")


def test_a_ranking_comes_back_equal(run):
    assert run.read_ranking() is None
    fit = Fit(0.9, (0.8, 1.0), 64, 3)
    winner = Candidate(
        "g01c01", 1, "trained", None, fit, None, [], {"value": 1.0}, [], None, [Flag("f", 1, 2)], "h", "r"
    )
    loser = Candidate("g01c02", None, "rejected", "why", None, None, [], None, ["g01c01"], None, [], None, None)
    ranking = Ranking(
        task="t",
        task_hash="h",
        goal="g",
        proposer="offline",
        models=["m"],
        seed=1,
        device="cpu",
        engine="batch",
        wall_s=1.5,
        spend=Spend(1, None, 0.5, 10),
        fitness={"name": "x"},
        baselines={"human": fit, "sparse": None},
        candidates=[winner, loser],
    )
    run.write_ranking(ranking)
    assert run.read_ranking() == ranking
    assert next(iter(json.loads(run.ranking_path.read_text()))) == "format"


@pytest.mark.parametrize(
    ("damage", "words"),
    [("{}", "format"), ('{"format": 1}', "'task' is missing"), ("[", "damaged"), ('{"format": 9}', "format is 9")],
)
def test_a_damaged_ranking_is_said_in_words(run, damage, words):
    run.ranking_path.write_text(damage)
    with pytest.raises(StoreError, match=words):
        run.read_ranking()


def test_a_second_writer_is_refused_by_the_process_id_of_the_first(run):
    other = RunFolder.open(run.path)
    with pytest.raises(StoreError, match=f"process {os.getpid()} is writing to"):
        other.journal(Event("note", {"text": "x"}))
    assert other.events() == []
    assert other.writer() == str(os.getpid())
    run.close()
    assert other.writer() is None
    other.journal(Event("note", {"text": "x"}))
    assert len(run.events()) == 1
    other.close()


def test_a_writer_in_another_process_is_seen_and_its_death_frees_the_run(run):
    run.close()
    program = f"""
from eureka_lite.store.run import RunFolder
run = RunFolder.open({str(run.path)!r})
run.lock()
print("locked", flush=True)
input()
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"locked\n"
    assert run.writer() == str(child.pid)
    with pytest.raises(StoreError, match=f"process {child.pid} is writing"):
        run.lock()
    child.kill()
    child.communicate()
    run.lock()


def test_a_full_journal_says_what_is_safe(run):
    run.write_json("g01c01", "result.json", {})
    (run.path / "journal.jsonl").unlink()
    (run.path / "journal.jsonl").symlink_to("/dev/full")
    with pytest.raises(DiskFullError, match=r"the disk is full: .*free space and run again; 1 finished candidate"):
        run.journal(Event("note", {"text": "x"}))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 128 KiB; needs the right to mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs root to mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_loses_nothing_that_was_written(small_disk, task):
    with RunFolder.create(small_disk / "runs", "pour_cup", task, {}) as run:
        run.write_text("g01c01", "reward.py", "old")
        run.write_json("g01c01", "result.json", {"status": "trained"})
        written = 0
        with pytest.raises(DiskFullError, match="1 finished candidate"):
            for written in range(10_000):
                run.journal(Event("note", {"text": f"{written}" + "x" * 500}, 1.0))
        assert [event.data["text"].rstrip("x") for event in run.events()] == [str(n) for n in range(written)]
        with pytest.raises(DiskFullError):
            run.write_text("g01c01", "reward.py", "new" * 5000)
        assert run.read_candidate("g01c01", "reward.py") == "old"
        assert not [file for file in run.path.rglob("*.tmp")]


def test_a_task_that_does_not_fit_on_the_disk_leaves_no_run(small_disk, task):
    (task / "mesh.bin").write_bytes(b"x" * 300_000)
    with pytest.raises(DiskFullError, match="the disk is full"):
        RunFolder.create(small_disk / "runs", "pour_cup", task, {})
    assert list((small_disk / "runs").iterdir()) == []


def test_the_store_imports_neither_learner_nor_simulator():
    program = (
        "import sys, eureka_lite.store.run; print(sorted({'torch', 'warp', 'mujoco', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"
