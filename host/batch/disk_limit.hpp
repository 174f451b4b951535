// Compares the size of the results folder with output.max_disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace backplane {

class DiskLimit {
 public:
  // Absent `limit_bytes`: no limit.
  DiskLimit(std::filesystem::path out, std::optional<uint64_t> limit_bytes) : out_(std::move(out)), limit_(limit_bytes) {}

  // Returns why the batch must pause, if it must. Measures twice per second, and for at most one percent of the time.
  std::optional<std::string> Exceeded();

 private:
  using Clock = std::chrono::steady_clock;

  const std::filesystem::path out_;
  const std::optional<uint64_t> limit_;
  Clock::time_point next_;  // look
};

}  // namespace backplane
