#include "store/progress_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace backplane {
namespace {

using nlohmann::json;

BatchProgress Batch() {
  BatchProgress batch;
  batch.head.experiment = "toy";
  batch.head.state = "running";
  batch.head.started = 100;
  batch.head.updated = 142.5;
  batch.head.elapsed_s = 42.5;
  batch.trials.resize(3);
  batch.trials[0] = {"t0", "lr=1", 5, TrialState::kCompleted, 1, 1.0, 1000, 3.5, ""};
  batch.trials[1] = {"t1", "lr=2", 5, TrialState::kRunning, 2, 0.25, std::nullopt, std::nullopt, ""};
  batch.trials[2] = {"t2", "lr=\"3\"", 6, TrialState::kFailed, 1, std::nullopt, std::nullopt, std::nullopt, "bad \xff byte"};
  return batch;
}

TEST(ProgressFile, ReportsProgressOfTheBatch) {
  const json read = json::parse(ProgressText().Of(Batch()));
  EXPECT_EQ("running", read.at("state"));
  EXPECT_EQ(2, read.at("done")) << "a failed trial is done";
  EXPECT_EQ(3, read.at("total"));
  EXPECT_EQ(json({{"COMPLETED", 1}, {"FAILED", 1}, {"RUNNING", 1}}), read.at("counts"));
  EXPECT_EQ(42.5, read.at("elapsed_s"));
  EXPECT_TRUE(read.at("eta_s").is_null()) << "not known yet";
  EXPECT_EQ(0.25, read.at("trials").at(1).at("progress"));
  EXPECT_TRUE(read.at("trials").at(1).at("return").is_null());
  EXPECT_EQ("lr=\"3\"", read.at("trials").at(2).at("name"));
}

TEST(ProgressFile, TotalIncludesTrialsThatASearchWillAdd) {
  BatchProgress batch = Batch();
  batch.to_come = 4;
  EXPECT_EQ(7, json::parse(ProgressText().Of(batch)).at("total"));
}

TEST(ProgressFile, KeptTextsNeverGoStale) {
  ProgressText kept;
  BatchProgress batch = Batch();
  kept.Of(batch);
  batch.trials[1].progress = 0.5;
  batch.head.eta_s = 10;
  EXPECT_EQ(ProgressText().Of(batch), kept.Of(batch));
  batch.trials.erase(batch.trials.begin());
  EXPECT_EQ(ProgressText().Of(batch), kept.Of(batch));
  batch.trials.clear();
  EXPECT_EQ(0, json::parse(kept.Of(batch)).at("total"));
}

TEST(ProgressFile, ReplacesTheOldFileAndLeavesNoOther) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("progress_file_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  ProgressFile file(folder / "progress.json");
  BatchProgress batch = Batch();
  file.Write(batch);
  batch.head.state = "done";
  file.Write(batch);
  EXPECT_EQ("done", json::parse(ReadFile(folder / "progress.json").value()).at("state"));
  EXPECT_EQ(1, std::distance(std::filesystem::directory_iterator(folder), {}));
  std::filesystem::remove_all(folder);
}

TEST(ProgressFile, StaysInItsFolderIfTheNameIsReplaced) {
  const auto base = std::filesystem::path(testing::TempDir()) / ("progress_file_held_" + std::to_string(getpid()));
  const auto folder = base / "out", moved = base / "moved";
  ProgressFile file(folder / "progress.json");
  BatchProgress batch = Batch();
  file.Write(batch);
  std::filesystem::rename(folder, moved);
  std::filesystem::create_directories(folder);
  batch.head.state = "done";
  file.Write(batch);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ("done", json::parse(ReadFile(moved / "progress.json").value()).at("state"));
  std::filesystem::remove_all(base);
  EXPECT_NO_THROW(file.Write(batch));
  EXPECT_FALSE(std::filesystem::exists(base)) << "no new file";
}

}  // namespace
}  // namespace backplane
