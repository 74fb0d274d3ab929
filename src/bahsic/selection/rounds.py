"""One search with one kernel: its scorer, the records of its rounds, and the scores of single features at its end."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.prediction import ResidualWeights, RidgeFit, label_features
from bahsic.criteria.weights import Weights
from bahsic.engine import Executor, Plan, scorer_for
from bahsic.engine.prediction import EXACT, FITTED, PredictionScorer
from bahsic.engine.ridge import RidgeRegression
from bahsic.selection.checkpoint import Checkpoint
from bahsic.selection.path import PathStep, fewest_as_good, most_units
from bahsic.selection.problem import FeatureUnits, Problem
from bahsic.selection.search import Step
from bahsic.selection.time_left import Work, round_constant

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Steps = Callable[[Any, Step | None], Iterator[Step]]


@dataclass(frozen=True, eq=False)
class Round:
    """A step of the path, and the units that it is about; see `bahsic.selection.search.Step`."""

    step: PathStep
    subset: Indices
    changed: Indices
    following: Indices
    losses: Array | None = None  # squared leave-one-out residuals, if the number of features depends on them

    def as_plain(self) -> dict[str, Any]:
        """The round as plain data."""
        units = {name: getattr(self, name).tolist() for name in ("subset", "changed", "following")}
        losses = None if self.losses is None else b64encode(self.losses.tobytes()).decode("ascii")
        return {"step": asdict(self.step), **units, "losses": losses}

    @staticmethod
    def from_plain(found: dict[str, Any]) -> Round:
        """The round that plain data stand for."""
        step = {**found["step"], "features": tuple(found["step"]["features"])}
        units = {name: np.array(found[name], dtype=np.intp) for name in ("subset", "changed", "following")}
        losses = found["losses"]
        return Round(PathStep(**step), **units, losses=None if losses is None else np.frombuffer(b64decode(losses)))

    def as_step(self) -> Step:
        """The round as the search knows it, but for its kernel."""
        return Step(self.subset, self.step.hsic or 0.0, None, self.changed, self.following)


@dataclass(frozen=True)
class Goal:
    """Parameters of a selector that say what the rounds maximise and record.

    Attributes
    ----------
    criterion : {"hsic", "prediction"}
    statistic : {"unbiased", "biased"}
    ridge : float or "auto"
    standard_errors : bool
        Whether to record the standard error of HSIC.
    predictability : bool
        Whether to record the predictability of each subset.
    losses : bool
        Whether to keep the losses of each subset.
    """

    criterion: str
    statistic: str
    ridge: Any
    standard_errors: bool
    predictability: bool
    losses: bool


class Search:
    """A search with one kernel: rounds, resumed from a checkpoint if there is one, and their records.

    Parameters
    ----------
    problem : Problem
    units : FeatureUnits
    weights : Weights
        W of the labels.
    plan : Plan
    executor : Executor
    goal : Goal
    """

    def __init__(
        self, problem: Problem, units: FeatureUnits, weights: Weights, plan: Plan, executor: Executor, goal: Goal
    ) -> None:
        self.problem, self._goal = problem, goal
        self.linear = scorer_for(problem.data.columns, problem.kernel, weights, executor, plan, units.groups)
        self._judge: PredictionScorer | None = None
        if goal.criterion == "prediction" or goal.predictability:
            Y = label_features(problem.labels, problem.weights)
            regression = RidgeRegression(Y, goal.ridge, plan, problem.starts, problem.weights, executor)
            self._judge = PredictionScorer(self.linear, regression)
        self.scorer: Any = self._judge if goal.criterion == "prediction" else self.linear
        self.path: list[Round] = []
        self._saved: Checkpoint | None = None

    def resume(self, saved: Checkpoint) -> None:
        """Take over the rounds of a checkpoint, and add the new ones to it."""
        self._saved = saved
        if saved.rounds:
            self.path = [Round.from_plain(found) for found in saved.rounds]
            self.scorer.restore(saved.state["scorer"])
            if self._judge is not None:
                self._judge.restore(saved.state["judge"])

    def work(self, n_units: int, n_candidates: int, number: int) -> Work:
        """Work of a round of this search, the ``number``-th one, to estimate its time."""
        fits = self._goal.criterion == "prediction" and n_units <= EXACT
        return Work(n_candidates, min(FITTED, n_candidates) if fits else 0, number)

    def round_constant(self) -> float:
        """Cost of a round but for its candidates, to estimate its time."""
        starts = self.problem.starts
        return round_constant(len(self.problem.labels) // len(starts), regression=self._judge is not None)

    def rounds(self, steps: Steps, n_rounds: int) -> Iterator[Round]:
        """The rounds that are missing, recorded."""
        after = self.path[-1].as_step() if self.path else None
        for step in steps(self.scorer, after) if len(self.path) < n_rounds else ():
            self.path.append(self._record(step))
            if self._saved is not None:
                judge = {} if self._judge is None else self._judge.state()
                state = {"scorer": self.scorer.state(), "judge": judge}
                self._saved.write([found.as_plain() for found in self.path], state)
            yield self.path[-1]

    def _record(self, step: Step) -> Round:
        goal, fit = self._goal, self._fit(step)
        parts = self.linear.units.each(step.changed)
        path_step = PathStep(
            n_features=self.linear.units.size(step.subset),
            parameter=getattr(step.kernel, "gamma", None),
            hsic=step.score if goal.criterion == "hsic" else None,
            standard_error=self._standard_error(step) if goal.standard_errors else None,
            features=tuple(int(j) for part in parts for j in part),
            predictability=None if fit is None else fit.predictability,
            predictability_error=None if fit is None else fit.error,
            ridge=None if fit is None else fit.ridge,
        )
        losses = fit.losses if fit is not None and goal.losses else None
        return Round(path_step, step.subset, step.changed, step.following, losses)

    def _fit(self, step: Step) -> RidgeFit | None:
        if self._judge is None or step.fit is not None:
            found: RidgeFit | None = step.fit
            return found
        return self._judge.fit(step.subset, judges=False)[0]

    def _standard_error(self, step: Step) -> float | None:
        if self._goal.criterion != "hsic":
            return None
        return math.sqrt(self.linear.variance(step.subset, step.kernel))

    @property
    def most(self) -> int:
        """Greatest number of units that "auto" takes: that of `most_units`, or the smallest number on the path."""
        numbers = [len(found.subset) for found in self.path]
        return max(most_units(max(numbers), len(self.problem.labels)), min(numbers))

    def fewest_as_good(self, most: int) -> tuple[int, int]:
        """Position on the path of the smallest subset that predicts as well as any; features of the largest compared.

        Subsets of more than ``most`` units take no part.
        """
        allowed = [position for position, found in enumerate(self.path) if len(found.subset) <= most]
        compared = [self.path[position] for position in allowed]
        sizes = [found.step.n_features for found in compared]
        losses = [found.losses for found in compared if found.losses is not None]
        return allowed[fewest_as_good(sizes, losses, self.problem.weights)], max(sizes)

    def quality(self, selected: Indices | None) -> float:
        """Predictability of the selected units, or the best one on the path."""
        if selected is None or self._judge is None:
            known = (found.step.predictability for found in self.path)
            return max(-math.inf if value is None else value for value in known)
        return self._fit_to(self._judge, selected).predictability

    def _fit_to(self, judge: PredictionScorer, selected: Indices) -> RidgeFit:
        """The regression on some units, with the ridge that the path had at their number if it had one."""
        ridges = [found.step.ridge for found in self.path if len(found.subset) == len(selected)]
        return judge.fit(np.sort(selected), *ridges[:1])[0]

    def scores(self, selected: Indices, outside: Indices, n_units: int) -> Array:
        """For each unit what its leaving the selection would lose, or its joining it would add.

        With the criterion HSIC, in units of it and with the kernel of the selection. With "prediction", in units of
        predictability: see `PredictionScorer.losses` and `gains`; of more than `EXACT` selected units, first-order
        changes of the explained variance.
        """
        linear, scores, inside = self.linear, np.zeros(n_units), np.sort(selected)
        columns = linear.units.columns(inside)
        kernel = linear.kernel(columns, len(columns))
        if self._goal.criterion == "prediction" and self._judge is not None:
            fit = self._fit_to(self._judge, inside)
            if len(outside):
                scores[outside] = self._judge.gains(inside, outside, fit)
            if len(inside) <= EXACT:
                scores[inside] = self._judge.losses(inside, fit)
                return scores
            linear.weigh(ResidualWeights(fit.Q, self.problem.starts, self.problem.weights))
        elif len(outside):
            scores[outside] = linear.changes(columns, outside, kernel, leaving=False).values
        if len(inside) == 1:
            scores[inside] = linear.total(columns, kernel)
        else:
            scores[inside] = -linear.changes(columns, inside, kernel, leaving=True).values
        return scores
