"""The command line: each command calls one function below and prints."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from eureka_lite.evolve.presets import PRESETS
from eureka_lite.propose.proposer import ProposerError
from eureka_lite.reward import RewardError
from eureka_lite.store.files import StoreError, read_text, write_atomic
from eureka_lite.task.find import GoalError, find_task, list_tasks
from eureka_lite.task.task import TaskError
from eureka_lite.work.client import WorkerDied, WorkerError

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
EXIT_CODES: dict[type[Exception], int] = {
    GoalError: USAGE, TaskError: USAGE, RewardError: USAGE, ProposerError: FAILED, StoreError: FAILED,
    WorkerError: FAILED, WorkerDied: FAILED,
}  # fmt: skip

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
                  help="Design reward functions for robot learning.")  # fmt: skip

Runs = Annotated[Path, typer.Option("--out", help="Folder of the runs.")]
Threads = Annotated[int | None, typer.Option(min=1, max=256, help="CPU threads; all that are free if not given.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


def main() -> None:
    """Run the command line and leave with its exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as cleanly as Ctrl-C
    try:
        with _explained():
            app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)


@app.command()
def design(
    goal: Annotated[str, typer.Argument(help='What the robot shall do, as in "pour a cup".')],
    task: Annotated[str | None, typer.Option(help="Task by name or folder, instead of by the goal's words.")] = None,
    preset: Annotated[str, typer.Option(help=f"Size of the run: {', '.join(PRESETS)}.")] = "quick",
    candidates: Annotated[int | None, typer.Option(min=1, max=99, help="Rewards per generation.")] = None,
    generations: Annotated[int | None, typer.Option(min=1, max=99, help="Rounds.")] = None,
    worlds: Annotated[int | None, typer.Option(min=1, max=65536, help="Training worlds per candidate.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="World-steps of training per candidate.")] = None,
    final_seeds: Annotated[int | None, typer.Option(min=1, max=99, help="Retrainings for the verdict.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=1_000_000, help="Of everything random.")] = 0,
    llm: Annotated[str | None, typer.Option(help="Model that writes rewards, offline, or replay:FOLDER.")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint of the model.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Most requests to the model at once.")] = 8,
    prompts: Annotated[Path | None, typer.Option(help="Folder of edited prompt templates.")] = None,
    threads: Threads = None,
    out: Runs = Path("runs"),
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live screen.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One event per line, for programs.")] = False,
) -> None:
    """Propose, train, measure and rank reward functions for a goal.

    Writes a run folder. Exit code 0: ranked; 1: failed, or nothing could be ranked; 2: wrong usage; 130: interrupted.
    """
    from eureka_lite.evolve.design import Design, Settings, start_run, steps_of
    from eureka_lite.propose import make_proposer
    from eureka_lite.report.reporter import make_reporter
    from eureka_lite.report.review import review as show_review
    from eureka_lite.resources import prompts_folder, tasks_folder
    from eureka_lite.reward.task_programs import human_program, task_programs
    from eureka_lite.task.load import load_task

    if preset not in PRESETS:
        raise typer.BadParameter(f"{preset!r} is not one of {', '.join(PRESETS)}", param_hint="--preset")
    if prompts is not None and not prompts.is_dir():
        raise typer.BadParameter(f"{prompts} is no folder", param_hint="--prompts")
    if base_url is not None and llm is None:
        raise typer.BadParameter("--base-url needs --llm MODEL", param_hint="--base-url")
    loaded = load_task(find_task(goal, tasks_folder(), task))
    task_programs(loaded)
    human_program(loaded)
    given = {"candidates": candidates, "generations": generations, "worlds": worlds, "final_seeds": final_seeds}
    size = replace(PRESETS[preset], **{name: value for name, value in given.items() if value is not None})
    settings = Settings(goal, seed, size, preset, steps or steps_of(loaded, size), threads or _free_cpus())
    proposer = make_proposer(llm, base_url, prompts or prompts_folder(), concurrency)
    console = Console()
    run = start_run(out, loaded, settings, {"llm": llm, "base_url": base_url})
    reporter = make_reporter("json" if as_json else "plain" if plain else "live", console, run.settings)
    ranking = None
    try:
        with run:
            own = load_task(run.task_folder, loaded.name)
            ranking = Design(own, settings, proposer, run, reporter.handle).execute()
    except KeyboardInterrupt:
        reporter.close()
        _complain(
            f"interrupted; {len(run.finished())} finished candidates are in {run.path}: eureka-lite review {run.path}"
        )
        sys.exit(INTERRUPTED)
    finally:
        reporter.close()
    if not as_json:
        show_review(run, console)
    sys.exit(DONE if ranking is not None else FAILED)


@app.command()
def review(
    run: Annotated[str, typer.Argument(help="A run's folder, its name or a beginning of it, or `last`.")] = "last",
    code: Annotated[str | None, typer.Option(metavar="ID", help="One candidate's code and what its terms did.")] = None,
    diff: Annotated[
        tuple[str, str] | None, typer.Option(metavar="ID ID", help="What the second reward does otherwise.")
    ] = None,
    out: Runs = Path("runs"),
) -> None:
    """Show the ranking of a run, finished or not."""
    from eureka_lite.report.difference import show_difference
    from eureka_lite.report.review import review as show_review
    from eureka_lite.reward.explain import difference
    from eureka_lite.store.run import RunFolder

    opened = RunFolder.open(run, out)
    if diff is None:
        show_review(opened, Console(), code)
        return
    loaded, first = _reward_of(opened, diff[0])
    _, second = _reward_of(opened, diff[1])
    show_difference(difference(first, second, loaded.signals), *diff, Console())


@app.command()
def evaluate(
    run: Annotated[str, typer.Argument(help="A run's folder, its name or a beginning of it, or `last`.")],
    id: Annotated[str, typer.Argument(help="Candidate or baseline; g01c02@1 is its first retraining.")],
    split: Annotated[str, typer.Option(help="Worlds: nominal, train, selection or test.")] = "test",
    worlds: Annotated[
        int | None, typer.Option(min=1, max=65536, help="How many; the run's own number if not given.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=1_000_000, help="Of the worlds; the run's own if not given.")
    ] = None,
    threads: Threads = None,
    out: Runs = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Measure a trained policy again: its retrainings where there are any, else the one of its generation."""
    import numpy as np

    from eureka_lite.evolve.statistics import fit
    from eureka_lite.store.run import RunFolder
    from eureka_lite.work.client import Worker

    if split not in ("nominal", "train", "selection", "test"):
        raise typer.BadParameter(f"{split!r} is not one of nominal, train, selection, test", param_hint="--split")
    opened = RunFolder.open(run, out)
    policies = _policies(opened, id)
    if not (opened.task_folder / "task.toml").is_file():
        raise StoreError(f"{opened.task_folder} is gone: the run cannot be measured without its copy of the task")
    own = opened.settings
    count = worlds or int(own.get(f"{split}_worlds", own.get("selection_worlds", 64)))
    with Worker(opened.task_folder, threads or _free_cpus(), lambda event: None) as worker:
        wanted = {"policies": [str(path.resolve()) for path in policies], "split": split, "worlds": count}
        measured = worker.ask("evaluate", **wanted, seed=own.get("seed", 0) if seed is None else seed)
    found = fit(np.array([m["fitness"] for m in measured], float))
    if as_json:
        print(json.dumps(asdict(found)))
        return
    low, high = found.ci95
    seeds = "1 training seed" if found.training_seeds == 1 else f"{found.training_seeds} training seeds"
    print(f"{id}: {found.mean:.3f} [{low:.3f}, {high:.3f}] on {found.worlds} {split} worlds, {seeds}")


@app.command()
def check(
    reward: Annotated[str, typer.Argument(help="A file with a reward program, or - for what is piped in.")],
    task: Annotated[str, typer.Option(help="Task by name or folder.")],
    reply: Annotated[bool, typer.Option("--reply", help="The file is a model's whole reply.")] = False,
    emit: Annotated[str | None, typer.Option(help="Print it as code: numpy, torch or warp.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a reward program against a task's signals, without training.

    Exit code 0: accepted; 1: refused.
    """
    from eureka_lite.export.reward import export_reward
    from eureka_lite.resources import tasks_folder
    from eureka_lite.reward.constants import constant_names
    from eureka_lite.reward.formula import formulas
    from eureka_lite.reward.task_programs import human_program, task_programs
    from eureka_lite.reward.verdict import judge
    from eureka_lite.task.load import load_task

    language = _language(emit, "--emit") if emit else None
    loaded = load_task(find_task("", tasks_folder(), task))
    task_programs(loaded)
    human_program(loaded)
    verdict = judge(_text(reward), loaded.signals, "stdin" if reward == "-" else reward, reply)
    if as_json:
        print(json.dumps(verdict.as_json()))
    elif verdict.program is None:
        _complain(str(verdict.error))
    elif language:
        print(export_reward(verdict.program, loaded, language), end="")
    else:
        program = verdict.program
        for note in program.notes:
            print(f"{reward}: {note}")
        print(f"{reward}: fine{f', {verdict.block}' if verdict.block else ''}; hash {program.hash}")
        print(f"signals: {', '.join(verdict.used) or 'none'}; not used: {', '.join(verdict.unused) or 'none'}")
        print("components:")
        for name, formula in formulas(program, loaded.signals).items():
            print(f"  {name} = {formula}")
        named = zip(constant_names(program), program.constants, strict=True)
        print(f"constants: {', '.join(f'{name} = {value:g}' for name, value in named) or 'none'}")
    if verdict.program is None:
        sys.exit(FAILED)


@app.command()
def export(
    run: Annotated[str, typer.Argument(help="A run's folder, its name or a beginning of it, or `last`.")],
    id: Annotated[str, typer.Argument(help="Candidate or baseline.")],
    reward: Annotated[str, typer.Option(help="Write its reward as code: numpy, torch or warp.")],
    quat: Annotated[
        str, typer.Option(help="Order of quaternions there: wxyz (MuJoCo) or xyzw (Isaac Lab 3).")
    ] = "wxyz",
    file: Annotated[Path | None, typer.Option(help="Where to write it; printed if not given.")] = None,
    out: Runs = Path("runs"),
) -> None:
    """Write a reward as one file that runs without this package."""
    from eureka_lite.export.reward import export_reward
    from eureka_lite.store.run import RunFolder

    language = _language(reward, "--reward")
    if quat not in ("wxyz", "xyzw"):
        raise typer.BadParameter(f"{quat!r} is not one of wxyz, xyzw", param_hint="--quat")
    opened = RunFolder.open(run, out)
    loaded, program = _reward_of(opened, id)
    text = export_reward(program, loaded, language, quat == "xyzw", f"{id} of {opened.path.name}")
    if file is None:
        print(text, end="")
        return
    write_atomic(file, text)
    print(f"written to {file}")


@app.command()
def tasks() -> None:
    """List the bundled tasks."""
    from eureka_lite.resources import tasks_folder

    for task in list_tasks(tasks_folder()):
        print(f"{task.name:<12} {task.goal}")


def _language(name: str, option: str) -> Any:
    """A language that rewards are exported to."""
    from eureka_lite.export.reward import LANGUAGES

    if name not in LANGUAGES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(LANGUAGES)}", param_hint=option)
    return name


def _text(path: str) -> str:
    """The text of a file, or of the standard input for -."""
    try:
        if path == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} cannot be read: {error}", param_hint="REWARD") from None


def _reward_of(run: Any, id: str) -> tuple[Any, Any]:
    """A run's own task, and the checked program of one of its candidates."""
    from eureka_lite.reward import check as check_reward
    from eureka_lite.task.load import load_task

    source = read_text(run.candidate(id) / "reward.py")
    if source is None:
        there = ", ".join(i for i in run.candidates() if (run.candidate(i) / "reward.py").is_file()) or "none"
        raise StoreError(f"{run.path} has no reward program of {id!r}; there are: {there}")
    task = load_task(run.task_folder, str(run.info.get("task", "task")))
    return task, check_reward(source, task.signals, file=str(run.candidate(id) / "reward.py"))


def _policies(run: Any, id: str) -> list[Path]:
    """The policy files that an id means."""
    name, _, number = id.partition("@")
    folder = run.candidate(name)
    pattern = f"policy-{number}.safetensors" if number else "policy-*.safetensors"
    found = sorted(folder.glob(pattern)) if folder.is_dir() else []
    if not found and not number and (folder / "policy.safetensors").is_file():
        found = [folder / "policy.safetensors"]
    if not found:
        there = ", ".join(i for i in run.candidates() if any(run.candidate(i).glob("policy*.safetensors"))) or "none"
        raise StoreError(f"{run.path} has no policy of {id!r}; there are policies of: {there}")
    return found


def _free_cpus() -> int:
    """CPUs that this process may use, at most 32."""
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return min(32, len(affinity(0)) if affinity else os.cpu_count() or 1)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn the errors that a person can do something about into a line and an exit code."""
    try:
        yield
    except tuple(EXIT_CODES) as error:
        _complain(str(error))
        sys.exit(next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind)))


def _complain(text: str) -> None:
    print(f"eureka-lite: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
