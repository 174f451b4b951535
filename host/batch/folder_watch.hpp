// Detects that the results folder of a running batch is deleted, moved or replaced, or that its records are truncated.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/held_file.hpp"
#include "base/held_folder.hpp"
#include "store/out_folder.hpp"

namespace backplane {

class FolderWatch {
 public:
  // Creates OUT/trials. `lock` must outlive it. Throws std::runtime_error.
  FolderWatch(const std::filesystem::path& out, const OutLock& lock);

  // Watches a record of the batch from now on. A record is lost if it is deleted, replaced or truncated. Call it again after
  // the batch itself has replaced the record. Throws std::runtime_error.
  void Watch(const std::filesystem::path& record);

  // False, permanently, once a file or folder is lost. Costs a few stat() calls.
  bool InPlace();
  // The same for a running trial's folder.
  bool InPlace(const HeldFolder& trial);
  bool lost() const { return !what_.empty(); }

  // Sentences for the end of the batch: the loss, the place of the results, and the next command. First writes a deleted or
  // replaced record to a separate file.
  std::string Tell();

 private:
  std::string WhatIsWrong();
  std::string WhatIsWrongWithFolders() const;
  std::string DescribeRecord(HeldFile* record);

  const OutLock& lock_;
  const HeldFolder out_, trials_;
  std::map<std::filesystem::path, std::unique_ptr<HeldFile>> records_;  // by name
  std::string what_;                                                    // "was moved"; empty: no loss yet
};

}  // namespace backplane
