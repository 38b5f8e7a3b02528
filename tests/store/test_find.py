from pathlib import Path

import pytest

from eureka_lite.store.files import StoreError
from eureka_lite.store.find import find_run


@pytest.fixture
def root(tmp_path):
    for name, created in (
        ("20260101-a", "2026-01-01T10"),
        ("20260102-b", "2026-01-03T10"),
        ("20260102-c", "2026-01-02"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.toml").write_text(f'format = 1\ncreated = "{created}"\n')
    (tmp_path / "20260109-half_made").mkdir()
    return tmp_path


@pytest.mark.parametrize("text", ["20260102-c", "20260102-c/", "20260101", "last"])
def test_a_run_is_found_by_name_beginning_and_last(root, text, monkeypatch):
    monkeypatch.chdir(root)
    wanted = {"20260102-c": "20260102-c", "20260102-c/": "20260102-c", "20260101": "20260101-a", "last": "20260102-b"}
    assert find_run(text, root).name == wanted[text]


def test_a_path_is_taken_as_it_is(root):
    assert find_run(str(root / "20260101-a"), Path("elsewhere")) == root / "20260101-a"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("20260102", "could be 20260102-b, 20260102-c: type more"),
        ("x", "there is no run 'x' in .*: it holds 20260102-c, 20260102-b, 20260101-a"),
        ("", "there is no run ''"),
        ("20260109", "there is no run"),
        ("\0", "there is no run"),
    ],
)
def test_what_is_no_run_is_said_in_words(root, text, words):
    with pytest.raises(StoreError, match=words):
        find_run(text, root)


def test_a_folder_that_is_no_run_and_a_place_without_runs_are_said_in_words(root, tmp_path):
    with pytest.raises(StoreError, match="is no run: it has no run.toml"):
        find_run(str(root / "20260109-half_made"), root)
    with pytest.raises(StoreError, match="holds no runs yet"):
        find_run("last", tmp_path / "nothing")
