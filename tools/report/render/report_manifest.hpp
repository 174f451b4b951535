// The files of a folder that belong to a report: a list with their hashes. The next report removes its outdated files by it,
// and keeps files that a person has added or changed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

class ReportManifest {
 public:
  // Of the report of that name in `folder`; an absent or unreadable list is an empty one.
  ReportManifest(std::filesystem::path folder, const std::string& name);

  // Removes the listed files that are not among `files` (relative to the folder) and still are as they were written.
  void RemoveOthers(const std::vector<std::filesystem::path>& files) const;

  // Replaces the list. Throws std::runtime_error.
  void Write(const std::vector<std::filesystem::path>& files) const;

 private:
  std::filesystem::path folder_, list_;
};

}  // namespace backplane
