// An engine with fake trials. Every process carries a mark in its environment, so tests can find leftovers.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "batch/local_engine.hpp"
#include "places.hpp"

namespace backplane {

class EngineTest : public testing::Test {
 protected:
  EngineTest() { std::filesystem::create_directories(folder_); }
  ~EngineTest() override { std::filesystem::remove_all(folder_); }

  TrialCommand Fake(std::vector<std::string> arguments) const {
    TrialCommand command;
    command.child = {kFakeTrial, std::move(arguments), {mark_}, folder_ / "stdout.log", folder_ / "stderr.log", {}};
    command.grace_s = 0.1;
    return command;
  }

  // Waits for the only running job.
  JobEnd End() {
    for (;;) {
      const std::vector<JobEnd> ended = engine_.Wait(1000);
      if (!ended.empty()) {
        EXPECT_EQ(1u, ended.size());
        return ended[0];
      }
    }
  }
  JobEnd Run(std::vector<std::string> arguments) {
    engine_.Start(Fake(std::move(arguments)));
    return End();
  }
  // Returns after the job has printed "ready", past its set-up.
  JobId StartReady(std::vector<std::string> arguments) {
    const JobId job = engine_.Start(Fake(std::move(arguments)));
    Until([&] { return ReadFile(folder_ / "stdout.log").value_or("").find("ready") != std::string::npos; });
    return job;
  }

  // Polls. If the condition never holds, the runner's time limit ends the test.
  template <typename Condition>
  static void Until(Condition condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  // Processes with the mark, including shims. Zombies have no environment.
  std::vector<std::string> Left() const {
    std::vector<std::string> left;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      const std::string environment = ReadFile(entry.path() / "environ").value_or("");
      if (environment.find(mark_) != std::string::npos) {
        left.push_back(entry.path().filename().string() + " " + ReadFile(entry.path() / "cmdline").value_or(""));
      }
    }
    return left;
  }

  static constexpr const char* kBackplane = BACKPLANE_BINARY_DIR "/bin/backplane";
  static constexpr const char* kFakeTrial = BACKPLANE_BINARY_DIR "/tests/fake_trial";

  const std::string name_ = "engine_test_" + std::to_string(getpid());
  const std::string mark_ = "BACKPLANE_TEST_MARK=" + name_ + ";";
  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / name_;
  LocalEngine engine_{kBackplane};
};

}  // namespace backplane
