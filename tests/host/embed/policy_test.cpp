// A trained policy with a memory, which each row keeps until the caller starts a new episode in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backplane/embed.h"
#include "places.hpp"

namespace backplane::embed_test {
namespace {

namespace fs = std::filesystem;

class PolicyWithMemory : public testing::Test {
 protected:
  PolicyWithMemory() {
    fs::create_directories(dir_);
    std::ofstream(dir_ / "memory.yaml")
        << "experiment: memory\nenv: {plugin: cartpole}\nlearner: {plugin: remembers}\nmonitors: []\n"
           "budget: {iterations: 2}\nplugin_path: [" BACKPLANE_BINARY_DIR "/tests/fixtures/plugins]\noutput: {dir: "
        << (dir_ / "out").string() << "}\n";
    int32_t exit = 0;
    EXPECT_EQ(bp_run((dir_ / "memory.yaml").c_str(), nullptr, nullptr, nullptr, &exit), BP_OK) << bp_embed_error();
    EXPECT_EQ(bp_embed_policy_open((dir_ / "out").c_str(), nullptr, nullptr, kPolicyRows, &policy_), BP_OK) << bp_embed_error();
    bp_view view;
    EXPECT_EQ(bp_embed_policy_tensor(policy_, "action", &view), BP_OK) << bp_embed_error();
    action_ = static_cast<const int32_t*>(view.data);
  }
  ~PolicyWithMemory() override {
    EXPECT_EQ(bp_embed_policy_close(policy_), BP_OK);
    fs::remove_all(dir_);
  }
  // The learner's action is 1 after an odd number of steps.
  std::vector<int32_t> Act() {
    EXPECT_EQ(bp_embed_policy_act(policy_), BP_OK) << bp_embed_error();
    return {action_, action_ + kPolicyRows};
  }

  static constexpr uint64_t kPolicyRows = 3;
  const fs::path dir_ = fs::path(testing::TempDir()) / ("policy_memory_" + std::to_string(getpid()));
  bp_embed_policy* policy_ = nullptr;
  const int32_t* action_ = nullptr;
};

TEST_F(PolicyWithMemory, IsClearedByRow) {
  using testing::ElementsAre;
  EXPECT_THAT(Act(), ElementsAre(0, 0, 0));
  EXPECT_THAT(Act(), ElementsAre(1, 1, 1));
  EXPECT_THAT(Act(), ElementsAre(0, 0, 0));
  const uint8_t mask[] = {0, 1, 0};
  EXPECT_EQ(bp_embed_policy_reset(policy_, mask), BP_OK);
  EXPECT_THAT(Act(), ElementsAre(1, 0, 1)) << "row 1 has started again";
  EXPECT_THAT(Act(), ElementsAre(0, 1, 0));
  EXPECT_EQ(bp_embed_policy_reset(policy_, nullptr), BP_OK);
  EXPECT_THAT(Act(), ElementsAre(0, 0, 0));
  EXPECT_NE(bp_embed_policy_reset(nullptr, mask), BP_OK);
}

}  // namespace
}  // namespace backplane::embed_test
