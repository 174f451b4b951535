// progress.json (record/progress.hpp), written while a batch runs: valid JSON at every instant.
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
  ProgressHead head;  // without counts, which follow from the trials
  std::vector<TrialProgress> trials;
  size_t to_come = 0;  // that a search will add, at most: counted in `total`
};

// The text of progress.json. Keeps the text of each trial: of thousands only a few change between two calls.
class ProgressText {
 public:
  std::string Of(const BatchProgress& batch);

 private:
  std::vector<std::pair<TrialProgress, std::string>> trials_;
};

class ProgressFile {
 public:
  explicit ProgressFile(std::filesystem::path file) : file_(std::move(file)) {}
  // By rename, without waiting for the disk. The first call makes the folder; the next ones write into that very folder, also
  // if its name leads to another one by then, and write nothing once it is deleted. Throws std::runtime_error.
  void Write(const BatchProgress& batch);

 private:
  std::filesystem::path file_;
  std::optional<HeldFolder> folder_;
  ProgressText text_;
};

}  // namespace backplane
