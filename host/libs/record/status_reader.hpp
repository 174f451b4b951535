// Reads a trial's status file while the trial writes it.
#pragma once

#include <filesystem>
#include <optional>

#include "record/status_file.hpp"

namespace backplane {

class StatusReader {
 public:
  explicit StatusReader(std::filesystem::path file) : file_(std::move(file)) {}
  ~StatusReader();
  StatusReader(const StatusReader&) = delete;

  // Returns a copy with terminated texts; absent until the trial has written the file.
  std::optional<StatusFile> Read();

 private:
  std::filesystem::path file_;
  int fd_ = -1;
};

}  // namespace backplane
