from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from eureka_lite.report.columns import Column, bar, cropped, joined, padded, rule, table
from eureka_lite.report.text import ASCII

TEXT = st.text(st.sampled_from("ab 日é\u0301"), max_size=30)


def plain(lines):
    return [line.plain for line in lines]


def test_a_text_that_is_too_long_ends_in_an_ellipsis():
    assert cropped(Text("abcdef"), 4).plain == "abc…"
    assert cropped(Text("abcdef"), 4, ASCII).plain == "abc~"
    assert cropped(Text("abc"), 3).plain == "abc"
    assert cropped(Text("日本日本"), 5).cell_len == 5
    assert padded(Text("7"), 3, right=True).plain == "  7"


@given(TEXT, st.integers(0, 20))
def test_a_padded_text_has_exactly_its_width(text, width):
    assert padded(Text(text), width).cell_len == width


def test_the_least_important_columns_go_first():
    columns = [
        Column("id", [Text("a")]),
        Column("name", [Text("n" * 10)], drop=2),
        Column("more", [Text("m" * 10)], drop=1),
    ]
    assert plain(table(columns, 40)) == ["id  name        more", "a   nnnnnnnnnn  mmmmmmmmmm"]
    assert plain(table(columns, 20)) == ["id  more", "a   mmmmmmmmmm"]
    assert plain(table(columns, 5)) == ["id", "a"]


def test_a_column_that_may_be_squeezed_is_squeezed_before_it_is_cropped_away():
    columns = [Column("id", [Text("a")]), Column("note", [Text("a long remark")], minimum=6)]
    assert plain(table(columns, 12)) == ["id  note", "a   a long…"]


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=4), st.integers(1, 60))
def test_no_line_of_a_table_is_too_wide(rows, width):
    cells = list(zip(*rows, strict=True)) or [[], [], []]
    columns = [
        Column(f"c{n}", [Text(cell) for cell in column], drop=n, minimum=4 * n) for n, column in enumerate(cells)
    ]
    assert all(line.cell_len <= width for line in table(columns, width))


def test_parts_are_left_out_by_importance_and_keep_their_order():
    parts = [(2, Text("task")), (1, Text("proposer")), (3, Text("seed"))]
    assert joined(parts, 40).plain == "task · proposer · seed"
    assert joined(parts, 16).plain == "task · proposer"
    assert joined(parts, 10).plain == "proposer"
    assert joined(parts, 5).plain == "prop…"


def test_only_the_dot_between_parts_is_dim():
    text = joined([(1, Text("best", style="bold")), (2, Text("x"))], 40)
    assert text.style == ""
    assert [(text.plain[span.start : span.end], span.style) for span in text.spans] == [
        ("best", "bold"),
        (" · ", "dim"),
    ]


def test_bars_and_rules_have_their_width():
    assert bar(0.5, 4, "red").plain == "━━──"
    assert bar(7.0, 3, "red").plain == "━━━"
    assert bar(-1.0, 3, "red", ASCII).plain == "---"
    assert rule(12, "next").plain == "── next ────"
    assert rule(5, "too long").cell_len == 5
