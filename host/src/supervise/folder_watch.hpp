// Notices when somebody deletes, moves or replaces the results folder under a batch that runs.
#pragma once

#include <filesystem>
#include <string>

#include "base/held_folder.hpp"
#include "supervise/layout.hpp"

namespace backplane {

class FolderWatch {
 public:
  // Makes OUT/trials. `lock` has to outlive it. Throws std::runtime_error.
  FolderWatch(const std::filesystem::path& out, const OutLock& lock);

  // False once something is not where it was, for good. A few stat() calls.
  bool InPlace();
  // The same of a running trial's folder.
  bool InPlace(const HeldFolder& trial);
  bool lost() const { return !what_.empty(); }

  // What was found, where the results are now and what to do: sentences for the end, when nothing writes there any more.
  std::string Tell() const;

 private:
  std::string WhatIsWrong() const;

  const OutLock& lock_;
  const HeldFolder out_, trials_;
  std::string what_;  // "was moved"; empty: nothing yet
};

}  // namespace backplane
