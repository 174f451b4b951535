// The files of a report in a folder, listed with their hashes. The next report uses the list to remove outdated files, and
// keeps files that a person added or changed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

class ReportManifest {
 public:
  // Reads the list of report `name` in `folder`. An absent or unreadable list is empty.
  ReportManifest(std::filesystem::path folder, const std::string& name);

  // Removes listed files that are not among `files` (relative to the folder), unless they were modified.
  void RemoveOthers(const std::vector<std::filesystem::path>& files) const;

  // Replaces the list. Throws std::runtime_error.
  void Write(const std::vector<std::filesystem::path>& files) const;

 private:
  std::filesystem::path folder_, list_;
};

}  // namespace backplane
