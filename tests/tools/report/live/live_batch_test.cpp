// A batch that is read while it runs.
#include "live/live_batch.hpp"

#include <gtest/gtest.h>

#include "support/result_folder.hpp"

namespace backplane {
namespace {

class LiveBatchTest : public testing::Test {
 protected:
  // More trials than have curves in memory.
  LiveBatchTest() {
    nlohmann::json trials = nlohmann::json::array();
    for (uint64_t seed = 0; seed < kTrials; ++seed) {
      const std::string id = "t" + std::to_string(seed);
      folder_.Plan(id, "one", {{"rollout.num_env_runners", 1}}, seed);
      folder_.Start(id);
      folder_.WriteAttempt(id, "result.json", R"({"schema":1,"state":"COMPLETED","outcome":"ok","return":{"mean":1,"n":1}})");
      folder_.WriteAttempt(id, "metrics.jsonl",
                           R"({"iteration":1,"step":1,"return":{"mean":1,"n":1},"metrics":{"loss":2}})"
                           "\n");
      folder_.End(id, "COMPLETED", "ok");
      trials.push_back({{"id", id}, {"state", "COMPLETED"}, {"attempt", 1}});
    }
    folder_.Write("progress.json", nlohmann::json{{"trials", trials}}.dump());
  }

  static constexpr uint64_t kTrials = 70;
  ResultFolder folder_{"live_batch"};
};

TEST_F(LiveBatchTest, KeepsEveryTrialAndTheCurvesOfTheLatest) {
  LiveBatch batch(folder_.out());
  ASSERT_TRUE(batch.Read(1 << 20));
  EXPECT_EQ(kTrials, batch.ended().size());
  EXPECT_TRUE(batch.HasAllEnded()) << "so the page can begin with an answer";
  EXPECT_TRUE(batch.ended().front().Find("return"));
  EXPECT_TRUE(batch.ended().front().curves.empty());
  EXPECT_TRUE(batch.ended().back().curves.contains("return"));
  EXPECT_FALSE(batch.ended().back().curves.contains("loss"));
}

TEST_F(LiveBatchTest, HasNoAnswerFromCurvesThatItLacks) {
  folder_.Write("config.yaml", "experiment: walk\nreport: {kind: comparison, select: {metric: loss@min}}\n");
  LiveBatch batch(folder_.out());
  ASSERT_TRUE(batch.Read(1 << 20));
  EXPECT_TRUE(batch.ended().back().curves.contains("loss"));
  EXPECT_FALSE(batch.HasAllEnded());
}

}  // namespace
}  // namespace backplane
