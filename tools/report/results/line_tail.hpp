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

  // True: another file has come in the place of the one that was read, or it was cut short or written anew. Nothing of what was
  // read before is so any more, and Read begins at the start.
  bool IsAnew();
  // Gives each whole line to `use`, of about `most_bytes` in all, and returns how many bytes they were; what no line feed ends
  // waits for the next time. A file that is not there has no lines.
  size_t Read(size_t most_bytes, const std::function<void(const std::string& line)>& use);

 private:
  std::filesystem::path file_;
  uint64_t inode_ = 0, offset_ = 0;
  std::string before_;  // the last bytes before the offset: a file that was written anew has others there
};

}  // namespace backplane
