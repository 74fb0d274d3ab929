"""Pictures of a selection: each function draws on matplotlib Axes and returns them.

They need matplotlib, ``pip install "bahsic[plot]"``. Without ``ax`` they make a new figure with a layout that fits the
names; for your own figure use ``plt.subplots(layout="constrained")``. Long names are shortened, and only as many as fit
are written. Characters that the font lacks are drawn as U+FFFD; another ``font.family`` of matplotlib may have them.
"""

from bahsic.plotting.pictures import (
    plot_bands,
    plot_path,
    plot_ranking,
    plot_redundancy,
    plot_scores,
    plot_stability,
)

__all__ = ["plot_bands", "plot_path", "plot_ranking", "plot_redundancy", "plot_scores", "plot_stability"]
