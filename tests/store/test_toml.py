import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eureka_lite.store.toml import to_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.one_of(TEXT, st.integers(), st.booleans(), st.floats(allow_nan=False))
VALUE = st.recursive(
    PLAIN, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)), max_leaves=20
)


@given(st.dictionaries(TEXT, VALUE, max_size=6))
def test_what_is_written_is_read_back_equal(data):
    assert tomllib.loads(to_toml(data)) == data


def test_a_plain_value_after_a_table_does_not_fall_into_the_table():
    assert tomllib.loads(to_toml({"table": {"a": 1}, "b": 2})) == {"table": {"a": 1}, "b": 2}


def test_text_is_written_as_a_person_would():
    assert to_toml({"goal": 'pour "tea"\n', "n": 3, "x": 0.5, "ok": True, "list": [1, 2]}) == (
        'goal = "pour \\"tea\\"\\n"\nn = 3\nx = 0.5\nok = true\nlist = [1, 2]\n'
    )


def test_tables_get_headers_and_odd_keys_quotes():
    assert to_toml({"a": 1, "b": {"c d": 2, "e": {}}}) == 'a = 1\n\n[b]\n"c d" = 2\n\n[b.e]\n'


def test_none_is_left_out_and_a_path_is_its_text():
    assert tomllib.loads(to_toml({"a": None, "b": {"c": None}, "p": Path("x/y")})) == {"b": {}, "p": "x/y"}


def test_none_in_a_list_is_refused_with_its_place():
    with pytest.raises(TypeError, match=r"settings\.sizes\.1"):
        to_toml({"settings": {"sizes": [1, None]}})


def test_a_number_type_of_another_library_is_written_as_a_number():
    class Odd(float):
        def __repr__(self):
            return f"Odd({float(self)})"

    assert to_toml({"x": Odd(1.5)}) == "x = 1.5\n"


def test_a_lone_surrogate_does_not_break_the_file():
    assert tomllib.loads(to_toml({"x": "a\ud800b"})) == {"x": "a\ufffdb"}
