// Compares the scale of losses in float16 with torch.amp.GradScaler.
#include <gtest/gtest.h>

#include "backplane/rng.h"
#include "oracle.hpp"
#include "rl/loss_scaler.hpp"

namespace backplane::parity {
namespace {

TEST(LossScale, FollowsTorchsGradScaler) {
  // Bursts of overflows between stretches below, at and above the interval of growth.
  bp_rng rng{3, 0};
  nlohmann::json overflows = nlohmann::json::array();
  for (const int stretch : {3, 2000, 1999, 2001, 0, 17, 1}) {
    for (int i = 0; i < stretch; ++i) overflows.push_back(false);
    for (uint64_t i = 1 + bp_rng_below(&rng, 3); i > 0; --i) overflows.push_back(true);
  }
  const nlohmann::json theirs = TheOracle().Ask({{"overflows", overflows}});
  ASSERT_EQ(theirs["scale"].size(), overflows.size());
  rl::LossScaler scaler;
  uint64_t skipped = 0, last = 0;
  for (size_t i = 0; i < overflows.size(); ++i) {
    const bool overflow = overflows[i];
    scaler.Update(overflow, "");
    if (overflow) ++skipped, last = i + 1;
    ASSERT_EQ(scaler.scale(), theirs["scale"][i].get<double>()) << "update " << i;
    ASSERT_EQ(scaler.growth_counter(), theirs["growth"][i].get<uint64_t>()) << "update " << i;
    ASSERT_NE(theirs["applied"][i], overflow) << "update " << i;
  }
  EXPECT_EQ(scaler.skipped(), skipped);
  EXPECT_EQ(scaler.last_overflow(), last);
}

}  // namespace
}  // namespace backplane::parity
