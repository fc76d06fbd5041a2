// Types of the numpy arrays that writers keep. Their addresses are constant; their contents change at every control
// step.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace poise {

namespace nb = nanobind;

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;

using VectorIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Column major, as in pinocchio.
using ColumnsIn = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using IndicesIn = nb::ndarray<const int, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Rows of a program: a view whose row stride may exceed its row length.
using RowsOut = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::device::cpu>;

inline Eigen::Map<const Vector3> vector3(const VectorIn& a) { return Eigen::Map<const Vector3>(a.data()); }
inline Eigen::Map<const Matrix3> matrix3(const ColumnsIn& a) { return Eigen::Map<const Matrix3>(a.data()); }

inline void expect(bool fits, const char* what) {
  if (!fits) throw nb::value_error(what);
}

inline void expect_rows(const RowsOut& A, size_t rows, size_t variables) {
  // Strides of an empty array are arbitrary.
  expect(A.shape(0) == rows && A.shape(1) >= variables && (A.stride(1) == 1 || A.shape(1) < 2 || rows == 0),
         "the rows to write do not fit the task");
}

}  // namespace poise
