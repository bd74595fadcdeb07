// Runs a test body at every kernel level of this machine.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "covey/tensor/kernels.h"

namespace covey::test {

template <class Body>
void AtEveryLevel(Body body) {
  for (const std::string_view level : tensor::KernelLevels()) {
    SCOPED_TRACE("kernel level " + std::string(level));
    ASSERT_TRUE(tensor::SetKernelLevel(level));
    body();
  }
  tensor::SetKernelLevel("");
}

}  // namespace covey::test
