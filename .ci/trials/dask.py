"""A fit by a worker."""

from distributed import Client

from bahsic import BAHSIC
from bahsic.datasets import make_xor

if __name__ == "__main__":
    X, y, support = make_xor(100, 6, random_state=0)
    with Client(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        assert BAHSIC(2, executor=client).fit(X, y).get_support(indices=True).tolist() == [0, 1]
