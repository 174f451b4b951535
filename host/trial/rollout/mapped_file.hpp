// A file that a learner maps (ext/file.h): its addresses, its disk space and the checksums of its blocks. Without a path it is
// memory of the process. [control]
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backplane/ext/file.h"
#include "base/hash64.hpp"
#include "rollout/file_flusher.hpp"

namespace backplane {

// The disk is full or fails. The file is as before.
class DiskFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A checkpoint's description of a file.
struct SavedFile {
  struct Block {
    uint64_t checksum = 0;  // of the first `covered` bytes
    uint64_t covered = 0;
    bool operator==(const Block&) const = default;
  };
  std::string name;
  uint64_t bytes = 0;
  uint64_t written = 0;  // in total since the trial began, also bytes that were overwritten
  std::vector<Block> blocks;
};

class MappedFile {
 public:
  // Throws TrialFailure (BP_E_INVALID_ARG, BP_E_OOM_HOST) and DiskFailure. An existing file keeps its content until Restore.
  MappedFile(std::string name, std::filesystem::path path, const bp_file_claim& claim);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;

  bp_file* view() { return &view_; }
  const std::string& name() const { return name_; }
  const bp_file_claim& claim() const { return claim_; }
  bool on_disk() const { return fd_ >= 0; }
  uint64_t written() const { return written_; }

  // As in ext/file.h. Throw TrialFailure and DiskFailure.
  void Grow(uint64_t bytes);
  void Need(uint64_t offset, uint64_t n);
  void Written(uint64_t offset, uint64_t n);
  // True if `Need` has nothing to compare in a range within a block. Otherwise call it.
  bool IsChecked(uint64_t offset, uint64_t n) const {
    const uint64_t number = offset / BP_FILE_BLOCK;
    return pending_ == 0 && number < blocks_.size() && n <= BP_FILE_BLOCK &&
           offset % BP_FILE_BLOCK + n <= blocks_[number].covered;
  }

  SavedFile Save() const;
  // Makes it the file that a checkpoint describes, or an empty one. Blocks are compared when they are needed. Throws
  // TrialFailure and DiskFailure.
  void Restore(const SavedFile& saved);
  // Copies the content and description of another one, for tests of plugins.
  void CopyFrom(const MappedFile& other);
  // Brings all bytes to the disk. Throws DiskFailure.
  void Sync();
  // From here on, `Written` rejects more than claim().iteration_bytes until the next call.
  void BeginIteration() { iteration_from_ = written_, counts_iterations_ = true; }

 private:
  struct Block {
    uint64_t checksum = 0, covered = 0;  // the checksum of a whole block, or of one to compare
    bool pending = false;                // to be compared with the checkpoint's checksum
    std::unique_ptr<Hash64> open;        // of the covered bytes, while the block may continue
  };

  void OpenDisk();
  void Map(uint64_t bytes);
  void Allocate(uint64_t from, uint64_t bytes, uint64_t before);
  void Compare(uint64_t number);
  void CheckRange(const char* call, uint64_t offset, uint64_t n) const;
  void Cover(uint64_t number, uint64_t from, uint64_t n);
  [[noreturn]] void FailDisk(const char* doing, uint64_t bytes, int error) const;

  const std::string name_;
  const std::filesystem::path path_;  // empty: memory
  const bp_file_claim claim_;
  const uint64_t reserved_;
  bp_file view_;
  int fd_ = -1;
  uint64_t mapped_ = 0;
  std::vector<Block> blocks_;
  uint64_t pending_ = 0;  // blocks
  uint64_t written_ = 0, iteration_from_ = 0;
  bool counts_iterations_ = false;
  std::string loss_;  // found by Restore, for the error of a block
  std::unique_ptr<FileFlusher> flusher_;
};

}  // namespace backplane
