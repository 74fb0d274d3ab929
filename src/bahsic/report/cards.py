"""Contents of the page about the selected features: pictures, losses, near-duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bahsic.names import for_page, target_name
from bahsic.report.neighbours import LEAST_SIMILARITY, MOST_COPIES
from bahsic.report.pictures import effect_picture, feature_picture, pair_picture
from bahsic.report.words import LEVEL, equation, frequencies, loss_words

MOST_CARDS = 30


def feature_cards(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return cards of the selected features: pictures, what is lost without them, near-duplicates."""
    rows = [row for row in result["ranking"] if row["selected"]][:MOST_CARDS]
    target = target_name(result["input"]["target"])
    views = {view["feature"]: view for view in result["views"]}
    similar = {entry["feature"]: entry["copies"] for entry in result["near_copies"]}
    return [
        {
            "name": for_page(row["feature"]),
            "facts": [words for words in (loss_words(row, result), *_verdicts(row, result)) if words],
            "instead": [_similar(copy) for copy in similar.get(row["feature"], ())[:MOST_COPIES]],
            "beside": _similar_selected(row["feature"], result["redundancy"]),
            **_pictures(views.get(row["feature"]), target),
        }
        for row in rows
    ]


def _verdicts(row: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """Return sentences on the partner, the p-value and the stability of a feature."""
    partner, p, stability = row.get("partner"), row.get("needed"), result["stability"]
    words = (
        [] if partner is None else [f"With {for_page(partner, 40)}: {row['together']:.2f} more R² than the two apart."]
    )
    if p is not None:
        shown = "Needed" if p <= LEVEL else "Not shown to be needed"
        words.append(f"{shown} beyond the other selected features: {equation(p)}.")
    if row.get("frequency") is not None and result["n_folds"]:
        words.append(f"Chosen in {round(row['frequency'] * result['n_folds'])} of {result['n_folds']} folds.")
    if stability:
        n, share = stability["n_resamples"], frequencies(stability).get(row["feature"], 0.0)
        words.append(f"Selected in {round(share * n)} of {n} resamples.")
    return words


def _pictures(view: Mapping[str, Any] | None, target: str) -> dict[str, Any]:
    if view is None:
        return {"chart": None, "effect": None, "n_missing": 0}
    hidden = view["n_missing"] if view["kind"] in ("densities", "points") else 0
    effect = effect_picture(view, target) if view.get("effect") else None
    return {"chart": feature_picture(view, target), "effect": effect, "n_missing": int(hidden)}


def _similar(copy: Mapping[str, Any]) -> dict[str, str]:
    return {"name": for_page(copy["feature"]), "similarity": f"{copy['similarity']:.2f}"}


def _similar_selected(name: str, redundancy: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """Return other selected features that are near-duplicates of this one."""
    if not redundancy or name not in redundancy["features"]:
        return []
    row = redundancy["table"][redundancy["features"].index(name)]
    pairs = [(value, other) for value, other in zip(row, redundancy["features"], strict=True) if other != name]
    near = sorted((pair for pair in pairs if pair[0] >= LEAST_SIMILARITY), reverse=True)
    return [_similar({"feature": other, "similarity": value}) for value, other in near[:MOST_COPIES]]


def pair_card(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the two features that work together best, with their picture."""
    view = result["pair"]
    if not view:
        return None
    names = [for_page(axis["feature"], 40) for axis in view["axes"]]
    chart = pair_picture(view, target_name(result["input"]["target"]))
    return {"names": names, "together": f"{view['together']:.2f}", "chart": chart}
