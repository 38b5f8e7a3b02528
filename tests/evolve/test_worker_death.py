"""A worker that dies over and over: halves, until the culprit is alone and named."""

from types import SimpleNamespace

from eureka_lite.evolve.design import Design
from eureka_lite.work.client import WorkerDied


class Deadly:
    """Stands for a worker process that one candidate kills each time it is trained."""

    def __init__(self, culprit):
        self.culprit, self.asked = culprit, []

    def ask(self, do, **request):
        ids = [candidate["id"] for candidate in request["candidates"]]
        self.asked.append(ids)
        if self.culprit in ids:
            raise WorkerDied("the training process died (signal 11)")
        return [{"id": id, "status": "trained"} for id in ids]


def results_with(culprit, ids):
    settings = SimpleNamespace(steps=1, preset=SimpleNamespace(worlds=1, curve_points=1))
    notes = []
    loop = SimpleNamespace(settings=settings, _say=lambda kind, **data: notes.append(data["text"]))
    loop._ask = lambda *arguments: Design._ask(loop, *arguments)
    worker = Deadly(culprit)
    results = Design._ask(loop, worker, "generation-1", [{"id": id} for id in ids], {})
    return results, worker.asked, notes


def test_the_culprit_fails_with_the_reason_and_the_others_are_trained():
    ids = ["a", "b", "c", "d", "e"]
    for culprit in ids:
        results, asked, notes = results_with(culprit, ids)
        assert [result["id"] for result in results] == ids
        assert [result["status"] == "failed" for result in results] == [id == culprit for id in ids]
        assert next(r for r in results if r["id"] == culprit)["reason"] == "the training process died (signal 11)"
        assert asked[0] == asked[1] == ids
        assert all(len(group) == 1 for group in asked[2:] if group == [culprit])
        assert notes


def test_without_a_death_it_is_one_request():
    results, asked, notes = results_with("nobody", ["a", "b"])
    assert [result["status"] for result in results] == ["trained", "trained"]
    assert asked == [["a", "b"]] and not notes
