// The files of a learner instance (ext/file.h): opens them, saves their description with a checkpoint, and decides when a
// checkpoint must come before the next iteration. [control]
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/host_services.hpp"
#include "rollout/mapped_file.hpp"

namespace backplane {

class LearnerFiles {
 public:
  // `services` owns it. `folder`: of the files; empty: they are memory of the process.
  LearnerFiles(HostServices* services, std::filesystem::path folder) : services_(*services), folder_(std::move(folder)) {}
  LearnerFiles(const LearnerFiles&) = delete;

  static const bp_host_file_1* Api();

  bool empty() const { return files_.empty() && saved_.empty(); }
  // Starts with empty files, or with the files of a checkpoint. Call one of them before the learner's `load` and its first
  // plan. Throw TrialFailure, BP_E_IO if the part is invalid, and DiskFailure.
  void StartEmpty() { Start({}); }
  void Restore(const std::vector<std::byte>& part);
  // The part of a checkpoint: 16 bytes for each block, and some for each file.
  std::vector<std::byte> Save() const;
  // Brings all files to the disk. Throws DiskFailure.
  void Sync();
  // Makes these files equal to another instance's, for tests of plugins.
  void CopyFrom(const LearnerFiles& other);

  void BeginIteration();
  // Bytes written to each file so far, in the order of opening.
  using Mark = std::vector<uint64_t>;
  Mark Now() const;
  static Mark MarkOf(const std::vector<std::byte>& part);
  // The two checkpoints that are kept. Absent: there is none.
  void NoteKept(std::optional<Mark> older, std::optional<Mark> newest) {
    older_ = std::move(older), newest_ = std::move(newest);
  }
  const std::optional<Mark>& newest() const { return newest_; }
  const std::optional<Mark>& older() const { return older_; }
  // True if the next iteration could overwrite bytes that the older of these checkpoints needs.
  bool NeedsCheckpoint() const;

 private:
  static bp_status Open(const bp_host* host, const char* name, const bp_file_claim* claim, bp_file** borrow_file) noexcept;
  static bp_status Grow(bp_file* file, uint64_t bytes) noexcept;
  static bp_status Need(bp_file* file, uint64_t offset, uint64_t n) noexcept;
  static bp_status Written(bp_file* file, uint64_t offset, uint64_t n) noexcept;
  void Start(std::vector<SavedFile> saved);
  bp_file* OpenFile(const std::string& name, const bp_file_claim& claim);
  void RestoreFile(MappedFile* file);

  // A file and its owner: the functions of the table get only the file.
  struct File : MappedFile {
    File(LearnerFiles* of, std::string name, std::filesystem::path path, const bp_file_claim& claim)
        : MappedFile(std::move(name), std::move(path), claim), owner(*of) {}
    LearnerFiles& owner;
  };
  static File* Self(bp_file* file) { return static_cast<File*>(static_cast<MappedFile*>(file->impl)); }
  template <class Function>
  bp_status Guard(Function&& function) noexcept;

  HostServices& services_;
  const std::filesystem::path folder_;
  std::deque<File> files_;  // in the order of opening
  bool started_ = false;
  std::map<std::string, SavedFile> saved_;  // of the checkpoint, not opened yet
  std::optional<Mark> older_, newest_;
};

}  // namespace backplane
