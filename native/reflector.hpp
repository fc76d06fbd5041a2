// Householder reflectors  H = I - tau v v^T  and their application to a block of short columns, the hot loop of all
// decompositions here. Columns of 10 to 60 entries are too short for general matrix products; processing four at a time
// shares the loads of v and hides the latency of the sums.
#pragma once

#include <Eigen/Core>
#include <cmath>

namespace poise {

using Eigen::Index;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// Replaces `tail` by the v of a reflector that maps it to its first axis; returns the resulting coefficient.
template <class V>
double make_reflector(V&& tail, double& tau) {
  const double norm = tail.norm();
  if (tail.size() <= 1 || norm == 0.0) {
    tau = 0.0;
    return tail.size() ? tail[0] : 0.0;
  }
  const double image = tail[0] > 0.0 ? -norm : norm;
  tail[0] -= image;
  tau = 2.0 / tail.squaredNorm();
  return image;
}

namespace detail {

using Packet = Eigen::internal::packet_traits<double>::type;
constexpr Index lanes = Eigen::internal::packet_traits<double>::size;

// c_k <- c_k - tau v (v . c_k) for `columns` columns, `stride` apart, in whole packets.
template <int columns>
inline void reflect_few(const double* v, Index packed, double tau, double* c, Index stride) {
  using namespace Eigen::internal;
  Packet sum[columns];
  for (int k = 0; k < columns; ++k) sum[k] = pset1<Packet>(0.0);
  for (Index i = 0; i < packed; i += lanes) {
    const Packet vi = ploadu<Packet>(v + i);
    for (int k = 0; k < columns; ++k) sum[k] = pmadd(vi, ploadu<Packet>(c + k * stride + i), sum[k]);
  }
  for (int k = 0; k < columns; ++k) sum[k] = pset1<Packet>(-tau * predux(sum[k]));
  for (Index i = 0; i < packed; i += lanes) {
    const Packet vi = ploadu<Packet>(v + i);
    for (int k = 0; k < columns; ++k) {
      double* at = c + k * stride + i;
      pstoreu(at, pmadd(sum[k], vi, ploadu<Packet>(at)));
    }
  }
}

}  // namespace detail

// Rows to allocate below a matrix whose columns are reflected: they are read and written and must be finite; in v they
// must be zero.
constexpr Index padding = detail::lanes;

// Applies the reflector to every column of a block of a padded column-major matrix.
inline void reflect(const double* v, Index size, double tau, double* c, Index stride, Index columns) {
  if (tau == 0.0 || size == 0) return;
  const Index packed = (size + detail::lanes - 1) / detail::lanes * detail::lanes;
  for (; columns >= 4; columns -= 4, c += 4 * stride) detail::reflect_few<4>(v, packed, tau, c, stride);
  if (columns >= 2) {
    detail::reflect_few<2>(v, packed, tau, c, stride);
    columns -= 2;
    c += 2 * stride;
  }
  if (columns == 1) detail::reflect_few<1>(v, packed, tau, c, stride);
}

}  // namespace poise
