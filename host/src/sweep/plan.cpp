#include "sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/files.hpp"
#include "base/suggest.hpp"
#include "sweep/identity.hpp"
#include "sweep/point_resolver.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kMaxPoints = 1000000;

// A seed of its own for every point, of 32 bits so that a person can type it again.
uint64_t SeedOfPoint(const std::string& point_id, uint64_t number) {
  return std::stoull(Sha256(fmt::format("{}/{}", point_id, number)).substr(0, 8), nullptr, 16);
}

// The product of all axes, the first one varying slowest.
class Product {
 public:
  explicit Product(const std::vector<Axis>& axes) : axes_(axes), at_(axes.size()) {}

  Combination Get() const {
    Combination combination;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const AxisValue& value = axes_[i][at_[i]];
      combination.steps.push_back(&value);
      combination.file = std::max(combination.file, value.file);
    }
    return combination;
  }

  // False: that was the last one.
  bool Next() {
    for (size_t i = axes_.size(); i-- > 0;) {
      if (++at_[i] < axes_[i].size()) return true;
      at_[i] = 0;
    }
    return false;
  }

 private:
  const std::vector<Axis>& axes_;
  std::vector<size_t> at_;
};

}  // namespace

// What a plan needs to make its trials' experiments again.
class PlanMemory {
 public:
  explicit PlanMemory(PointResolver resolver) : resolver(std::move(resolver)) {}
  PointResolver resolver;
  std::vector<PointWrites> writes;                 // of each point
  std::vector<std::map<std::string, json>> swept;  // of each point: left-out keys that belong to it
};

class Planner {
 public:
  Planner(std::shared_ptr<PlanMemory> memory, bool swept, Errors* errors) : memory_(std::move(memory)), errors_(errors) {
    plan_.swept = swept;
    plan_.memory_axes = sweep().memory_axes;
    plan_.whole_files = !sweep().files.empty();
    if (const auto& seeds = sweep().seeds) plan_.seeds = {{"n", seeds->n}, {"first", seeds->first}, {"paired", seeds->paired}};
  }

  Plan Make() {
    if (!Generate()) return {};
    if (errors_->empty() && plan_.points.empty()) SayThatNoneIsLeft();
    if (!errors_->empty()) return {};
    if (auto base = memory_->resolver.Base()) {
      plan_.base = *std::move(base);
    } else {
      plan_.base = memory_->resolver.Load(memory_->writes.front());
    }
    OrderTrials();
    plan_.memory_ = memory_;
    return std::move(plan_);
  }

 private:
  const Sweep& sweep() const { return memory_->resolver.sweep(); }

  bool Generate() {
    // A list alone is all points there are: no axis, no product.
    const bool only_list = sweep().axes.empty() && !sweep().list.empty();
    size_t count = only_list ? 0 : 1;
    for (const Axis& axis : sweep().axes) {
      count = std::min(count * axis.size(), kMaxPoints + 1);
    }
    if (count + sweep().list.size() > kMaxPoints) {
      SayThatThereAreTooMany();
      return false;
    }
    if (!only_list) {
      Product product(sweep().axes);
      do {
        AddPoint(product.Get(), /*listed=*/false);
      } while (product.Next());
    }
    for (const AxisValue& entry : sweep().list) AddPoint({{&entry}, 0}, /*listed=*/true);
    AddVariants();
    return true;
  }

  void AddPoint(const Combination& combination, bool listed) {
    ++plan_.generated;
    std::optional<ResolvedPoint> point = memory_->resolver.Resolve(combination, errors_);
    if (point && HasVariants(point->name, listed)) varied_.push_back({combination, point->name, listed});
    if (!point) return;
    if (!point->dropped_by.empty()) {
      plan_.dropped.push_back({std::move(point->values), std::move(point->dropped_by), std::move(point->why)});
      return;
    }
    std::map<std::string, json> swept = memory_->resolver.SweptKeys(point->read);
    const LoadedExperiment loaded = Resolver::Build(std::move(point->read));
    const std::string identity = PointIdentity(loaded, swept).dump();
    std::string id = IdOfText(identity);
    auto [known, fresh] = by_id_.emplace(id, plan_.points.size());
    if (!fresh) {
      plan_.dropped.push_back({std::move(point->values), "same as another point", plan_.points[known->second].name});
      return;
    }
    AddNotes(loaded.notes);
    AddTrials(loaded, identity, id);
    plan_.points.push_back({std::move(id), std::move(point->name), std::move(point->values), listed});
    memory_->writes.push_back(std::move(point->writes));
    memory_->swept.push_back(std::move(swept));
  }

  static bool IsOf(const PointAxis& axis, const std::string& name, bool listed) {
    return axis.point.empty() ? listed : axis.point == name;
  }

  bool HasVariants(const std::string& name, bool listed) const {
    const auto& axes = sweep().point_axes;
    return std::any_of(axes.begin(), axes.end(), [&](const PointAxis& axis) { return IsOf(axis, name, listed); });
  }

