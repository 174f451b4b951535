// Resolves the points of a sweep: selects the values to write, derives the others, and makes the experiments.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/resolver.hpp"
#include "sweep/stages.hpp"

namespace backplane {

// One combination of the axes' values, before it is resolved.
struct Combination {
  std::vector<const AxisValue*> steps;
  size_t file = 0;
};

// The values written at a point. Each request resolves them again.
struct PointWrites {
  size_t file = 0;
  std::vector<const Assigned*> assigned;  // those whose `when` holds, outer paths before inner ones
  std::vector<Override> derived;
};

struct ResolvedPoint {
  PointWrites writes;
  ReadPoint read;
  std::string name;        // without the stage's name
  std::string exact_name;  // with every digit, and texts that look like numbers in quotes; empty: as `name`
  std::vector<std::pair<std::string, nlohmann::json>>
      values;                   // of each path of the sweep that has one here, then of the stages
  size_t swept = 0;             // how many of them are the sweep's
  std::string dropped_by, why;  // the rule that drops it; empty: it stays
};

// Not thread-safe.
class PointResolver {
 public:
  PointResolver(const ExperimentText& text, Sweep sweep, Stages stages, PluginLookup lookup, const KeyDefaults& defaults = {});

  const Sweep& sweep() const { return sweep_; }
  const std::vector<Stage>& stages() const { return stages_.list; }
  const std::vector<std::string>& stage_paths() const { return stages_.paths; }

  // The experiment without its sweep.
  void CheckReport(const ReportCheck& check, Errors* errors) const { resolvers_.front()->CheckReport(check, errors); }
  std::string PlaceOf(const std::string& path) const { return resolvers_.front()->PlaceOf(path); }
  // The experiment without its sweep.
  std::optional<LoadedExperiment> Base() const;
  // Absent after errors. `stage` is one of stages(); NULL: there are none.
  std::optional<ResolvedPoint> Resolve(const Combination& combination, const Stage* stage, Errors* errors) const;
  // A point that resolved without errors before.
  LoadedExperiment Load(const PointWrites& writes) const;
  // Its experiment alone, until the next call.
  const Experiment& Look(const PointWrites& writes) const;
  // Stores a value that was unknown when the sweep was read.
  const Assigned* Keep(Assigned assigned) { return &sweep_.assigned.emplace_back(std::move(assigned)); }
  // Values of keys that belong to the identity only because the sweep names them.
  std::map<std::string, nlohmann::json> SweptKeys(const ReadPoint& point, const Stage* stage) const;

 private:
  ReadPoint Read(const PointWrites& writes, Errors* errors) const;
  static Assignments AssignmentsOf(const PointWrites& writes);
  const std::set<std::string>& SweptKeyNames(const ReadPoint& point, const Stage* stage) const;
  void DecideWhen(const std::vector<const Assigned*>& conditional, PointWrites* writes, Errors* errors) const;
  void Derive(ResolvedPoint* point, Errors* errors) const;
  // Tests the rules of `sweep.where` until one drops the point; returns the rules that could not be tested.
  Errors TestRules(ResolvedPoint* point) const;
  void Describe(const Combination& combination, const Stage* stage, ResolvedPoint* point) const;
  using ValueLookup = std::function<std::optional<nlohmann::json>(const std::string& path)>;
  void Name(const Combination& combination, const Stage* stage, const ValueLookup& value_of, ResolvedPoint* point) const;
  // The value at a path of a point, as expressions see it: durations in seconds, sizes in bytes.
  std::optional<nlohmann::json> Value(const ReadPoint& point, const std::string& path, std::string* why_not) const;
  const std::string& HintAt(const std::string& path, const ReadPoint& point) const;  // for an unknown path
  const Assigned* InStage(const Assigned* assigned, const Stage* stage) const;
  std::optional<std::string> PathInStage(const std::string& path, const Stage* stage) const;

  Sweep sweep_;
  Stages stages_;
  struct OfOneStage {
    const Stage* stage;
    Assigned assigned;  // with the path that is meant
  };
  std::map<const Assigned*, OfOneStage> of_one_stage_;  // swept values at "stages.NAME.PATH"
  std::vector<std::unique_ptr<Resolver>> resolvers_;    // of the experiment file, then of each swept file merged over it
  std::map<std::string, std::string> short_names_;  // of each path: its last word, or the whole path where that is not unique
  std::set<std::string> named_by_files_;            // left-out keys that swept files set
  // Keys that belong to the identity only because the sweep names them, by the plugins of a point, which a resolver keeps, and
  // stage.
  mutable std::map<std::pair<const void*, const Stage*>, std::set<std::string>> swept_keys_;
  mutable std::optional<Experiment> looked_at_;  // of a point without a form
  // By the plugins of a point, which a resolver keeps, and path, once asked for: it may stand in a rule for every point.
  mutable std::map<std::pair<const void*, std::string>, std::string> hints_;
};

}  // namespace backplane
