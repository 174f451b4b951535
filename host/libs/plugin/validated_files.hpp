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
  // In $XDG_CACHE_HOME/backplane, or ~/.cache/backplane; keeps no records if neither is known.
  ValidatedFiles();
  explicit ValidatedFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // True if the plugin `id` of this file has passed. Reads the file only if it has changed or moved since the last call.
  bool Has(const std::filesystem::path& file, const std::string& id) const;
  // The argument for Add once the plugin has passed, for the file's present content. Empty: it cannot be read.
  std::string EntryOf(const std::filesystem::path& file, const std::string& id) const;
  // Any number of processes may do so at the same time: an entry is an empty file.
  void Add(const std::string& entry) const;

 private:
  bool HasEntry(const std::string& name) const;
  void RemoveOld() const;

  std::filesystem::path folder_;
};

}  // namespace backplane
