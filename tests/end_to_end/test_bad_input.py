"""Wrong input: one clear line, the right exit code, and nothing started."""

import resource
import shutil
import socket
import subprocess
import sys

import pytest

from eureka_lite.resources import tasks_folder
from tests.chat_server import error, serving
from tests.end_to_end.command import TINY, environment, only_run, run

FAILED, USAGE = 1, 2


def refused(cwd, *arguments, code=USAGE, **env):
    """The complaint of a command that has to fail, as one string."""
    return " ".join(run(cwd, *arguments, code=code, **env).stderr.split())


def test_a_goal_that_means_no_task_lists_the_tasks(tmp_path):
    said = refused(tmp_path, "design", "bake a cake")
    assert "cartpole" in said and "pour_cup" in said and "--task" in said
    assert not (tmp_path / "runs").exists()


def test_an_unknown_task_names_the_nearest(tmp_path):
    assert "did you mean 'cartpole'" in refused(tmp_path, "design", "balance it", "--task", "cartpol")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('unit = "m/s"', 'unti = "m/s"', ("task.toml", "unti", "unit")),
        ("episode_s", "episode_seconds", ("task.toml", "episode_seconds", "episode_s")),
        ("[fitness]", "[fitness", ("task.toml", "line")),
    ],
    ids=["unknown key of a signal", "unknown key of control", "not TOML"],
)
def test_a_broken_task_file_says_file_key_and_nearest_name(tmp_path, old, new, parts):
    shutil.copytree(tasks_folder() / "cartpole", tmp_path / "mine")
    text = (tmp_path / "mine" / "task.toml").read_text()
    assert old in text
    (tmp_path / "mine" / "task.toml").write_text(text.replace(old, new, 1))
    said = refused(tmp_path, "design", "balance the pole", "--task", "./mine")
    assert all(part in said for part in parts), said
    assert not (tmp_path / "runs").exists()


def test_a_broken_function_of_a_task_is_shown_before_anything_starts(tmp_path):
    shutil.copytree(tasks_folder() / "cartpole", tmp_path / "mine")
    functions = tmp_path / "mine" / "functions.py"
    functions.write_text(functions.read_text().replace("s.pole_angle", "s.pole_angel"))
    said = refused(tmp_path, "design", "balance the pole", "--task", "./mine")
    assert "functions.py" in said and "did you mean 'pole_angle'" in said
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--candidates", "0"), "--candidates"),
        (("--candidates", "many"), "--candidates"),
        (("--generations", "-1"), "--generations"),
        (("--worlds", "0"), "--worlds"),
        (("--steps", "0"), "--steps"),
        (("--seed", "-3"), "--seed"),
        (("--threads", "0"), "--threads"),
        (("--preset", "huge"), "quick"),
        (("--base-url", "http://127.0.0.1:1/v1"), "--llm"),
        (("--prompts", "nowhere"), "nowhere"),
        (("--candidate", "2"), "--candidates"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_values_of_options(tmp_path, options, named):
    assert named in refused(tmp_path, "design", "balance the pole", *options)
    assert not (tmp_path / "runs").exists()


def test_an_endpoint_that_nobody_answers_at(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    options = ("--llm", "m", "--base-url", url)
    said = refused(tmp_path, "design", "balance the pole", *TINY, *options, code=FAILED, OPENAI_API_KEY="x")
    assert url in said and "reach" in said
    assert not list((tmp_path / "runs").glob("*/candidates/*")) if (tmp_path / "runs").exists() else True


def test_a_key_that_is_refused_or_missing(tmp_path):
    with serving(lambda asked: error(401, "Incorrect API key provided")) as server:
        options = (*TINY, "--llm", "m", "--base-url", server.url)
        said = refused(tmp_path, "design", "balance the pole", *options, code=FAILED, OPENAI_API_KEY="sk-wrong-1")
        assert "key" in said and "sk-wrong-1" not in said
        assert len(server.asked) == 1
    assert "OPENAI_API_KEY" in refused(tmp_path, "design", "balance the pole", "--llm", "gpt-x", code=FAILED)


def test_an_output_folder_that_is_a_file_or_inside_one(tmp_path):
    (tmp_path / "file").write_text("")
    for out in ("file", "file/inner"):
        said = refused(tmp_path, "design", "balance the pole", *TINY, "--out", out, code=FAILED)
        assert "file" in said and "write" in said


def test_an_output_folder_that_nothing_can_be_written_to(tmp_path):
    said = refused(tmp_path, "design", "balance the pole", *TINY, "--out", "/proc/runs", code=FAILED)
    assert "/proc/runs" in said


def test_files_that_cannot_grow_end_the_run_and_keep_what_was_finished(tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    command = [sys.executable, "-m", "eureka_lite", "design", "balance the pole", *TINY]
    env = environment(PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, cwd=tmp_path, env=env, text=True, capture_output=True, preexec_fn=small_files,
                          timeout=300, stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == FAILED
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1 and "cannot write" in done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert run(tmp_path, "review", str(folder)).stdout


def test_what_is_not_there_to_review_or_evaluate(tmp_path):
    assert "runs" in refused(tmp_path, "review", code=FAILED)
    assert "no-such-run" in refused(tmp_path, "evaluate", "no-such-run", "g01c01", code=FAILED)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"def reward(s):\n    return {'a': s.pole_angel}\n", b""])
def test_a_broken_human_reward_is_named_where_it_lies_before_anything_starts(tmp_path, content):
    shutil.copytree(tasks_folder() / "cartpole", tmp_path / "mine")
    (tmp_path / "mine" / "rewards" / "human.py").write_bytes(content)
    (tmp_path / "r.py").write_text("def reward(s):\n    return s.pole_angle\n")
    for arguments in (("design", "balance the pole", *TINY), ("check", "r.py")):
        assert "mine/rewards/human.py" in refused(tmp_path, *arguments, "--task", "./mine")
    assert not (tmp_path / "runs").exists()


def test_a_damaged_run_is_one_line(tmp_path):
    small = (*TINY, "--generations", "1", "--final-seeds", "1")
    run(tmp_path, "design", "balance the pole", *small)
    folder = only_run(tmp_path)
    assert "no reward program of 'sparse'" in refused(
        tmp_path, "export", "last", "sparse", "--reward", "numpy", code=FAILED
    )
    (folder / "candidates" / "g01c01" / "reward.py").write_bytes(b"\xff")
    assert "damaged" in refused(tmp_path, "export", "last", "g01c01", "--reward", "numpy", code=FAILED)
    shutil.rmtree(folder / "task")
    assert "task is gone" in refused(tmp_path, "evaluate", "last", "g01c02", code=FAILED)
