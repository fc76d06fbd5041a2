"""Type aliases of numpy arrays and vectors, shared by all subpackages."""

import numpy as np
from numpy.typing import NDArray

#: Floats of any shape; the docstring that uses it gives shape and unit.
Array = NDArray[np.float64]
#: Boolean mask: True where a condition holds.
Mask = NDArray[np.bool_]
#: Indices into another array.
Indices = NDArray[np.int64]
#: Pixels: rows x columns x 3 color channels, each from 0 to 255.
Image = NDArray[np.uint8]
#: Immutable vector x, y, z; the docstring that uses it gives its unit.
Vector = tuple[float, float, float]
