#include "trial/hang_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "contract/trial_spec.hpp"
#include "rollout/instance.hpp"
#include "trial/crash.hpp"

namespace backplane {
namespace {

TEST(HangWatchDeathTest, EndsProcessWithoutSignOfLifeAndNamesThePlugin) {
  EXPECT_EXIT(
      {
        auto* status = new StatusWriter("");
        InstallCrashHandlers(status, "", [](const std::string&) { _exit(1); });
        tls_running_plugin = "env.sleeper";
        EndIfItHangs(status, 1);
        for (;;) pause();
      },
      testing::ExitedWithCode(kExitTimeout), "env.sleeper: gave no sign of life for 1s \\(resources.hang_timeout\\)");
}

TEST(HangWatchDeathTest, KeepsProcessThatGivesSignsOfLife) {
  EXPECT_EXIT(
      {
        auto* status = new StatusWriter("");
        InstallCrashHandlers(status, "", [](const std::string&) { _exit(1); });
        EndIfItHangs(status, 2);
        for (int i = 0; i < 60; ++i) {
          status->Beat();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        _exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace backplane
