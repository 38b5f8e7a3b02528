import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from eureka_lite.report.evidence import Entry
from eureka_lite.report.review import _human_is_better, review
from eureka_lite.store.files import StoreError
from eureka_lite.store.formats import Fit
from eureka_lite.store.run import RunFolder

from .script import GOAL, folder


def reviewed(run, width=80, code=None):
    file = io.StringIO()
    review(RunFolder.open(run.path), Console(file=file, width=width, _environ={}), code)
    return file.getvalue()


def test_a_finished_run_is_ranked_with_its_evidence(tmp_path):
    run = folder(tmp_path)
    text = reviewed(run)
    assert GOAL in text
    assert "task pour_cup · proposer: offline grammar (no language model) · seed 7" in text
    assert "finished in 13:32 · 2.4M world-steps · no tokens: offline" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["1", "g01c02", "0.912", "[0.882,", "0.942]", "0.897", "[0.860,", "0.930]", "1.070", "g01c01"] in lines
    assert ["-", "human", "0.850", "[0.820,", "0.880]", "0.840", "[0.800,", "0.880]"] in lines
    assert ["-", "sparse", "0.120", "[0.090,", "0.150]"] in lines
    assert "selection: 64 worlds, 1 training seed each; the interval says nothing of other seeds" in text
    assert "test: 128 worlds, 3 training seeds each" in text
    assert "g01c03  rejected  line 4: unknown function 'tanh2'; did you mean tanh?" in text
    assert ["g01c01", "fitness_falls", "0.300", "0.200"] in lines
    assert "near = exp(-norm(s.lip_pos - s.target_pos) / 0.06)" in text
    assert f"evaluate {run.path} g01c02 --split test" in text
    assert "missing" not in text


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_tables_keep_to_the_width(tmp_path, width):
    run = folder(tmp_path)
    for code in (None, "g01c02"):
        text = reviewed(run, width, code)
        tables = [
            line for line in text.splitlines() if line.lstrip().startswith(("rank", "1 ", "- ", "term", "reach", "──"))
        ]
        assert len(tables) >= 5
        assert all(cell_len(line) <= width for line in tables)


def test_a_wide_review_has_all_columns(tmp_path):
    head = next(line for line in reviewed(folder(tmp_path), 160).splitlines() if "rank " in line)
    assert head.split("  ") == [word for word in head.split("  ")]
    for title in ("rank", "id", "status", "selection", "test", "tied with", "of human", "parents", "terms"):
        assert title in head


def test_one_candidate_is_shown_with_what_its_terms_did(tmp_path):
    text = reviewed(folder(tmp_path), code="g01c02")
    lines = [line.split() for line in text.splitlines()]
    assert "reward of g01c02" in text
    assert "trained · rank 1" in text
    assert ["reach", "75%", "0.000", "0.900", "0.000", "2.000", "▁▁▂▃▄▅▆▇██"] in lines
    assert ["gain", "25%", "0.020", "0.020", "-1.500", "1.000", "▅▅▅▅▅▅▅▅▅▅"] in lines
    assert "episodes ended: 20% terminated, 80% time out" in text


def test_an_unknown_candidate_is_refused_with_those_there_are(tmp_path):
    run = folder(tmp_path)
    with pytest.raises(StoreError, match="has no candidate 'g09c09'; it has g01c02, g01c01"):
        reviewed(run, code="g09c09")
    with pytest.raises(StoreError, match="is no candidate id"):
        reviewed(run, code="../../etc")


def test_a_run_that_broke_off_is_ranked_by_what_was_measured(tmp_path):
    run = folder(tmp_path, finished=False)
    text = reviewed(run)
    assert "UNFINISHED: generation 1 of 2, final verdict" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["1", "g01c02", "0.912", "[0.882,", "0.942]", "trained", "reach,", "gain"] in lines
    assert ["2", "g01c01", "0.500", "[0.470,", "0.530]", "trained", "reach,", "gain"] in lines
    assert f"eureka-lite review {run.path} --code g01c01" in text


