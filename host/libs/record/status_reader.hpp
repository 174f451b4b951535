// The status file of a trial, read while it is written.
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

  // A copy of what the file says now, texts terminated; absent as long as the trial has not made it.
  std::optional<StatusFile> Read();

 private:
  std::filesystem::path file_;
  int fd_ = -1;
};

}  // namespace backplane