  // After all points that there are without them, so that these keep their order.
  void AddVariants() {
    const std::vector<Varied> varied = std::exchange(varied_, {});
    for (const PointAxis& axis : sweep().point_axes) {
      const auto is_of = [&](const Varied& one) { return IsOf(axis, one.name, one.listed); };
      if (errors_->empty() && std::none_of(varied.begin(), varied.end(), is_of)) SayThatNoneIsCalled(axis);
    }
    for (const Varied& one : varied) {
      std::vector<Axis> axes;
      for (const PointAxis& axis : sweep().point_axes) {
        if (IsOf(axis, one.name, one.listed)) axes.push_back(axis.axis);
      }
      Product product(axes);
      do {
        if (plan_.generated >= kMaxPoints) return SayThatThereAreTooMany();
        const Combination changes = product.Get();
        Combination combination = one.combination;
        combination.steps.insert(combination.steps.end(), changes.steps.begin(), changes.steps.end());
        AddPoint(combination, /*listed=*/false);
      } while (product.Next());
    }
  }

  void SayThatThereAreTooMany() { errors_->Add(sweep().mark, fmt::format("sweep: more than {} points", kMaxPoints)); }

  void SayThatNoneIsCalled(const PointAxis& axis) {
    std::vector<std::string> names;
    for (const PlannedPoint& point : plan_.points) names.push_back(point.name);
    errors_->Add(axis.mark,
                 fmt::format("no point is called '{}'{}", axis.point, DidYouMean(Nearest(axis.point, Candidates(names)))));
  }

  void AddNotes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
      if (std::find(plan_.notes.begin(), plan_.notes.end(), note) == plan_.notes.end()) plan_.notes.push_back(note);
    }
  }

  void AddTrials(const LoadedExperiment& loaded, const std::string& identity, const std::string& point_id) {
    const std::optional<Seeds>& seeds = sweep().seeds;
    const auto files = hashes_.Of(loaded);
    for (uint64_t i = 0; i < (seeds ? seeds->n : 1); ++i) {
      const uint64_t number = seeds ? seeds->first + i : 0;
      const uint64_t seed = !seeds ? loaded.experiment.seed : seeds->paired ? number : SeedOfPoint(point_id, number);
      plan_.trials.push_back({TrialIdOf(identity, seed, files), plan_.points.size(), seed, files});
    }
  }

  // Where times are compared all points run once per seed, every second pass backwards, so that a drift of the machine does not
  // look like an effect.
  void OrderTrials() {
    if (!plan_.base.experiment.report.ComparesTimes()) return;
    const size_t passes = sweep().seeds ? sweep().seeds->n : 1;
    std::vector<PlannedTrial> ordered;
    for (size_t pass = 0; pass < passes; ++pass) {
      for (size_t i = 0; i < plan_.points.size(); ++i) {
        const size_t point = pass % 2 == 0 ? i : plan_.points.size() - 1 - i;
        ordered.push_back(std::move(plan_.trials[point * passes + pass]));
      }
    }
    plan_.trials = std::move(ordered);
  }

  void SayThatNoneIsLeft() {
    std::map<std::string, size_t> rules;
    for (const DroppedPoint& point : plan_.dropped) ++rules[point.rule];
    std::string counts;
    for (const auto& [rule, count] : rules) counts += fmt::format("{}{} by {}", counts.empty() ? "" : ", ", count, rule);
    errors_->Add(sweep().mark, fmt::format("sweep: no point is left: {} generated, dropped {}", plan_.generated, counts));
  }

  std::shared_ptr<PlanMemory> memory_;
  Errors* errors_;
  Plan plan_;
  FileHashes hashes_;
  std::unordered_map<std::string, size_t> by_id_;

  struct Varied {
    Combination combination;
    std::string name;
    bool listed = false;
  };
  std::vector<Varied> varied_;  // points that have variants
};

LoadedExperiment Plan::Load(const PlannedTrial& trial) const {
  LoadedExperiment loaded = memory_->resolver.Load(memory_->writes[trial.point]);
  loaded.experiment.seed = trial.seed;
  const std::optional<Seeds>& seeds = memory_->resolver.sweep().seeds;
  if (seeds) loaded.origin["seed"] = Place(seeds->mark);
  return loaded;
}

json Plan::Identity(const PlannedTrial& trial) const {
  const LoadedExperiment loaded = Load(trial);
  return TrialIdentity(PointIdentity(loaded, memory_->swept[trial.point]), trial.seed, trial.files);
}

PlanResult MakePlan(const std::filesystem::path& file, const PlanOptions& options) {
  Errors errors;
  std::vector<ShortAxis> short_axes = ParseShortAxes(options.sweep, &errors);
  std::optional<ExperimentText> text = ReadExperimentText(file, options.set, &errors);
  if (!text) return {std::nullopt, errors.Sorted()};
  const bool swept = text->sweep || !short_axes.empty();
  std::optional<Entry> section = std::move(text->sweep);
  Sweep sweep = ReadSweep(section ? &*section : nullptr, std::move(short_axes), &errors);
  Errors of_the_points;
  auto memory =
      std::make_shared<PlanMemory>(PointResolver(*std::move(text), std::move(sweep), options.lookup, options.defaults));
  Plan plan = Planner(std::move(memory), swept, &of_the_points).Make();
  errors.AddNewPlaces(of_the_points);
  if (!errors.empty()) return {std::nullopt, errors.Sorted()};
  return {std::move(plan), {}};
}

}  // namespace backplane
