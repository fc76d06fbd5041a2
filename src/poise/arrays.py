"""Types of numpy arrays that all rooms share."""

import numpy as np
from numpy.typing import NDArray

#: Numbers of any shape; shapes and units stand in the docstring that uses it.
Array = NDArray[np.float64]
#: True where something holds.
Mask = NDArray[np.bool_]
#: Positions in another array.
Indices = NDArray[np.int64]
#: Pixels, rows by columns by three colours from 0 to 255.
Image = NDArray[np.uint8]
