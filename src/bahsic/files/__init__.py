"""Tables in files: CSV, Parquet, Arrow, numpy, svmlight, ARFF, MATLAB, AnnData, MNE.

Each format is read by the library that its field uses; those that bahsic does not need otherwise are extras.
"""

from bahsic.files.data import Data, DataError
from bahsic.files.reading import read_data
from bahsic.files.writing import check_place, write_table

__all__ = ["Data", "DataError", "check_place", "read_data", "write_table"]
