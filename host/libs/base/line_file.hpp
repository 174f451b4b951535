// An append-only file of whole lines; a failed write leaves the previous content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace backplane {

// One writer. Every function throws std::runtime_error with the file and the system's reason ("cannot write FILE: No space left
// on device").
class LineFile {
 public:
  // Opens the file for appending or creates it; cuts off an incomplete last line.
  explicit LineFile(std::filesystem::path file);
  // The same for a file that does not consist of lines; its first `whole_bytes` bytes are valid.
  LineFile(std::filesystem::path file, uint64_t whole_bytes);
  ~LineFile();
  LineFile(const LineFile&) = delete;

  // Appends with one write(). After a failure the file is cut back, which needs no space, because a partial line would corrupt
  // the next one.
  void Append(std::string_view lines);
  // Makes appended lines durable. Free if there are none since the last call.
  void Sync();
  // Does both; cuts the file back if either fails.
  void AppendAndSync(std::string_view lines);

 private:
  LineFile(std::filesystem::path file, const std::function<uint64_t(int fd, uint64_t size_bytes)>& whole_bytes);
  void CutTo(uint64_t bytes);

  std::filesystem::path file_;
  int fd_ = -1;
  uint64_t size_bytes_ = 0;
  bool unsynced_ = false;
  // A failed fdatasync drops its dirty pages, so the next call would falsely succeed.
  int sync_error_ = 0;
};

}  // namespace backplane
