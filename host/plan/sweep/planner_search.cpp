// Makes and extends the plan of a search.
#include <fmt/format.h>

#include <utility>

#include "sweep/planner.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Random draws, in case rules reject the middle of the space.
constexpr uint64_t kMostDraws = 100;
// No probe is made after so many with errors: most often all have the same cause.
constexpr size_t kMaxBadProbes = 20;
constexpr double kMiddle = 0.5, kHighest = 1 - 0x1p-40;

// The plan is the planner's for as long as this lives.
class Lent {
 public:
  Lent(Plan* mine, Plan* theirs) : mine_(*mine), theirs_(*theirs) { std::swap(mine_, theirs_); }
  ~Lent() { std::swap(mine_, theirs_); }
  Lent(const Lent&) = delete;

 private:
  Plan &mine_, &theirs_;
};

}  // namespace

Plan Planner::MakeSearched() {
  if (!stages().empty()) {
    errors_->Add(stages().front().mark, "stages: sweep.search does not support stages, because its points are single trials");
    return {};
  }
  if (sweep().space.empty()) return {};  // an error was added
  Planner probes(std::make_shared<PlanMemory>(memory_->owner, rules().schema), plan_.swept, points_alone_, text_is_good_,
                 errors_);
  probes.AddProbes();
  if (!errors_->empty() || !text_is_good_) return {};
  if (probes.plan_.points.empty()) {
    errors_->Add(sweep().search->mark,
                 fmt::format("sweep.search: the rules reject all {} settings that were tried, the last one by {}",
                             probes.plan_.generated, probes.plan_.dropped.back().rule));
    return {};
  }
  auto base = memory_->resolver.Base();
  plan_.base = base ? *std::move(base) : probes.memory_->resolver.Load(probes.memory_->writes.front());
  const SearchTerms& terms = *sweep().search;
  if (const uint64_t seeds = SeedsOf(sweep(), plan_.base.experiment); terms.Prunes() && seeds > 1) {
    errors_->Add(
        terms.pruner_mark,
        fmt::format("sweep.search.pruner: a pruner stops single trials, so it needs one seed per point, got {}", seeds));
    return {};
  }
  plan_.search = terms;
  plan_.search_space = json::object();
  for (const SearchedPath& searched : sweep().space) plan_.search_space[searched.path] = searched.distribution.Json();
  plan_.notes = probes.plan_.notes;
  probes.plan_.base = plan_.base;
  probes.plan_.search = terms;
  probes.plan_.memory_ = probes.memory_;
  plan_.probes = std::make_shared<Plan>(std::move(probes.plan_));
  plan_.memory_ = memory_;
  return std::move(plan_);
}

// The middle, and it with each of the choices: which plugins there are. The ends of ranges are only read.
void Planner::AddProbes() {
  const auto middle = [](const SearchedPath&) { return kMiddle; };
  const auto add = [this](std::vector<const Assigned*> values) {
    const AxisValue value{std::move(values), "", 0};
    AddPoint({{&value}, 0}, /*listed=*/false);
  };
  add(Drawn(middle));
  for (size_t i = 0; i < sweep().space.size() && bad_points_ < kMaxBadProbes; ++i) {
    const SearchedPath& searched = sweep().space[i];
    for (const Assigned* choice : searched.choices) {
      std::vector<const Assigned*> values = Drawn(middle);
      if (std::exchange(values[i], choice) != choice) add(std::move(values));
    }
    for (const double end : {0.0, kHighest}) {
      if (searched.choices.empty()) Check(Drawn([&](const SearchedPath& each) { return &each == &searched ? end : kMiddle; }));
    }
  }
  const uint64_t seed = sweep().search->seed;
  for (uint64_t draw = 0; draw < kMostDraws && plan_.points.empty() && errors_->empty(); ++draw)
    add(Drawn([&](const SearchedPath& each) { return Distribution::Uniform(seed, draw, each.path); }));
}

std::vector<const Assigned*> Planner::Drawn(const std::function<double(const SearchedPath&)>& uniform) {
  std::vector<const Assigned*> values;
  for (const SearchedPath& searched : sweep().space) {
    const double at = uniform(searched);
    const Distribution& from = searched.distribution;
    values.push_back(searched.choices.empty()
                         ? memory_->resolver.Keep({Override{searched.path, searched.mark, false, from.Draw(at)}, from.when()})
                         : searched.choices[from.Choose(at)]);
  }
  return values;
}

void Planner::Check(const std::vector<const Assigned*>& values) {
  const AxisValue value{values, "", 0};
  if (!Resolve({{&value}, 0})) ++bad_points_;
}

// A suggestion names each path of the space as the search received it.
AxisValue Planner::Given(const json& params) {
  AxisValue value;
  for (const SearchedPath& searched : sweep().space) {
    const auto found = params.find(searched.path);
    if (found == params.end()) continue;
    const Distribution& from = searched.distribution;
    if (searched.choices.empty()) {
      if (!found->is_number()) continue;
      Override given{searched.path, searched.mark, false, from.Given(found->get<double>())};
      value.assigned.push_back(memory_->resolver.Keep({std::move(given), from.when()}));
      continue;
    }
    const std::vector<json> choices = from.ChoicesJson();
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i].dump() != found->dump()) continue;  // 0 is not 0.0
      value.assigned.push_back(searched.choices[i]);
      break;
    }
  }
  return value;
}

Suggested Planner::Suggest(Plan* plan, uint64_t number, const json& params) {
  const Lent lent(&plan_, plan);
  Errors errors;
  errors_ = &errors;
  ++plan_.generated;
  const AxisValue value = Given(params);
  std::optional<Chain> chain = Resolve({{&value}, 0});
  Suggested suggested;
  const size_t before = plan_.points.size();
  if (chain && !chain->back().dropped_by.empty()) {
    ResolvedPoint& last = chain->back();
    suggested.why = last.dropped_by + (last.why.empty() ? "" : ": " + last.why);
    plan_.dropped.push_back({std::move(last.values), std::move(last.dropped_by), std::move(last.why)});
  } else if (chain) {
    suggested.point = AddChain(*std::move(chain), /*listed=*/false);
  }
  if (!errors.empty()) {
    suggested.point.reset();
    suggested.why = errors.Sorted().front().message;
    std::vector<std::pair<std::string, json>> values;
    for (const auto& [path, given] : params.items()) values.emplace_back(path, given);
    plan_.dropped.push_back({std::move(values), "an error", suggested.why});
  }
  suggested.is_new = suggested.point && plan_.points.size() > before;
  if (suggested.is_new) plan_.points[*suggested.point].number = number;
  return suggested;
}

void Planner::Confirm(Plan* plan, size_t point, uint64_t seeds) {
  const Lent lent(&plan_, plan);
  const LoadedExperiment loaded = memory_->resolver.Load(memory_->writes[point]);
  const std::string identity = CanonicalText(PointIdentity(loaded, memory_->swept[point], "", rules()));
  const auto files = hashes_.Of(loaded);
  const uint64_t searched = SeedsOf(sweep(), loaded.experiment);
  for (uint64_t i = searched; i < searched + seeds; ++i) {
    const size_t trial =
        AddTrial(point, i, identity, SeedOf(loaded.experiment, plan_.points[point].id, i), files, std::nullopt);
    plan_.trials[trial].confirms = true;
  }
}

}  // namespace backplane
