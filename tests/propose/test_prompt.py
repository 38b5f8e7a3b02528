"""What a language model is asked."""

import re
import shutil

import pytest

from eureka_lite.propose.prompt import as_markdown, render
from eureka_lite.propose.proposer import Parent, ProposerError
from eureka_lite.resources import prompts_folder
from eureka_lite.reward import check, function_table
from tests.propose.asking import request
from tests.tasks import task

BEST = Parent("g01c03", "def reward(s):\n    return {'best': s.time}\n", "fitness was 0.5", 0.5)
OTHER = Parent("g01c01", "def reward(s):\n    return {'other': s.time}\n", "fitness was 0.2", 0.2)


@pytest.mark.parametrize("name", ["cartpole", "pour_cup"])
def test_the_first_prompt_tells_all_that_is_known(name):
    text = as_markdown(render(request(name, goal="Do it with grace"), prompts_folder()))
    whole = task(name)
    assert "Do it with grace" in text
    for signal in whole.signals:
        line = next(line for line in text.splitlines() if re.search(rf"\b{signal.name}\b", line) and signal.doc in line)
        assert signal.unit in line
    for function in function_table():
        assert function.signature in text
    for entry in whole.randomization:
        assert entry.name in text
    assert whole.fitness.name in text


@pytest.mark.parametrize("name", ["cartpole", "pour_cup"])
def test_the_worked_example_is_a_valid_program_of_the_task(name):
    text = as_markdown(render(request(name), prompts_folder()))
    blocks = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "..." not in block]
    assert len(blocks) == 1
    assert len(check(blocks[0], task(name).signals).outputs) >= 2


def test_the_next_prompt_carries_the_best_reward_its_reflection_and_the_failures():
    asked = request("cartpole", generation=2, parents=(BEST, OTHER), failures=(("g01c02", "unknown signal 'cart'"),))
    text = render(asked, prompts_folder())[1]["content"]
    assert BEST.source.strip() in text
    assert BEST.feedback in text
    assert "g01c01" in text and "0.2" in text
    assert "unknown signal 'cart'" in text


def test_templates_may_be_edited_and_mistakes_in_them_are_named(tmp_path):
    folder = tmp_path / "prompts"
    shutil.copytree(prompts_folder(), folder)
    (folder / "system.j2").write_text("You are a poet. {{ task.goal }}\n")
    assert render(request("cartpole"), folder)[0]["content"] == f"You are a poet. {task('cartpole').goal}\n"
    (folder / "system.j2").write_text("one\n{{ tsak.goal }}\n")
    with pytest.raises(ProposerError, match="system.j2, line 2.*tsak"):
        render(request("cartpole"), folder)
    (folder / "system.j2").write_text("one\n\n{% if %}\n")
    with pytest.raises(ProposerError, match="system.j2, line 3"):
        render(request("cartpole"), folder)
    (folder / "system.j2").unlink()
    with pytest.raises(ProposerError, match="system.j2 is missing"):
        render(request("cartpole"), folder)
