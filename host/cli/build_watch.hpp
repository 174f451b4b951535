// A plugin file that somebody builds again and again: each build once it is whole, as a copy that no later one touches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plugin/plugin_info.hpp"

namespace backplane {

struct Build {
  unsigned number = 0;           // from 1
  std::filesystem::path folder;  // its own; the copy lies in it, under the file's name
  std::vector<PluginInfo> plugins;
  double whole_s = 0;  // when the file was changed last, on the watch's clock
};

class BuildWatch {
 public:
  // Watches `file` (absolute) and `experiment`, whose change counts as a build too. Copies are written below `scratch`.
  BuildWatch(std::filesystem::path file, std::filesystem::path experiment, std::filesystem::path scratch);

  // Call it repeatedly. It returns a file that has not changed for kQuiet_s, is a plugin with all of its parts, and is still
  // the same after the copy. Links next to the copy lead to the file's neighbours. Throws std::runtime_error if `scratch` is
  // not writable. A Python file is not copied, because its trial reads it when it starts; such a build has no plugins.
  std::optional<Build> Look();
  // Why the file, unchanged for kPatience_s, is not a complete plugin; once per such file.
  std::optional<std::string> WhyNot();

  bool IsPython() const { return file_.extension() == ".py"; }

  static constexpr double kQuiet_s = 0.1, kPatience_s = 2;
  static double Now_s();  // a monotonic clock

 private:
  struct Stamp {
    uint64_t device = 0, inode = 0, bytes = 0;
    int64_t changed_ns = -1;  // -1: there is no such file
    bool operator==(const Stamp&) const = default;
  };
  struct Stamps {
    Stamp file, experiment;
    bool operator==(const Stamps&) const = default;
  };
  static Stamp StampOf(const std::filesystem::path& file);
  Stamps StampsNow() const { return {StampOf(file_), StampOf(experiment_)}; }
  std::vector<PluginInfo> CopyTo(const std::filesystem::path& folder) const;

  const std::filesystem::path file_, experiment_, scratch_;
  Stamps seen_;            // at the last look
  double changed_s_ = 0;   // when they were first seen so
  bool looked_at_ = true;  // these have been taken, or could not be
  std::string why_not_;    // empty: returned, or reported
  unsigned builds_ = 0;
};

}  // namespace backplane
