// The event files that a command writes below its folder (learner.tensorboard), followed while it writes: their scalars are
// measures.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command/report.hpp"
#include "tf_events/tf_reader.hpp"

namespace backplane {

class EventFollower {
 public:
  EventFollower(std::filesystem::path folder, std::string pattern) : folder_(std::move(folder)), pattern_(std::move(pattern)) {}

  // What has been written since the last call. The scalars of one step that follow each other are one report; the last one of a
  // file waits until something follows it, or nothing has for a call.
  void Look(const UseReport& use);
  // All that is there, once nothing more is written.
  void Finish(const UseReport& use);
  std::vector<std::string> damages() const;

 private:
  struct Followed {
    TfEventReader reader;
    Report open;             // of the step that is being written
    bool has_grown = false;  // in this call
  };

  void FindFiles();
  void ReadAll(const UseReport& use);

  const std::filesystem::path folder_;
  const std::string pattern_;
  std::map<std::filesystem::path, Followed> files_;
  std::chrono::steady_clock::time_point look_again_{};
};

}  // namespace backplane
