// The input of `backplane run --plan FILE`: one part of a study, such as the first two looks of a comparison. The program that
// conducts the study writes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

inline constexpr int kPlannedRunSchema = 1;

// The points, their order and `exclusive` follow from the experiment file, as for `run`, so errors name its lines.
struct PlannedRun {
  int schema_version = kPlannedRunSchema;
  std::filesystem::path file;    // experiment file
  std::vector<std::string> set;  // values that replace those in the file, like --set
  std::string preset;            // empty: the preset in the file
  std::vector<std::string> plugin_path;
  std::vector<uint64_t> seeds;               // instead of the file's; empty: the file's
  uint64_t looks = 0;                        // of a comparison, starting with the first; 0: all
  std::filesystem::path out;                 // results folder, which may contain the trials of an earlier part
  std::filesystem::path typed_out;           // as typed for the study; empty: not typed
  bool only_by_same = false;                 // `run OUT` names the command of the study instead of resuming
  std::optional<std::filesystem::path> end;  // gets a PlannedRunEnd, and the terminal no results; absent: the other way round

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema_version", self.schema_version);
    if (self.schema_version != kPlannedRunSchema) throw RecordError("its schema_version is unknown");
    visit("file", self.file);
    visit("set", self.set);
    visit("preset", self.preset);
    visit("plugin_path", self.plugin_path);
    visit("seeds", self.seeds);
    visit("looks", self.looks);
    visit("out", self.out);
    visit("typed_out", self.typed_out);
    visit("only_by_same", self.only_by_same);
    visit("end", NullIfAbsent(self.end));
  }
};

// The end of such a run.
struct PlannedRunEnd {
  bool interrupted = false;
  std::string refused_file;             // why the experiment file was rejected; empty: it was not
  std::string refused;                  // why no trial was started; empty: trials ran, or all were finished
  std::string paused;                   // why the batch stopped before its end
  std::vector<std::string> complaints;  // of the plugins about points
  uint64_t trials = 0, not_run = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("interrupted", self.interrupted);
    visit("refused_file", self.refused_file);
    visit("refused", self.refused);
    visit("paused", self.paused);
    visit("complaints", self.complaints);
    visit("trials", self.trials);
    visit("not_run", self.not_run);
  }
};

}  // namespace backplane
