#include "supervise/identity.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"

namespace backplane {
namespace {

class IdentityTest : public testing::Test {
 protected:
  IdentityTest() {
    std::filesystem::create_directories(folder_);
    loaded_.env = Plugin("env.toy");
    loaded_.learner = Plugin("learner.toy");
    loaded_.experiment.env = {"toy", {{"size", 3}}};
    loaded_.experiment.learner = {"toy", {{"lr", 0.1}}};
  }
  ~IdentityTest() override { std::filesystem::remove_all(folder_); }

  PluginInfo Plugin(const std::string& id) {
    PluginInfo info;
    info.id = id;
    info.file = folder_ / (id + ".so");
    std::ofstream(info.file) << id;
    return info;
  }
  std::string Id() const { return TrialId(IdentityJson(loaded_)); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("identity_test_" + std::to_string(getpid()));
  LoadedExperiment loaded_;
};

TEST_F(IdentityTest, IsTwelveHexDigits) {
  EXPECT_EQ(std::string::npos, Id().find_first_not_of("0123456789abcdef"));
  EXPECT_EQ(12u, Id().size());
}

TEST_F(IdentityTest, WhatChangesNoNumberChangesNoId) {
  const std::string before = Id();
  loaded_.experiment.name = "other";
  loaded_.experiment.output_dir = "elsewhere";
  loaded_.experiment.monitors = {{"watcher", {}}};
  loaded_.monitors = {Plugin("monitor.watcher")};
  loaded_.experiment.rollout.threads = 7;
  loaded_.experiment.rollout.pin_threads = true;
  loaded_.experiment.resources.hang_timeout_s = 1;
  loaded_.experiment.checkpoint_every_iterations = 5;
  EXPECT_EQ(before, Id());
}

TEST_F(IdentityTest, SeedOptionsAndRowsChangeIt) {
  const std::string before = Id();
  loaded_.experiment.seed = 1;
  const std::string seeded = Id();
  EXPECT_NE(before, seeded);
  loaded_.experiment.learner.options["lr"] = 0.2;
  const std::string tuned = Id();
  EXPECT_NE(seeded, tuned);
  loaded_.experiment.rollout.num_env_runners = 2;
  EXPECT_NE(tuned, Id());
}

TEST_F(IdentityTest, WritingTheDefaultOfChunkRowsOutChangesNothing) {
  loaded_.experiment.rollout.num_envs_per_env_runner = 64;
  const std::string before = Id();
  loaded_.experiment.rollout.chunk_rows = 16;
  EXPECT_EQ(before, Id());
  loaded_.experiment.rollout.chunk_rows = 8;
  EXPECT_NE(before, Id());
}

TEST_F(IdentityTest, ContentOfPluginAndDataFilesChangesIt) {
  const std::string before = Id();
  std::ofstream(loaded_.env.file) << "rebuilt";
  const std::string rebuilt = Id();
  EXPECT_NE(before, rebuilt);
  OptionInfo data;
  data.path = "corpus";
  data.type = BP_PARAM_PATH;
  data.flags = BP_PARAM_DATA;
  loaded_.env.options = {data};
  loaded_.experiment.env.options["corpus"] = (folder_ / "data.txt").string();
  std::ofstream(folder_ / "data.txt") << "one";
  const std::string with_data = Id();
  std::ofstream(folder_ / "data.txt") << "two";
  EXPECT_NE(with_data, Id());
}

TEST(Sha256, KnownAnswer) { EXPECT_EQ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Sha256("abc")); }

}  // namespace
}  // namespace backplane
