"""Whole runs: propose, check, train, measure, reflect, rank."""

import json
import subprocess
import sys

import pytest

from eureka_lite.resources import tasks_folder
from tests.chat_server import completion, serving
from tests.end_to_end.command import ROOT, TINY, environment, events, only_run, ranking, run

FIT = {"mean", "ci95", "worlds", "training_seeds"}


@pytest.fixture(
    scope="module", params=[("balance the pole", "cartpole"), ("pour a cup", "pour_cup")], ids=["cartpole", "pour_cup"]
)
def finished(request, tmp_path_factory):
    goal, task = request.param
    cwd = tmp_path_factory.mktemp(task)
    done = run(cwd, "design", goal, *TINY, "--seed", "1")
    return task, goal, cwd, only_run(cwd), done.stdout


def test_it_ends_with_a_ranking_of_the_stated_form(finished):
    task, goal, _, folder, _ = finished
    found = ranking(folder)
    assert list(found) == ["format", "task", "task_hash", "goal", "proposer", "models", "seed", "device", "engine", "wall_s",
                           "spend", "fitness", "baselines", "candidates"]  # fmt: skip
    assert (found["format"], found["task"], found["goal"], found["proposer"]) == (1, task, goal, "offline")
    assert found["spend"]["usd"] is None and found["spend"]["prompt_tokens"] is None
    assert found["spend"]["world_steps"] > 4 * 3000
    assert set(found["baselines"]) == {"human", "sparse"}
    assert all(set(fit) == FIT and fit["training_seeds"] == 2 for fit in found["baselines"].values())
    assert len(found["candidates"]) == 4
    for row in found["candidates"]:
        assert list(row) == ["id", "rank", "status", "reason", "selection", "test", "tied_with", "human_normalized",
                             "parents", "stopped_at_step", "flags", "hash", "reward"]  # fmt: skip
        assert row["status"] in ("trained", "duplicate")
        assert (row["rank"] is None) == (row["status"] != "trained")
    ranked = [row for row in found["candidates"] if row["rank"]]
    assert [row["rank"] for row in ranked] == list(range(1, len(ranked) + 1))
    tested = [row for row in ranked if row["test"]]
    assert tested == ranked[:3]
    means = [row["test"]["mean"] for row in tested]
    assert means == sorted(means, reverse=True)
    low, high = found["fitness"]["range"]
    assert all(low <= row["selection"]["mean"] <= high for row in ranked)


def test_every_file_of_a_candidate_is_there(finished):
    _, _, _, folder, _ = finished
    for row in ranking(folder)["candidates"]:
        files = {path.name for path in (folder / "candidates" / row["id"]).iterdir()}
        wanted = {"prompt.md", "reply.md", "reward.py", "check.json"}
        if row["rank"]:
            wanted |= {"curves.jsonl", "result.json", "feedback.md", "policy.safetensors"}
        assert wanted <= files
        if row["rank"]:
            curve = (folder / "candidates" / row["id"] / "curves.jsonl").read_text().splitlines()
            assert len(curve) == 10
            assert set(json.loads(curve[0])["components"]) == set(json.loads(curve[-1])["components"])
    for baseline in ("human", "sparse"):
        assert (folder / "candidates" / baseline / "policy.safetensors").is_file()
    assert (folder / "task" / "task.toml").read_text() == (tasks_folder() / finished[0] / "task.toml").read_text()


def test_the_reflection_tells_what_happened(finished):
    task, _, _, folder, _ = finished
    first = next(row for row in ranking(folder)["candidates"] if row["rank"])
    feedback = (folder / "candidates" / first["id"] / "feedback.md").read_text()
    fitness = ranking(folder)["fitness"]["name"]
    assert fitness in feedback
    for component in json.loads((folder / "candidates" / first["id"] / "check.json").read_text())["components"]:
        assert component in feedback
    assert ("pole_angle" if task == "cartpole" else "lip_pos") in feedback


def test_the_screen_ends_with_table_code_and_next_commands(finished):
    _, _, _, folder, out = finished
    first = next(row for row in ranking(folder)["candidates"] if row["rank"] == 1)
    assert f"reward of {first['id']}" in out
    assert "def reward(s" in out
    assert f"eureka-lite evaluate runs/{folder.name} {first['id']} --split test" in out


def test_review_prints_the_same_again(finished):
    _, _, cwd, folder, out = finished
    for name in ("last", folder.name, f"runs/{folder.name}"):
        again = run(cwd, "review", name).stdout
        assert again.strip() in out
    first = next(row for row in ranking(folder)["candidates"] if row["rank"] == 1)
    assert "what its terms did" in run(cwd, "review", "--code", first["id"]).stdout or first["id"] in again