def test_less_is_better_where_the_task_says_so(tmp_path):
    run = folder(tmp_path, finished=False)
    (run.task_folder / "task.toml").write_text('[fitness]\ndirection = "min"\n')
    text = reviewed(run)
    assert text.index("1  g01c01") < text.index("2  g01c02")


def test_a_run_that_goes_on_says_so(tmp_path):
    run = folder(tmp_path, finished=False)
    run.lock()
    text = reviewed(run)
    run.close()
    assert "RUNNING: process" in text


def test_a_new_run_can_be_reviewed(tmp_path):
    (tmp_path / "task").mkdir()
    with RunFolder.create(tmp_path / "runs", "x", tmp_path / "task", {"seed": 3}) as run:
        pass
    text = reviewed(run)
    assert "UNFINISHED" in text
    assert "nothing is ranked yet" in text
    assert "seed 3" in text


def damage_ranking(run):
    run.ranking_path.write_text('{"format": 1, "task"')


def damage_journal(run):
    (run.path / "journal.jsonl").write_bytes(b"\xff\xfe\n{}\n[]\n")


def damage_result(run):
    (run.path / "candidates" / "g01c02" / "result.json").write_text("{")


def remove_journal(run):
    (run.path / "journal.jsonl").unlink()


def remove_code(run):
    (run.path / "candidates" / "g01c02" / "reward.py").unlink()


def remove_ranking(run):
    run.ranking_path.unlink()


@pytest.mark.parametrize(
    ("damage", "code", "words"),
    [
        (damage_ranking, None, "ranking.json is damaged"),
        (remove_ranking, None, "ranking.json is missing"),
        (damage_journal, None, "line 1 of journal.jsonl is damaged"),
        (remove_journal, None, "journal.jsonl: it or its folder is missing"),
        (remove_code, None, "reward.py is missing or damaged"),
        (damage_result, "g01c02", "result.json is damaged"),
    ],
)
def test_what_is_damaged_is_named_and_the_rest_is_shown(tmp_path, damage, code, words):
    run = folder(tmp_path)
    damage(run)
    text = reviewed(run, code=code)
    assert "missing or damaged" in text
    assert words in text
    assert "g01c02" in text
    assert "0.912" in text


def test_the_candidates_alone_are_enough_for_a_ranking(tmp_path):
    run = folder(tmp_path)
    remove_journal(run)
    remove_ranking(run)
    assert "1  g01c02  0.912 [0.882, 0.942]" in reviewed(run)


def test_results_of_the_wrong_shape_do_no_harm(tmp_path):
    run = folder(tmp_path, finished=False)
    run.write_json("g01c02", "result.json", {"components": [1], "curve": 3, "endings": 5, "selection": {"mean": "x"}})
    run.write_json("g01c01", "result.json", [1, 2])
    for code in (None, "g01c02", "g01c01"):
        assert (code or "g01c02") in reviewed(run, code=code)


def test_hostile_code_and_reasons_stay_text(tmp_path):
    run = folder(tmp_path, finished=False)
    run.write_text("g01c02", "reward.py", "# \x1b]0;owned\x07[bold]x[/bold]\ndef reward(s, prev):\n    return {}\n")
    text = reviewed(run)
    run.close()
    assert "\x1b" not in text
    assert "owned" not in text
    assert "# [bold]x[/bold]\ndef reward" in text


@pytest.mark.parametrize(("human", "sparse", "less", "better"), [(0.9, 0.1, False, True), (0.9, 0.95, False, False), (0.1, 0.9, True, True), (0.9, 0.1, True, False)])  # fmt: skip
def test_the_normalized_score_is_left_out_where_the_sparse_reward_is_better(human, sparse, less, better):
    entries = [
        Entry(id, "trained", test=Fit(mean, (mean, mean), 8, 1)) for id, mean in (("human", human), ("sparse", sparse))
    ]
    assert _human_is_better(entries, less) is better
