// Which plugin files have kept the rules that are tried before a first trial: hashes in the user's cache folder, so that each
// is tried once on a machine. No trouble with the folder is an error: what is not known there is tried again.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

// "off": no file is looked at.
inline constexpr char kValidateVariable[] = "BACKPLANE_VALIDATE";

class ValidatedFiles {
 public:
  // In $XDG_CACHE_HOME/backplane, or ~/.cache/backplane; nowhere if neither can be told.
  ValidatedFiles();
  explicit ValidatedFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The plugin `id` of this file. Reads the file only where it has changed, or lies elsewhere, since it was asked for last.
  bool Has(const std::filesystem::path& file, const std::string& id) const;
  // What Add takes once the plugin has kept the rules: of the file's content now. Empty: it cannot be read.
  std::string EntryOf(const std::filesystem::path& file, const std::string& id) const;
  // Any number of processes may do so at once: an entry is an empty file, which is there or not.
  void Add(const std::string& entry) const;

 private:
  bool HasEntry(const std::string& name) const;
  void RemoveOld() const;

  std::filesystem::path folder_;
};

}  // namespace backplane
