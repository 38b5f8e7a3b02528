"""The page of the language is what its table says."""

from eureka_lite.reward import function_table
from eureka_lite.reward.page import page
from tests.end_to_end.command import ROOT


def test_the_page_is_not_stale():
    assert (ROOT / "docs" / "language.md").read_text() == page(), (
        "run python -m eureka_lite.reward.page > docs/language.md"
    )


def test_every_function_is_on_it():
    assert [f.name for f in function_table() if f"| `{f.signature}` |" not in page()] == []
