// A file that only grows, by whole lines: a write that fails leaves what stood there before.
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
  // Opens it for appending, or makes it; a last line without its end is cut off.
  explicit LineFile(std::filesystem::path file);
  // The same of a file of something else than lines, of which the first bytes are whole.
  LineFile(std::filesystem::path file, uint64_t whole_bytes);
  ~LineFile();
  LineFile(const LineFile&) = delete;

  // With one write(). If it does not fit, the file is afterwards what it was: half a line followed by a whole one could not be
  // read again, and cutting a file back needs no room.
  void Append(std::string_view lines);
  // What was appended is on the disk when this returns. Costs nothing if nothing was appended since the last time.
  void Sync();
  // Both, and the file is what it was if either fails.
  void AppendAndSync(std::string_view lines);

 private:
  LineFile(std::filesystem::path file, const std::function<uint64_t(int fd, uint64_t size_bytes)>& whole_bytes);
  void CutTo(uint64_t bytes);

  std::filesystem::path file_;
  int fd_ = -1;
  uint64_t size_bytes_ = 0;
  bool unsynced_ = false;
  // A failed fdatasync has dropped what it could not write, and the next one would say that all is well.
  int sync_error_ = 0;
};

}  // namespace backplane
