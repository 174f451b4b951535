// The mapped status file of a running trial: written at any moment without a system call, readable after a crash.
#pragma once

#include <filesystem>
#include <string_view>

#include "contract/trial_spec.hpp"

namespace backplane {

class StatusWriter {
 public:
  // An empty path keeps it only in memory. Throws std::system_error.
  explicit StatusWriter(const std::filesystem::path& file);
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;

  void Beat();  // [any]
  void SetPhase(std::string_view name);
  void SetPlugin(std::string_view id);
  void SetLine(std::string_view text);
  void NameLive(const std::vector<std::string>& names);  // from the experiment; no values yet
  void AddLive(std::string_view name);                   // adds one, unless it exists or there is no room
  void SetLive(std::string_view name, double value);     // ignores unknown names
  void SetOwnTime(double seconds, double suspended_s);
  StatusFile& data() { return *file_; }

 private:
  StatusFile* file_;
};

}  // namespace backplane
