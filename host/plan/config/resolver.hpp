// One experiment file, resolved many times: it is read once, and each point of a sweep is the file with some of its values
// replaced. Not thread-safe: what points have in common is kept.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/base.hpp"
#include "config/loader.hpp"
#include "config/options.hpp"
#include "config/overrides.hpp"
#include "config/point_form.hpp"
#include "config/presets.hpp"

namespace backplane {

struct ReadPoint {
  std::shared_ptr<const std::vector<PluginSlot>> slots;
  Values values;                         // empty of a point that has a form
  PointForm* form = nullptr;             // the resolver's; what its points have in common stands there
  std::vector<nlohmann::json> own = {};  // of the form's places

  // The value at a path, defaults included; an alias means its target. Empty: no such path, or no value there.
  std::optional<nlohmann::json> At(const std::string& path) const;
  // The rule for a value at a path. Empty: no such path, or not a single value.
  std::optional<ValueRule> RuleAt(const std::string& path) const;
  // The path that `path` is another name of, else itself.
  std::string Target(const std::string& path) const;
};

class Resolver {
 public:
  // `root` has no key `sweep`. First come the values of the preset, then `set`, then every assignment.
  Resolver(Node root, std::vector<PresetValue> preset, std::vector<Override> set, std::shared_ptr<PluginTables> tables,
           KeyDefaults defaults = {});

  // Every value as far as it can be read.
  ReadPoint Read(const Assignments& assignments, Errors* errors);
  // The same with less work, of one of many points. It has a form if its values are plain ones.
  ReadPoint ReadByPlace(const Assignments& assignments, Errors* errors);
  // Errors of the file without any assignment, at the places of the meant keys.
  void CheckReport(const ReportCheck& check, Errors* errors);
  // The place of a key, of an entry of its list, or of the nearest key above it; without any assignment.
  std::string PlaceOf(const std::string& path) { return Place(PathMark(Prepare({}).root, path)); }
  // For a point without a form that was read without errors.
  static LoadedExperiment Build(ReadPoint point);

 private:
  // The file after all that does not depend on a point's other values: its plugins, --set.
  struct Prepared {
    Node root;
    std::shared_ptr<const std::vector<PluginSlot>> slots;
    std::vector<std::string> set_paths;  // where --set wrote
    Errors errors;
    std::vector<std::unique_ptr<PointForm>> forms;
  };
  Prepared& Prepare(const Assignments& choosing);
  // `targets` gets where each assignment was written, "" where it gave way.
  ReadPoint ReadWhole(const Prepared& prepared, const Assignments& assignments, std::vector<std::string>* targets,
                      Errors* errors);

  Node root_;
  std::vector<PresetValue> preset_;
  std::vector<Override> set_;
  std::shared_ptr<PluginTables> tables_;
  KeyDefaults defaults_;
  std::map<Assignments, Prepared> prepared_;  // by the assignments that choose plugins
};

// The file without its `sweep:`, `stages:` and `compare:`, the overrides, and these after those that concern them.
struct ExperimentText {
  Node root;
  std::optional<Entry> sweep, stages, compare;
  Preset preset;
  std::vector<Override> set;
  std::vector<Override> set_in_stages;  // "stages.NAME.PATH", whose names only the reader of the stages knows
};
// Nothing: not even a tree could be made.
std::optional<ExperimentText> ReadExperimentText(const std::filesystem::path& file, const std::vector<std::string>& set,
                                                 const PresetSearch& presets, Errors* errors);

}  // namespace backplane
