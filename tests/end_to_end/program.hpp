// Runs the built program in a folder of the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace backplane::end_to_end {

// Sanitizers make programs tens of times slower, so long-running trials get less work.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// With the thread sanitizer, a run with three threads shows all races. Other builds compare its numbers with one thread's.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kLooksForRaces = true;
#else
inline constexpr bool kLooksForRaces = false;
#endif
inline const std::vector<int> kThreads = kLooksForRaces ? std::vector{3} : std::vector{1, 2, 3};

struct Finished {
  int exit = 0;
  std::string out, err;
};

extern const std::string kShim;  // the parent program of each trial

std::string ReadFile(const std::filesystem::path& file);
// One value per line; a line that is no JSON, such as one torn by a kill, gives a discarded value.
std::vector<nlohmann::json> Lines(const std::filesystem::path& file);
// Polls every 5 ms; true if the condition held in time.
bool Until(const std::function<bool()>& condition, double seconds = 60);
// The learner's part of a trial's checkpoint: weights, optimiser, normalisers.
std::string LearnerState(const std::filesystem::path& trial);
// The part of the checkpoint that two equal trials share; empty if there is none. Seconds are only for a wall-time budget.
std::string CheckpointWithoutTimes(const std::filesystem::path& trial);
bool HasPlugin(const std::string& file_name);

class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;  // kills the test's processes that nothing waited for

  std::filesystem::path Write(const std::string& name, const std::string& text);
  Finished Run(const std::string& arguments);
  // Starts it without waiting; its output goes to separate files. Wait() returns its exit.
  pid_t Start(const std::string& arguments);
  pid_t StartCommand(const std::string& command);  // of the shell
  Finished Wait(pid_t pid);
  // Runs copies of the program and the shim in the test's folder bin, with a shell script instead of backplane-report.
  Finished RunBesideReportProgram(const std::string& script, const std::string& arguments);
  // Runs a shell script with a small file system in the folder "disk", in a mount namespace of its own.
  // The script can use $backplane. Empty if mounts are not permitted.
  std::optional<Finished> RunWithSmallDisk(const std::string& size, const std::string& script);
  // Standard error so far of a program that has not been waited for.
  std::string ErrorsOf(pid_t pid) const;
  // Processes in this test's folder that have all of these as arguments or, "NAME=VALUE", in their environment.
  std::vector<pid_t> Processes(const std::vector<std::string>& words, const std::vector<std::string>& without = {}) const;
  // Processes that run a trial, without checks and shims.
  std::vector<pid_t> TrialProcesses() const;

  std::filesystem::path Out(const std::string& experiment) const;
  // The first trial's attempt.
  std::filesystem::path Attempt(const std::string& experiment, int number = 1) const;
  nlohmann::json Result(const std::string& experiment) const;
  // Lines of metrics.jsonl without "time".
  std::vector<nlohmann::json> Metrics(const std::string& experiment, int attempt = 1) const;
  std::string Values(const std::string& experiment, int attempt = 1) const;
  // Waits briefly until the first attempt writes a line of metrics, which shows that it is at work.
  bool Begins(const std::string& experiment) const;

  std::filesystem::path dir_;

 private:
  std::filesystem::path OutputOf(int number, const char* name) const;

  int started_ = 0;
  std::map<pid_t, int> running_;  // to the number of its files of output
};

}  // namespace backplane::end_to_end
