"""A goal text finds its task."""

import shutil

import pytest

from eureka_lite.resources import tasks_folder
from eureka_lite.task.find import GoalError, find_task, list_tasks


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("pour a cup", "pour_cup"),
        ("Pour water into the other cup", "pour_cup"),
        ("POURING TEA!", "pour_cup"),
        ("balance the pole", "cartpole"),
        ("keep the inverted pendulum upright", "cartpole"),
        ("cartpole", "cartpole"),
        ("pour_cup", "pour_cup"),
    ],
)
def test_goals(goal, name):
    assert find_task(goal, tasks_folder()).name == name


@pytest.mark.parametrize("goal", ["fold a shirt", "", "the a of", "éàü 你好", "the cup and the pole"])
def test_a_goal_without_a_task_lists_those_there_are(goal):
    with pytest.raises(GoalError) as caught:
        find_task(goal, tasks_folder())
    text = str(caught.value)
    assert "cartpole" in text and "pour_cup" in text and "--task" in text


def test_a_task_by_name_by_folder_and_with_a_typing_error(tmp_path):
    assert find_task("whatever", tasks_folder(), "cartpole").name == "cartpole"
    own = tmp_path / "mine"
    shutil.copytree(tasks_folder() / "cartpole", own)
    assert find_task("whatever", tasks_folder(), str(own)) == own
    with pytest.raises(GoalError, match="did you mean 'cartpole'"):
        find_task("whatever", tasks_folder(), "cart-pole")
    with pytest.raises(GoalError, match="no task.toml"):
        find_task("whatever", tasks_folder(), str(tmp_path))


def test_a_broken_task_file_does_not_hide_the_others(tmp_path):
    shutil.copytree(tasks_folder(), tmp_path / "tasks")
    (tmp_path / "tasks" / "cartpole" / "task.toml").write_text("= broken")
    assert [task.name for task in list_tasks(tmp_path / "tasks")] == ["cartpole", "pour_cup"]
    assert find_task("pour a cup", tmp_path / "tasks").name == "pour_cup"
