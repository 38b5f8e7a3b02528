"""The reward language: a checked subset of Python that is never executed as Python.

Text -> `extract` -> `check` -> Program (a graph of scalar operations) -> a back end (`kernel`). Importing this imports
neither Warp nor torch nor MuJoCo.
"""

from eureka_lite.reward.check import check
from eureka_lite.reward.extract import Extraction, extract
from eureka_lite.reward.language import Function, function_table
from eureka_lite.reward.problems import Problem, RewardError
from eureka_lite.reward.program import MAX_COMPONENTS, Program

__all__ = ["MAX_COMPONENTS", "Extraction", "Function", "Problem", "Program", "RewardError", "check", "extract",
           "function_table"]  # fmt: skip
