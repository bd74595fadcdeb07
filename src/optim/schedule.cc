#include "covey/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "covey/base/check.h"

namespace covey::optim {
namespace {

Status WrongSchedule(std::string_view field, const std::string& got, std::string_view wanted) {
  return Fail(ErrorCode::kConfig, "train.schedule." + std::string(field), "got " + got,
              "wanted " + std::string(wanted));
}

// cos(pi f) for 0 <= f <= 1, as -sin(pi (f - 1/2)): Taylor's series, whose rest after the term of
// degree 21 is below 2^-54 on this range.
double CosinePi(double f) {
  constexpr double kPi = 3.14159265358979323846;
  const double x = kPi * (f - 0.5);
  double term = x;
  double sum = x;
  for (int degree = 3; degree <= 21; degree += 2) {
    term *= -x * x / static_cast<double>(degree * (degree - 1));
    sum += term;
  }
  return -sum;
}

}  // namespace

std::string_view Name(Schedule::Kind kind) {
  switch (kind) {
    case Schedule::Kind::kConstant:
      return "constant";
    case Schedule::Kind::kStep:
      return "step";
    case Schedule::Kind::kCosine:
      return "cosine";
  }
  return "unknown";
}

Status Validate(const Schedule& schedule) {
  switch (schedule.kind) {
    case Schedule::Kind::kConstant:
      break;
    case Schedule::Kind::kStep:
      if (schedule.every == 0) return WrongSchedule("every", "0", "the batches between two drops");
      if (!(schedule.drop > 0 && schedule.drop <= 1)) {
        return WrongSchedule("drop", std::to_string(schedule.drop), "a number above 0, at most 1");
      }
      break;
    case Schedule::Kind::kCosine:
      if (schedule.length == 0) {
        return WrongSchedule("length", "0", "the batches from the end of the warm-up to the floor");
      }
      if (!(schedule.floor >= 0 && schedule.floor < 1)) {
        return WrongSchedule("floor", std::to_string(schedule.floor), "a number in [0, 1)");
      }
      break;
  }
  return {};
}

double FactorAt(const Schedule& schedule, std::uint64_t t) {
  COVEY_CHECK(t >= 1, t);
  if (t <= schedule.warmup) return static_cast<double>(t) / static_cast<double>(schedule.warmup);
  const std::uint64_t done = t - schedule.warmup - 1;
  switch (schedule.kind) {
    case Schedule::Kind::kConstant:
      return 1;
    case Schedule::Kind::kStep:
      return Power(static_cast<double>(schedule.drop), done / schedule.every);
    case Schedule::Kind::kCosine: {
      const double fraction = static_cast<double>(std::min(done, schedule.length)) /
                              static_cast<double>(schedule.length);
      const auto floor = static_cast<double>(schedule.floor);
      return floor + (1 - floor) * std::max(0.0, (1 + CosinePi(fraction)) / 2);
    }
  }
  return 1;
}

double Power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace covey::optim
