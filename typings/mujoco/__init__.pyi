# MuJoCo ships no type stubs: everything in it is unknown to the type checker.
from typing import Any

def __getattr__(name: str) -> Any: ...
