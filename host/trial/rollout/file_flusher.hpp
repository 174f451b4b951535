// Brings a file to the disk in the background, so that a checkpoint has little left to sync.
#pragma once

#include <filesystem>
#include <memory>

namespace backplane {

class FileFlusher {
 public:
  // The thread starts with the first Flush.
  explicit FileFlusher(std::filesystem::path file);
  // Does not wait: a disk that does not answer must not keep a trial from ending.
  ~FileFlusher();
  FileFlusher(const FileFlusher&) = delete;

  // Does not wait. The sync of the next checkpoint reports errors. [control]
  void Flush();

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  const std::filesystem::path file_;
  std::shared_ptr<Shared> shared_;  // NULL: no thread
};

}  // namespace backplane
