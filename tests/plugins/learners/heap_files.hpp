// Files of a trial in memory (bp.host.file/1), which check the learner's duties. They outlive the learners that open them, as a
// file of a trial outlives an attempt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/ext/file.h"

namespace backplane::test_support {

class HeapFiles {
 public:
  bool missing = false;              // as in a host without the service
  uint64_t disk = UINT64_MAX;        // bytes that `grow` can allocate per file
  std::vector<std::string> damaged;  // files whose checksums differ
  std::vector<std::string> faults;   // breaches of the contract

  // For a call of `open` that follows immediately.
  static const bp_host_file_1* Api(HeapFiles* files) {
    static constexpr bp_host_file_1 kApi{sizeof(bp_host_file_1), 0, Open, Grow, Need, Written};
    if (files->missing) return nullptr;
    present = files;
    return &kApi;
  }
  const bp_file_claim& claim(const std::string& name) const { return files_.at(name)->claim; }
  uint8_t* data(const std::string& name) { return files_.at(name)->raw.data; }
  uint64_t bytes_written = 0;

 private:
  struct File {
    HeapFiles& owner;
    explicit File(HeapFiles& files) : owner(files) {}
    bp_file raw{sizeof(bp_file), 0, nullptr, nullptr, 0};
    std::string name;
    bp_file_claim claim;
    std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
    std::map<uint64_t, uint64_t> ends;  // block -> where its last write ended
  };
  static inline HeapFiles* present = nullptr;

  static bp_status Open(const bp_host*, const char* name, const bp_file_claim* claim, bp_file** out) {
    if (claim->slack_bytes < 3 * claim->iteration_bytes + 2 * uint64_t{BP_FILE_BLOCK} || claim->slack_bytes > claim->max_bytes)
      return present->Fault("too little slack");
    std::unique_ptr<File>& file = present->files_[name];
    if (!file) {
      file = std::make_unique<File>(*present);
      file->memory.reset(std::calloc(claim->max_bytes, 1));
      file->raw.data = static_cast<uint8_t*>(file->memory.get()), file->raw.impl = file.get();
      file->name = name, file->claim = *claim;
    }
    *out = &file->raw;
    return BP_OK;
  }
  static bp_status Grow(bp_file* raw, uint64_t bytes) {
    if (bytes > static_cast<File*>(raw->impl)->owner.disk) return BP_E_IO;
    if (bytes > static_cast<File*>(raw->impl)->claim.max_bytes)
      return static_cast<File*>(raw->impl)->owner.Fault("grows beyond its claim");
    raw->bytes = std::max(raw->bytes, bytes);
    return BP_OK;
  }
  static bp_status Need(bp_file* raw, uint64_t offset, uint64_t n) {
    if (offset + n > raw->bytes) return static_cast<File*>(raw->impl)->owner.Fault("reads beyond its bytes");
    for (const std::string& name : static_cast<File*>(raw->impl)->owner.damaged)
      if (name == static_cast<File*>(raw->impl)->name) return BP_E_IO;
    return BP_OK;
  }
  static bp_status Written(bp_file* raw, uint64_t offset, uint64_t n) {
    auto* file = static_cast<File*>(raw->impl);
    if (offset + n > raw->bytes) return static_cast<File*>(raw->impl)->owner.Fault("writes beyond its bytes");
    static_cast<File*>(raw->impl)->owner.bytes_written += n;
    for (uint64_t at = offset; at < offset + n;) {
      const uint64_t block = at / BP_FILE_BLOCK, end = std::min((block + 1) * BP_FILE_BLOCK, offset + n);
      if (at % BP_FILE_BLOCK != 0 && file->ends[block] != at)
        return static_cast<File*>(raw->impl)->owner.Fault("a gap in a block");
      file->ends[block] = at = end;
    }
    return BP_OK;
  }
  bp_status Fault(const char* what) {
    faults.push_back(what);
    return BP_E_INVALID_ARG;
  }

  std::map<std::string, std::unique_ptr<File>> files_;
};

}  // namespace backplane::test_support
