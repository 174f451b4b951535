// Scripts replace backplane-validate, to test how a check reads its answer.
#include "trial/new_plugins.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "base/scratch_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class NewPlugins : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "no program is started";
#endif
    unsetenv("BACKPLANE_VALIDATE");
    std::ofstream(plugin_) << "a plugin file";
    spec_.env = {plugin_, "env.a"};
    spec_.learner = {plugin_, "learner.a"};
  }

  TriedPlugins Try(const std::string& script, std::chrono::milliseconds limit = 60s) {
    const fs::path program = folder_.path() / "backplane-validate";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
    return TryNewPlugins({spec_}, cancelled_, {program, files_, limit});
  }

  const ScratchFolder folder_;
  const fs::path plugin_ = folder_.path() / "a.so";
  const ValidatedFiles files_{folder_.path() / "cache"};
  TrialSpec spec_;
  std::atomic<bool> cancelled_{false};
};

TEST_F(NewPlugins, AreNamedWithTheRuleThatTheyBreak) {
  const TriedPlugins tried =
      Try(R"(grep -q '"env.a"' && echo '{"broken": [{"file": "/a.so", "id": "env.a", "sentence": "Why."}]}')");
  ASSERT_EQ(tried.broken.size(), 1u) << tried.not_tried;
  EXPECT_EQ(tried.broken[0].file, "/a.so");
  EXPECT_EQ(tried.broken[0].id, "env.a");
  EXPECT_EQ(tried.broken[0].sentence, "Why.");
  EXPECT_EQ(tried.not_tried, "");
}

TEST_F(NewPlugins, StartNoProgramIfKnownOrDisabled) {
  const auto is_started = [&] { return !Try("exit 7").not_tried.empty(); };
  EXPECT_TRUE(is_started());
  setenv("BACKPLANE_VALIDATE", "off", 1);
  EXPECT_FALSE(is_started());
  unsetenv("BACKPLANE_VALIDATE");
  files_.Add(files_.EntryOf(plugin_, "env.a"));
  EXPECT_TRUE(is_started());
  files_.Add(files_.EntryOf(plugin_, "learner.a"));
  EXPECT_FALSE(is_started());
}

TEST_F(NewPlugins, AreOmittedWithAReasonIfTheProgramFails) {
  const auto why_not = [&](const std::string& script, std::chrono::milliseconds limit = 60s) {
    const TriedPlugins tried = Try(script, limit);
    EXPECT_TRUE(tried.broken.empty());
    EXPECT_THAT(tried.not_tried, StartsWith("skipping the quick checks of new plugin files: "));
    return tried.not_tried;
  };
  EXPECT_THAT(why_not("exit 7"), HasSubstr("files: backplane-validate ended with exit code 7"));
  EXPECT_THAT(why_not("kill -SEGV $$"), HasSubstr("files: backplane-validate was ended by: Segmentation fault"));
  EXPECT_THAT(why_not("exec sleep 1000", 100ms), HasSubstr("files: backplane-validate did not end within 0.1 s"));
  EXPECT_THAT(why_not("echo no JSON"), HasSubstr("cannot read the answer of backplane-validate: "));
}

TEST_F(NewPlugins, AreOmittedWithACommandIfTheProgramIsMissing) {
  const TriedPlugins tried = TryNewPlugins({spec_}, cancelled_, {"/nowhere/backplane-validate", files_, 60s});
  EXPECT_THAT(tried.not_tried, HasSubstr("files: backplane-validate is not in /nowhere; `"));
  EXPECT_EQ(tried.not_tried.find('\n'), std::string::npos);
}

TEST_F(NewPlugins, EndTheProgramAtAStop) {
  static std::atomic<bool>* stopped;
  stopped = &cancelled_;
  const auto before = std::signal(SIGUSR2, [](int) { *stopped = true; });
  const fs::path scratch = folder_.path() / "scratch";
  const TriedPlugins tried =
      Try("cd " + folder_.path().string() +
          "; trap 'rm scratch; exit 0' TERM; : > scratch; kill -USR2 $PPID; while :; do sleep 0.01; done");
  std::signal(SIGUSR2, before);
  EXPECT_TRUE(tried.broken.empty());
  EXPECT_EQ(tried.not_tried, "");
  EXPECT_FALSE(fs::exists(scratch)) << "it could not end in time";
}

}  // namespace
}  // namespace backplane
