// Plugin files that passed the checks before a first trial: hashes in the user's cache folder, so that each file is checked
// once per machine. Problems with the folder are not errors: unknown files are checked again.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

// "off": no file is looked at.
inline constexpr char kValidateVariable[] = "BACKPLANE_VALIDATE";

class ValidatedFiles {
 public:
  // In $XDG_CACHE_HOME/backplane, or ~/.cache/backplane; without records if neither is known.
  ValidatedFiles();
  explicit ValidatedFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The plugin `id` of this file. Reads the file only where it has changed, or lies elsewhere, since it was asked for last.
  bool Has(const std::filesystem::path& file, const std::string& id) const;
  // What Add takes once the plugin has kept the rules: of the file's content now. Empty: it cannot be read.
  std::string EntryOf(const std::filesystem::path& file, const std::string& id) const;
  // Any number of processes may do so at the same time: an entry is an empty file.
  void Add(const std::string& entry) const;

 private:
  bool HasEntry(const std::string& name) const;
  void RemoveOld() const;

  std::filesystem::path folder_;
};

}  // namespace backplane
