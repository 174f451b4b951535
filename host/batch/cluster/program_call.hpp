// A call of a cluster program, such as sbatch or squeue. It runs in parallel to the batch, with a time limit. Its output counts
// as an answer only if it ended without an error.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/awake_clock.hpp"
#include "base/child.hpp"
#include "base/memory_file.hpp"
#include "base/pipe.hpp"

namespace backplane {

// The limit of a call: BACKPLANE_CLUSTER_PATIENCE seconds, by default 30. A busy controller answers late.
std::chrono::milliseconds ClusterPatience();

struct CallEnd {
  std::string out;      // standard output
  std::string err;      // standard error
  std::string failure;  // a sentence if there is no answer; empty: success
  bool ok() const { return failure.empty(); }
};

class ProgramCall {
 public:
  // Finds words[0] on PATH. Never throws: a program that cannot start counts as a failed call.
  explicit ProgramCall(std::vector<std::string> words, std::chrono::milliseconds limit = ClusterPatience(),
                       const std::string& input = "");
  ProgramCall(const ProgramCall&) = delete;  // the destructor kills the program and its children

  // NULL: it still runs. Never waits. Kills the call after the limit.
  const CallEnd* Look();
  // Waits for its end, and kills it on Ctrl-C.
  CallEnd Await();

 private:
  void Finish(const std::string& failure);
  void Ended(const ChildExit& exit);

  const std::string name_;
  const std::chrono::milliseconds limit_;
  std::optional<MemoryFile> input_;
  std::optional<Pipe> out_, err_;
  std::unique_ptr<Child> child_;
  CallEnd end_;
  bool ended_ = false;
  AwakeClock waited_{kPauseOfOurs_s};
};

}  // namespace backplane
