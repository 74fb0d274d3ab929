"""Tables in files: CSV, Parquet, Arrow, numpy, svmlight, ARFF, MATLAB, AnnData, MNE.

Each format is read by the library that its field uses; libraries that bahsic does not need otherwise are extras.
"""

from bahsic.files.data import Data, DataError
from bahsic.files.reading import read_data
from bahsic.files.writing import check_writing, write_table

__all__ = ["Data", "DataError", "check_writing", "read_data", "write_table"]
