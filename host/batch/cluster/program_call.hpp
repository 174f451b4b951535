// A call of one of a cluster's programs, such as sbatch or squeue. It runs next to the batch and has a limit. Its output counts
// as an answer only if it ended well.
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

// The limit of a call: BACKPLANE_CLUSTER_PATIENCE seconds, 30 unless it is set. A busy controller answers late.
std::chrono::milliseconds ClusterPatience();

struct CallEnd {
  std::string out;      // from its standard output
  std::string err;      // from its standard error
  std::string failure;  // why there is no answer, a sentence; empty: it ended well
  bool ok() const { return failure.empty(); }
};

class ProgramCall {
 public:
  // Looks for words[0] on PATH. Never throws: a program that cannot be started is a call that failed.
  explicit ProgramCall(std::vector<std::string> words, std::chrono::milliseconds limit = ClusterPatience(),
                       const std::string& input = "");
  ProgramCall(const ProgramCall&) = delete;  // the destructor kills the program and its children

  // NULL: it still runs. Never waits; after the limit the call is killed.
  const CallEnd* Look();
  // Waits for its end, and kills it after a Ctrl-C.
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
