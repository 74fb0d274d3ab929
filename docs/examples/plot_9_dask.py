"""
On a Dask cluster
=================

The same fit on a cluster: here two processes on this machine, elsewhere any number of machines. It selects the same
features as without a cluster.
"""

from dask.distributed import Client, LocalCluster

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.plotting import plot_path

X, y, support = make_xor(n_samples=1000, n_features=12, random_state=0)
alone = BAHSIC(n_features_to_select=2, step=0.5).fit(X, y)

# %%
# ``executor`` takes the client, or the address of the scheduler:

if __name__ == "__main__":  # processes are started anew, and must not start others
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        together = BAHSIC(n_features_to_select=2, step=0.5, executor=client).fit(X, y)
    print("selected:", together.get_support(indices=True))
    print("same bits:", together.path_ == alone.path_)

# %%
# Small problems do not get faster, because every pass over the pairs costs messages. :doc:`../guide/big` says when a
# cluster helps, and :doc:`../appendix/scale` how to use SLURM and Kubernetes. The path of the search:

plot_path(alone)
