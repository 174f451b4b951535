#include <fstream>
#include <sstream>

#include "event_host.hpp"
#include "tf_events/tf_events.hpp"

namespace backplane::test_support {
namespace {

class TensorBoardMonitor : public MonitorTest {
 protected:
  std::vector<std::filesystem::path> Files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
  }
  std::string Text() {
    const auto files = Files();
    if (files.size() != 1) return std::to_string(files.size()) + " files";
    std::ostringstream text;
    text << std::ifstream(files[0], std::ios::binary).rdbuf();
    return text.str();
  }
  // The part of a record that does not depend on the wall time.
  static std::string Payload(const std::string& record) { return record.substr(12 + 9, record.size() - 12 - 9 - 4); }
  static bp_event Metric(const char* name, uint64_t step, double value) {
    bp_event event = Event(BP_EVENT_METRIC, name, 1'000'000'000, value);
    event.env_steps = step;
    return event;
  }
};

TEST_F(TensorBoardMonitor, CanBeFollowedWhileTheTrialRuns) {
  Create("monitor.tensorboard");
  EXPECT_TRUE(Wants(BP_EVENT_METRIC));
  EXPECT_FALSE(Wants(BP_EVENT_PHASE));
  EXPECT_TRUE(Files().empty()) << "a check also creates monitors, and must leave no file";
  Send({Metric("train/loss", 64, 0.5)});
  ASSERT_EQ(api_->sample(monitor_, 1), BP_OK);
  const std::string text = Text();
  EXPECT_EQ(text.size(), TfFileVersion(0).size() + TfScalar(0, 64, "train/loss", 0.5f).size());
  EXPECT_NE(text.find(Payload(TfScalar(0, 64, "train/loss", 0.5f))), std::string::npos);
  EXPECT_EQ(text.find(Payload(TfSessionStart(0, 64))), std::string::npos) << "it is the first attempt";
}

TEST_F(TensorBoardMonitor, ALaterAttemptRecordsItsFirstStep) {
  Create("monitor.tensorboard", {}, 2);
  Send({Metric("a", 300, 1), Metric("b", 300, 2), Metric("a", 400, 1)});
  ASSERT_EQ(api_->finish(monitor_, attempt_dir_.c_str()), BP_OK);
  const std::string text = Text();
  EXPECT_EQ(text.substr(TfFileVersion(0).size()).find(Payload(TfSessionStart(0, 300))), 12u + 9u) << "right after the version";
  EXPECT_EQ(text.find(Payload(TfSessionStart(0, 400))), std::string::npos);
  ASSERT_EQ(api_->finish(monitor_, attempt_dir_.c_str()), BP_OK);
  EXPECT_EQ(Text(), text) << "a second finish adds no bytes";
}

}  // namespace
}  // namespace backplane::test_support
