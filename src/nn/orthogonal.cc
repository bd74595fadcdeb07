#include "nn/orthogonal.h"

#include <cmath>
#include <vector>

#include "covey/base/check.h"

namespace covey::nn {
namespace {

double Dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void Orthogonal(std::size_t n, Stream& stream, tensor::VectorView out) {
  COVEY_CHECK(out.size() == n * n, out.size(), n);
  std::vector<double> rows(n * n);
  for (std::size_t r = 0; r < n; ++r) {
    double* row = rows.data() + r * n;
    // A drawn row that lies in the space of those before it is drawn again.
    for (double left = 0; left < 1e-6;) {
      for (std::size_t i = 0; i < n; ++i) row[i] = stream.Normal();
      const double before = std::sqrt(Dot(row, row, n));
      for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t other = 0; other < r; ++other) {
          const double* done = rows.data() + other * n;
          const double along = Dot(row, done, n);
          for (std::size_t i = 0; i < n; ++i) row[i] -= along * done[i];
        }
      }
      left = std::sqrt(Dot(row, row, n)) / before;
    }
    const double norm = std::sqrt(Dot(row, row, n));
    for (std::size_t i = 0; i < n; ++i) {
      row[i] /= norm;
      out[r * n + i] = static_cast<float>(row[i]);
    }
  }
}

}  // namespace covey::nn
