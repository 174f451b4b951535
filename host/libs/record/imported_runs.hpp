// Results that `backplane import` made of other tools' runs: they can be read, but not run, extended or evaluated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// A file that the runs were read from.
struct ImportedSource {
  std::string path, kind, sha256;
  uint64_t bytes = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("path", self.path);
    visit("kind", self.kind);
    visit("sha256", self.sha256);
    visit("bytes", self.bytes);
  }
};

// In run.json, as "imported".
struct ImportedRuns {
  std::string command;  // that makes the folder again
  std::vector<ImportedSource> sources;
  std::vector<std::string> notes;  // about the sources, as sentences

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("command", DefaultIfMissing(self.command));
    visit("sources", DefaultIfMissing(self.sources));
    visit("notes", DefaultIfMissing(self.notes));
  }
};

// Absent if the folder has results of Backplane, or none.
std::optional<ImportedRuns> ImportedRunsIn(const std::filesystem::path& out);

// Throws std::runtime_error if the folder has imported runs.
void RejectImported(const std::filesystem::path& out);

}  // namespace backplane
