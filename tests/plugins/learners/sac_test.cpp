// Options of learner.sac; replay_learner_test.cpp and box_learner_test.cpp have its other tests.
#include <gmock/gmock.h>

#include "replay_trial.hpp"

namespace backplane {
namespace {

using test_support::ReplayTrial;
using testing::HasSubstr;

TEST(Sac, RejectsTwoValuesOfAlpha) {
  for (const char* text : {"0.1", "auto_0.1"}) {
    ReplayTrial both({{"ent_coef", text}, {"initial_alpha", "2"}});
    EXPECT_EQ(both.status(), BP_E_CONFIG);
    EXPECT_THAT(both.error(), HasSubstr("initial_alpha: expected ent_coef: auto, got ")) << text;
  }
}

}  // namespace
}  // namespace backplane
