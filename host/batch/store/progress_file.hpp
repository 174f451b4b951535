// progress.json (record/progress.hpp), written during a batch. It is valid JSON at every moment.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/held_folder.hpp"
#include "record/progress.hpp"

namespace backplane {

struct BatchProgress {
  ProgressHead head;  // without counts, which are computed from the trials
  std::vector<TrialProgress> trials;
  size_t to_come = 0;  // maximum number of trials that a search will add; included in `total`
};

// The text of progress.json. Caches the text of each trial, because few of thousands change between two calls.
class ProgressText {
 public:
  std::string Of(const BatchProgress& batch);

 private:
  std::vector<std::pair<TrialProgress, std::string>> trials_;
};

class ProgressFile {
 public:
  explicit ProgressFile(std::filesystem::path file) : file_(std::move(file)) {}
  // Replaces the file by rename, without waiting for the disk. The first call creates the folder. Later calls write into the
  // same folder, even if its name leads elsewhere by then, and do nothing after it is deleted. Throws std::runtime_error.
  void Write(const BatchProgress& batch);

 private:
  std::filesystem::path file_;
  std::optional<HeldFolder> folder_;
  ProgressText text_;
};

}  // namespace backplane
