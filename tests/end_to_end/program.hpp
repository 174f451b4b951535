// Runs the built program in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane::end_to_end {

// A sanitizer makes programs tens of times slower: what should last a while does so with less work.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

struct Finished {
  int exit = 0;
  std::string out, err;
};

std::string ReadFile(const std::filesystem::path& file);
// The learner's own part of a trial's checkpoint: weights, optimiser, normalisers.
std::string LearnerState(const std::filesystem::path& trial);
// All of the checkpoint that two equal trials share; empty: there is none. Seconds are kept for a wall-time budget.
std::string CheckpointWithoutTimes(const std::filesystem::path& trial);
bool HasPlugin(const std::string& file_name);

class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  std::filesystem::path Write(const std::string& name, const std::string& text);
  Finished Run(const std::string& arguments);
  // Starts it without waiting; its output goes to files. Wait() returns its exit.
  pid_t Start(const std::string& arguments);
  Finished Wait(pid_t pid);
  nlohmann::json Result(const std::string& experiment);
  // The lines of metrics.jsonl without their "time" part.
  std::string Values(const std::string& experiment);
  std::filesystem::path Attempt(const std::string& experiment, int number = 1);

  std::filesystem::path dir_;
};

}  // namespace backplane::end_to_end
