// Holds a file by descriptor, to detect its loss and still read its content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace backplane {

enum class FileLoss {
  kNone = 1,
  kDeleted,   // or moved: the name is free
  kReplaced,  // another file has its name
  kCut,       // it is shorter than at an earlier look
};

class HeldFile {
 public:
  // Throws std::runtime_error if it cannot be opened.
  explicit HeldFile(const std::filesystem::path& file);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;

  const std::filesystem::path& name() const { return name_; }  // absolute
  FileLoss Look();                                             // two stat() calls; the first loss stays
  std::string Content() const;                                 // also after it was deleted

 private:
  FileLoss LossNow();

  std::filesystem::path name_;
  int fd_ = -1;
  uint64_t most_bytes_ = 0;
  FileLoss loss_ = FileLoss::kNone;
};

}  // namespace backplane
