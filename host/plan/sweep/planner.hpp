// Makes a plan, and extends the plan of a search.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sweep/file_hashes.hpp"
#include "sweep/form_text.hpp"
#include "sweep/identity.hpp"
#include "sweep/plan.hpp"
#include "sweep/point_resolver.hpp"

namespace backplane {

// Data from which a plan makes its trials' experiments again.
class PlanMemory {
 public:
  PlanMemory(std::shared_ptr<PointResolver> of_points, int schema) : owner(std::move(of_points)), resolver(*owner) {
    rules = {schema, resolver.sweep().search.has_value() || !resolver.stages().empty()};
  }
  const std::shared_ptr<PointResolver> owner;
  PointResolver& resolver;
  std::vector<PointWrites> writes;                           // of each point
  std::vector<std::map<std::string, nlohmann::json>> swept;  // of each point: left-out keys that belong to it
  IdentityRules rules;
};

// Trials of a point.
uint64_t SeedsOf(const Sweep& sweep, const Experiment& experiment);

class Planner {
 public:
  // `text_is_good`: false only looks for further errors; places with an error are not reported again and give no experiment.
  Planner(std::shared_ptr<PlanMemory> memory, bool swept, bool points_alone, bool text_is_good, Errors* errors);

  void KeptIn(std::filesystem::path out) { hashes_.KeptIn(std::move(out)); }
  Plan Make();

  // For a search plan from Make that no copy has extended.
  Suggested Suggest(Plan* plan, uint64_t number, const nlohmann::json& params);
  void Confirm(Plan* plan, size_t point, uint64_t seeds);

 private:
  const Sweep& sweep() const { return memory_->resolver.sweep(); }
  const IdentityRules& rules() const { return memory_->rules; }

  // One point or, with stages, one for each of them, in their order.
  using Chain = std::vector<ResolvedPoint>;
  bool Generate();
  // False after an error. `product` is the number of points that are no entries of the list.
  bool WritesFit(size_t product);
  bool IsBadEnough() const;
  void AddPoint(const Combination& combination, bool listed);
  // Up to the first one that a rule drops. Absent after errors.
  std::optional<Chain> Resolve(const Combination& combination);

  const std::vector<Stage>& stages() const { return memory_->resolver.stages(); }
  const std::string& StageOf(size_t place) const;

  // The common part of a form's points at a stage.
  struct OfForm {
    FormText text;
    std::optional<std::map<std::string, std::string>> files;  // absent: not known yet, or each point has its own
  };
  // A point of a chain as it was built.
  struct Built {
    std::optional<LoadedExperiment> whole;  // absent: its form has it
    std::map<std::string, nlohmann::json> swept;
    std::string identity, id, plain_id;  // see PlannedPoint
    OfForm* of_form = nullptr;
    std::map<std::string, std::string> files = {};            // where the form does not have them
    std::optional<Budget> budget = {}, schedule_budget = {};  // see PlannedPoint
  };
  Built Build(ResolvedPoint* point, const Stage* stage, const std::string& after);
  static const LoadedExperiment& LoadedOf(const Built& built, const ResolvedPoint& point);
  // Hashes of its files. NULL after errors.
  const std::map<std::string, std::string>* FilesOf(Built* built, const ResolvedPoint& point, const PointWrites& writes);

  // The place of its last point, which may have been there before; absent after errors.
  std::optional<size_t> AddChain(Chain chain, bool listed);
  // Points with equal names get their exact names.
  void NameApart(size_t point, const std::string& exact_name);
  uint64_t SeedOf(const Experiment& experiment, const std::string& point_id, uint64_t pass) const;
  // The index of the trial, which may be there already.
  size_t AddTrial(size_t point, uint64_t pass, const std::string& identity, uint64_t seed,
                  const std::map<std::string, std::string>& files, std::optional<size_t> after);
  static bool IsOf(const PointAxis& axis, const std::string& name, bool listed);
  bool HasVariants(const std::string& name, bool listed) const;

  // After all points that there are without them, so that these keep their order.
  void AddVariants();
  void SayThatThereAreTooMany();
  void SayThatNoneIsCalled(const PointAxis& axis);

  // Where times are compared all points run once per seed, every second pass backwards, so that a drift of the machine does not
  // look like an effect.
  void OrderTrials();
  void SayThatNoneIsLeft();

  // For a search (planner_search.cpp).
  Plan MakeSearched();
  void AddProbes();
  std::vector<const Assigned*> Drawn(const std::function<double(const SearchedPath&)>& uniform);
  AxisValue Given(const nlohmann::json& params);
  void Check(const std::vector<const Assigned*>& values);

  std::shared_ptr<PlanMemory> memory_;
  Errors* errors_;
  bool points_alone_;  // no trials of them
  bool text_is_good_;
  size_t bad_points_ = 0;
  Plan plan_;
  FileHashes hashes_;
  std::unordered_map<std::string, size_t> by_id_, by_name_;
  std::vector<std::string> exact_names_;                             // [points] empty: as the name
  std::map<std::pair<size_t, uint64_t>, size_t> by_point_and_pass_;  // trials, where chains may begin alike
  std::vector<uint64_t> passes_;                                     // [trials] the number of their seed among the seeds

  std::map<std::pair<const PointForm*, const Stage*>, OfForm> of_forms_;

  struct Varied {
    Combination combination;
    std::string name;
    bool listed = false;
  };
  std::vector<Varied> varied_;  // points that have variants
};

}  // namespace backplane
