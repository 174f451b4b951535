// Follows the event files that a command writes below its folder (learner.tensorboard). Their scalars become measures.
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

  // Reads new data. Consecutive scalars of one step form one report. A file's last report waits for a later record, or for a
  // call without new data.
  void Look(const UseReport& use);
  // Reads everything left. Call after the last write.
  void Finish(const UseReport& use);
  std::vector<std::string> damages() const;

 private:
  struct Followed {
    TfEventReader reader;
    Report open;             // the step in progress
    bool has_grown = false;  // during this call
  };

  void FindFiles();
  void ReadAll(const UseReport& use);

  const std::filesystem::path folder_;
  const std::string pattern_;
  std::map<std::filesystem::path, Followed> files_;
  std::chrono::steady_clock::time_point look_again_{};
};

}  // namespace backplane
