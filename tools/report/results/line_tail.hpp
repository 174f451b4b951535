// Reads the lines added to a file since the last call, for readers that follow a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace backplane {

class LineTail {
 public:
  LineTail() = default;
  explicit LineTail(std::filesystem::path file) : file_(std::move(file)) {}

  // True if the file was replaced, truncated or rewritten. Earlier lines are then invalid, and Read restarts at the beginning.
  bool IsAnew();
  // Passes whole lines to `use`, about `most_bytes` in total, and returns their bytes. An unfinished line waits for the next
  // call. A missing file has no lines.
  size_t Read(size_t most_bytes, const std::function<void(const std::string& line)>& use);

 private:
  std::filesystem::path file_;
  uint64_t inode_ = 0, offset_ = 0;
  std::string before_;  // the last bytes before the offset; they differ if the file was rewritten
};

}  // namespace backplane
