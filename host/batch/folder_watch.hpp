// Notices when somebody deletes, moves or replaces the results folder under a batch that runs, or cuts its records.
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
  // Makes OUT/trials. `lock` has to outlive it. Throws std::runtime_error.
  FolderWatch(const std::filesystem::path& out, const OutLock& lock);

  // Watches a record of the batch from now on. It is lost if it is deleted, replaced or cut. Call it again after the batch
  // itself has replaced the record. Throws std::runtime_error.
  void Watch(const std::filesystem::path& record);

  // False once something is not where it was, for good. A few stat() calls.
  bool InPlace();
  // The same of a running trial's folder.
  bool InPlace(const HeldFolder& trial);
  bool lost() const { return !what_.empty(); }

  // Sentences for the end of the batch: the loss, the place of the results, and the next command. Writes a record that was
  // deleted or replaced to a file of its own first.
  std::string Tell();

 private:
  std::string WhatIsWrong();
  std::string WhatIsWrongWithFolders() const;
  std::string DescribeRecord(HeldFile* record);

  const OutLock& lock_;
  const HeldFolder out_, trials_;
  std::map<std::filesystem::path, std::unique_ptr<HeldFile>> records_;  // by name
  std::string what_;                                                    // "was moved"; empty: nothing yet
};

}  // namespace backplane
