// The messages between an engine and a shim: an order on the command line of backplane-shim, and lines of text on a pipe
// back.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

inline constexpr char kShimProgram[] = "backplane-shim";  // next to the program of the engine

struct ShimOrder {
  int report_fd = -1;
  double grace_s = 30;                   // from SIGTERM until the trial is killed
  std::vector<int> cores;                // empty: as they are
  std::optional<uint64_t> memory_bytes;  // of all processes of the trial together
  int lock_fd = -1;                      // stays open in the trial as well; -1: none
  std::filesystem::path cgroup;          // a delegated group (cgroup.hpp); empty: none
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path status_file;  // whose heartbeat is the trial's sign of life
  double silence_limit_s = 0;         // without a sign of life for so long the trial is killed; 0: no limit
};

// The arguments after the name of the program.
std::vector<std::string> ToArguments(const ShimOrder& order);
// Throws std::runtime_error with a sentence.
ShimOrder OrderFromArguments(const std::vector<std::string>& arguments);

// "0,1,4", for the kernel and for people.
std::string JoinedCores(const std::vector<int>& cores, const char* between);

struct KeepStart {
  pid_t pid = 0;
  uint64_t start_time = 0;  // ProcessStart
};

struct KeepEnd {
  int code = 0, signal = 0;
  uint64_t peak_rss_bytes = 0;     // largest process
  uint64_t peak_memory_bytes = 0;  // of all of them together; 0: not watched
  bool over_memory = false;
  std::string memory_enforced_by;  // empty without a limit
  bool over_silence = false;       // killed because of ShimOrder::silence_limit_s
  bool left = false;               // SIGKILL did not end it, and the shim has given up
};

// A process that could not give a sign of life, as found when the shim asked or killed the trial.
struct KeepStuck {
  pid_t pid = 0;
  bool is_trial = false;  // the trial's own process; else one that it has started
  char letter = '?';      // as in proc(5): 'T' stopped, 'D' waits for a disk
  std::string name;
};

// "it was stopped (state T)", "its process 4711 (python3) was stopped (state T)".
std::string SentenceOf(const KeepStuck& stuck);

// Instead of the other two: the trial's program was never executed.
struct KeepFailure {
  std::string sentence;
};

struct KeepReport {
  std::optional<KeepStart> start;
  std::optional<KeepEnd> end;
  std::optional<KeepFailure> failure;
  std::optional<KeepStuck> stuck;  // before `end`
};

std::string ToLine(const KeepStart& start);
std::string ToLine(const KeepEnd& end);
std::string ToLine(const KeepFailure& failure);
std::string ToLine(const KeepStuck& stuck);
// Reads the complete lines that the pipe has delivered so far.
KeepReport ReportFromText(const std::string& text);

// A shim passes descriptors to its trial in this environment variable.
inline constexpr char kShimVariable[] = "BACKPLANE_SHIM";

// Descriptors; -1: none.
struct ShimLink {
  int alive_fd = -1;  // a pipe without bytes; only the shim holds its other end
  int kill_fd = -1;   // cgroup.kill of the trial's own group
  int lock_fd = -1;   // locks the trial's folder
};

// "BACKPLANE_SHIM=5 -1 6", for the trial's environment.
std::string ToVariable(const ShimLink& link);

}  // namespace backplane
