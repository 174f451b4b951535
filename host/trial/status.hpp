// The mapped status file of a running trial: written at any moment without a system call, readable after a crash.
#pragma once

#include <filesystem>
#include <string_view>

#include "contract/trial_spec.hpp"

namespace backplane {

class StatusWriter {
 public:
  // An empty path keeps it in memory only. Throws std::system_error.
  explicit StatusWriter(const std::filesystem::path& file);
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;

  void Beat();  // [any]
  void SetPhase(std::string_view name);
  void SetPlugin(std::string_view id);
  void SetLine(std::string_view text);
  void NameLive(const std::vector<std::string>& names);  // as the experiment says it; no value yet
  void AddLive(std::string_view name);                   // another one, unless it is there or there is no room
  void SetLive(std::string_view name, double value);     // nothing if the name is none of them
  void SetOwnTime(double seconds, double suspended_s);
  StatusFile& data() { return *file_; }

 private:
  StatusFile* file_;
};

}  // namespace backplane
