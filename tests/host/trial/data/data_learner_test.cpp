#include "backplane/data_learner.hpp"

#include <gtest/gtest.h>

#include "data_trial.hpp"

namespace backplane {
namespace {

// Groups of 4; counts its updates as soon as it knows the host's limits.
class CountsAhead : public bp::DataLearner {
 public:
  explicit CountsAhead(bool drop_last)
      : DataLearner(bp::LearnerSetup{nullptr, bp::Config(nullptr), nullptr, 1, 7}), leaves_out_(drop_last) {}
  const bp_learner_spec* Spec() const override { return nullptr; }
  bp::DataRequest NextGroup() override { return {.micro_batch = 2, .group = 4, .sort = false, .drop_last = leaves_out_}; }
  void OnMicroBatch(const bp::Delivery&) override {}
  void OnLimits(const bp_limits&) override { updates_ = UpdatesInAll(4); }
  void Act(const bp_act&) override {}
  uint64_t updates() const { return updates_; }

 private:
  bool leaves_out_;
  uint64_t updates_ = 0;
};

// An attempt that resumes has the same first plan: the count decides the learning rate of the next update.
TEST(DataLearner, KnowsInItsFirstPlanWhetherShortGroupsCount) {
  bp_limits limits = LimitsOf(10, 0);
  limits.epochs = 3;
  for (const bool drop_last : {true, false}) {
    CountsAhead learner(drop_last);
    bp_request request{};
    request.struct_size = sizeof request;
    learner.Plan(limits, &request);
    EXPECT_EQ(learner.updates(), drop_last ? 3u * 2 : 3u * 3);
    EXPECT_EQ((request.u.data.flags & BP_DATA_DROP_LAST) != 0, drop_last);
  }
}

}  // namespace
}  // namespace backplane