def test_evaluate_measures_the_verdict_again(finished):
    _, _, cwd, folder, _ = finished
    row = next(row for row in ranking(folder)["candidates"] if row["rank"] == 1)
    again = json.loads(run(cwd, "evaluate", "last", row["id"], "--json").stdout)
    assert again == row["test"]
    one = json.loads(
        run(cwd, "evaluate", "last", f"{row['id']}@2", "--split", "selection", "--worlds", "16", "--json").stdout
    )
    assert set(one) == FIT
    assert (one["worlds"], one["training_seeds"]) == (16, 1)
    assert "2 training seeds" in run(cwd, "evaluate", "last", row["id"]).stdout


def test_the_same_seed_gives_the_same_ranking_to_the_last_digit(finished, tmp_path):
    _, goal, _, folder, _ = finished
    run(tmp_path, "design", goal, *TINY, "--seed", "1", "--threads", "1")
    first, second = ranking(folder), ranking(only_run(tmp_path))
    assert first.pop("wall_s") != second.pop("wall_s")
    assert first == second


def test_events_as_json_lines(tmp_path):
    done = run(tmp_path, "design", "balance the pole", *TINY, "--generations", "1", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds[0] == "run_started" and kinds[-1] == "run_finished"
    assert kinds.count("candidate_finished") == 4


REPLIES = [
    "I'd pay for time upright.\n```python\ndef reward(s):\n    return {'alive': 1.0, 'center': -0.1 * s.cart_pos ** 2}\n```",
    "```python\ndef reward(s):\n    return {'alive': s.pole_angel}\n```",
    "I am sorry, I cannot do that.",
    "```python\ndef reward(s):\n    return {'up': cos(s.pole_angle), 'root': sqrt(0.02 - s.time)}\n```",
]  # fmt: skip


def test_a_model_behind_a_local_endpoint(tmp_path):
    key = "sk-local-secret-4711"
    options = [*TINY, "--candidates", "4", "--llm", "local-model", "--concurrency", "1"]
    # the first request is the probe
    with serving(lambda a: completion("yes" if a.number == 0 else REPLIES[(a.number - 1) % 4])) as server:
        done = run(tmp_path, "design", "balance the pole", *options, "--base-url", server.url, OPENAI_API_KEY=key)
        prompts = [asked.body["messages"] for asked in server.asked[1:]]
    folder = only_run(tmp_path)
    found = ranking(folder)
    rows = {row["id"]: row for row in found["candidates"]}
    assert (found["proposer"], found["models"]) == ("llm", ["local-model"])
    assert found["spend"]["prompt_tokens"] == 8 * 100 and found["spend"]["completion_tokens"] == 8 * 20
    assert [rows[f"g01c0{i}"]["status"] for i in range(1, 5)] == ["trained", "rejected", "rejected", "failed"]
    assert "did you mean 'pole_angle'" in rows["g01c02"]["reason"]
    assert "reward component 'root'" in rows["g01c04"]["reason"]
    assert rows["g02c01"]["status"] == "duplicate" and "g01c01" in rows["g02c01"]["reason"]
    second = prompts[4][1]["content"]
    assert REPLIES[0].split("```python\n")[1].split("```")[0].strip() in second
    assert "pole_angel" in second and "root" in second
    assert "def reward" in (folder / "candidates" / "g01c01" / "reply.md").read_text()
    assert key not in done.stdout + done.stderr
    for path in folder.rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes()
    replies = [event for event in events(folder) if event["kind"] == "reply_received"]
    assert len(replies) == 8


def test_replies_of_a_run_can_be_replayed(tmp_path):
    run(tmp_path, "design", "balance the pole", *TINY, "--out", "first")
    (first,) = (tmp_path / "first").glob("*-cartpole")
    run(tmp_path, "design", "balance the pole", *TINY, "--llm", f"replay:{first}")
    before, after = ranking(first), ranking(only_run(tmp_path))
    assert [row["hash"] for row in before["candidates"]] == [row["hash"] for row in after["candidates"]]
    assert [row["test"] for row in before["candidates"]] == [row["test"] for row in after["candidates"]]


def test_an_installed_wheel_runs_in_an_empty_folder(tmp_path):
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)], check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True, timeout=300)
    script = site / "bin" / "eureka-lite"
    env = environment() | {"PYTHONPATH": str(site)}
    done = subprocess.run([str(script), "design", "balance the pole", *TINY], cwd=empty, env=env, text=True,
                          capture_output=True, timeout=300, stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ranking(only_run(empty))["task"] == "cartpole"
    where = subprocess.run([sys.executable, "-c", "import eureka_lite, eureka_lite.resources as r; print(r.tasks_folder(), r.prompts_folder())"],
                           cwd=empty, env=env, text=True, capture_output=True, check=True).stdout  # fmt: skip
    assert where.split() == [str(site / "eureka_lite" / "tasks"), str(site / "eureka_lite" / "prompts")]
