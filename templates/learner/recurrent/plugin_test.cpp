// The memory by itself; of plugin.cpp, it names only Reservoir. `backplane plugin validate` tests the contract.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

TEST(Reservoir, ForgetsItsStart) {
  const Reservoir reservoir(2, 20, 0.8, 1);
  std::vector<float> one(20, 1.f), other(20, 0.f);
  const float obs[] = {0.5f, -0.5f};
  for (int t = 0; t < 200; ++t) {
    reservoir.Step(obs, one.data(), one.data());
    reservoir.Step(obs, other.data(), other.data());
  }
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-4);
}

TEST(Reservoir, RemembersTheLastObservation) {
  const Reservoir reservoir(1, 20, 0.8, 1);
  std::vector<float> moved(20, 0.f), still(20, 0.f);
  const float zero = 0, half = 0.5f;
  reservoir.Step(&half, moved.data(), moved.data());
  reservoir.Step(&zero, still.data(), still.data());
  for (auto* each : {&moved, &still}) reservoir.Step(&zero, each->data(), each->data());
  EXPECT_NE(moved, still);
}

}  // namespace
