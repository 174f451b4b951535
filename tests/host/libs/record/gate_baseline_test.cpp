#include "record/gate_baseline.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(LooksOfGate, UseUpTheSeedsOfTheBaseline) {
  const auto looks = [](size_t seeds) {
    const CompareLooks of = LooksOfGate(seeds);
    return std::pair(*of.n, of.max);
  };
  EXPECT_EQ(looks(10), std::pair(uint64_t{5}, uint64_t{2}));
  EXPECT_EQ(looks(12), std::pair(uint64_t{6}, uint64_t{2}));
  EXPECT_EQ(looks(19), std::pair(uint64_t{6}, uint64_t{3})) << "one seed is left over";
  EXPECT_EQ(looks(25), std::pair(uint64_t{5}, uint64_t{5}));
  EXPECT_EQ(looks(100), std::pair(uint64_t{20}, uint64_t{5}));
  EXPECT_EQ(looks(3), std::pair(uint64_t{3}, uint64_t{1}));
}

}  // namespace
}  // namespace backplane
