#include "sweep/planner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/format_count.hpp"
#include "base/sha256.hpp"
#include "base/suggest.hpp"
#include "contract/recorded_budget.hpp"
#include "record/plan_line.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// As many as are planned within seconds and within the memory of a small machine.
constexpr size_t kMaxPoints = 100000, kMaxTrials = 200000;
// Values that all points write in total. Each takes some microseconds.
constexpr size_t kMaxWrites = 5000000;
// The planner stops after so many points with errors, or so many errors: most often all have the same cause.
constexpr size_t kMaxBadPoints = 200, kMaxErrors = 1000;

size_t WritesOf(const AxisValue& value) { return value.assigned.size(); }

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

uint64_t SeedsOf(const Sweep& sweep, const Experiment& experiment) {
  if (!sweep.given_seeds.empty()) return sweep.given_seeds.size();
  if (sweep.passes > 0) return sweep.passes;
  return sweep.seeds ? sweep.seeds->n : experiment.report.DefaultSeeds();
}

Planner::Planner(std::shared_ptr<PlanMemory> memory, bool swept, bool points_alone, bool text_is_good, Errors* errors)
    : memory_(std::move(memory)), errors_(errors), points_alone_(points_alone), text_is_good_(text_is_good) {
  plan_.swept = swept;
  plan_.memory_axes = sweep().memory_axes;
  plan_.whys = sweep().whys;
  plan_.whole_files = !sweep().files.empty();
  for (const Stage& stage : stages()) plan_.stages.push_back(stage.name);
  plan_.stage_paths = memory_->resolver.stage_paths();
  if (const auto& seeds = sweep().seeds) plan_.seeds = {{"n", seeds->n}, {"first", seeds->first}, {"paired", seeds->paired}};
}

Plan Planner::Make() {
  if (sweep().search) return MakeSearched();
  if (!Generate() || !text_is_good_) return {};
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

bool Planner::Generate() {
  // A list alone is all points there are: no axis, no product.
  const bool only_list = sweep().axes.empty() && !sweep().list.empty();
  size_t count = only_list ? 0 : 1;
  for (const Axis& axis : sweep().axes) {
    count = std::min(count * axis.size(), kMaxPoints + 1);
  }
  count += sweep().list.size();
  if (count > kMaxPoints) {
    SayThatThereAreTooMany();
    return false;
  }
  // Points that are dropped later count here: they cost as much to look at.
  const uint64_t seeds = sweep().seeds ? sweep().seeds->n : std::max<uint64_t>(sweep().passes, 1);
  const uint64_t trials = count * std::max<size_t>(stages().size(), 1) * seeds;
  if (trials > kMaxTrials) {
    errors_->Add(sweep().mark,
                 fmt::format("sweep: {} trials ({} points{}, {} seeds), the limit is {}", FormatCount(trials),
                             FormatCount(count), stages().empty() ? "" : fmt::format(", {} stages", stages().size()),
                             FormatCount(seeds), FormatCount(kMaxTrials)));
    return false;
  }
  if (!WritesFit(only_list ? 0 : count - sweep().list.size())) return false;
  if (!only_list) {
    Product product(sweep().axes);
    do {
      AddPoint(product.Get(), /*listed=*/false);
    } while (!IsBadEnough() && product.Next());
  }
  for (const AxisValue& entry : sweep().list) {
    if (!IsBadEnough()) AddPoint({{&entry}, 0}, /*listed=*/true);
  }
  AddVariants();
  return true;
}

bool Planner::WritesFit(size_t product) {
  size_t of_point = 0, of_list = 0;
  for (const Axis& axis : sweep().axes) of_point += WritesOf(axis.front());
  for (const AxisValue& entry : sweep().list) of_list += WritesOf(entry);
  const size_t writes = product * of_point + of_list;
  if (writes <= kMaxWrites) return true;
  errors_->Add(sweep().mark,
               fmt::format("sweep: expected points that write at most {} values in total, got {} points of {} values",
                           FormatCount(kMaxWrites), FormatCount(product), FormatCount(of_point)));
  return false;
}

bool Planner::IsBadEnough() const { return bad_points_ >= kMaxBadPoints || errors_->size() >= kMaxErrors; }

void Planner::AddPoint(const Combination& combination, bool listed) {
  ++plan_.generated;
  std::optional<Chain> chain = Resolve(combination);
  if (!chain || !text_is_good_) ++bad_points_;
  if (!chain) return;
  ResolvedPoint& last = chain->back();
  if (HasVariants(last.name, listed)) varied_.push_back({combination, last.name, listed});
  if (!last.dropped_by.empty()) {
    const std::string& stage = StageOf(chain->size() - 1);
    if (!stage.empty()) last.why = "in stage " + stage + (last.why.empty() ? "" : ": " + last.why);
    plan_.dropped.push_back({std::move(last.values), std::move(last.dropped_by), std::move(last.why)});
    return;
  }
  if (!text_is_good_) return;
  const std::optional<size_t> point = AddChain(*std::move(chain), listed);
  if (point && listed) plan_.points[*point].why = combination.steps.front()->why;
}

std::optional<Planner::Chain> Planner::Resolve(const Combination& combination) {
  Chain chain;
  for (size_t k = 0; k < std::max<size_t>(stages().size(), 1); ++k) {
    const Stage* stage = stages().empty() ? nullptr : &stages()[k];
    std::optional<ResolvedPoint> point = memory_->resolver.Resolve(combination, stage, errors_);
    if (!point) return std::nullopt;
    chain.push_back(*std::move(point));
    if (!chain.back().dropped_by.empty()) break;
  }
  return chain;
}

const std::string& Planner::StageOf(size_t place) const {
  static const std::string none;
  return stages().empty() ? none : stages()[place].name;
}

Planner::Built Planner::Build(ResolvedPoint* point, const Stage* stage, const std::string& after) {
  Built built;
  built.swept = memory_->resolver.SweptKeys(point->read, stage);
  if (PointForm* const form = point->read.form) {
    const LoadedExperiment& loaded = form->Load(point->read.own);
    auto of_form = of_forms_.find({form, stage});
    if (of_form == of_forms_.end())
      of_form =
          of_forms_.emplace(std::pair{form, stage}, OfForm{FormText(*form, loaded, built.swept, after, rules()), {}}).first;
    built.of_form = &of_form->second;
    built.identity = of_form->second.text.Of(loaded, point->read.own, built.swept, after);
  } else {
    built.whole = Resolver::Build(std::move(point->read));
    built.identity = CanonicalText(PointIdentity(*built.whole, built.swept, after, rules()));
    json& written = built.whole->experiment.command.written;
    if (!written.empty()) {
      const json texts = std::exchange(written, json::object());
      built.plain_id = IdOf(PointIdentity(*built.whole, built.swept, after, rules()));
      written = texts;
    }
  }
  built.id = IdOfText(built.identity);
  const LoadedExperiment& loaded = LoadedOf(built, *point);
  const BudgetPlace place = PlaceOfBudget(loaded, built.swept, rules());
  if (place != BudgetPlace::kIdentity) built.budget = RecordedBudget(loaded.experiment.budget);
  if (place == BudgetPlace::kSchedule) built.schedule_budget = ScheduleBudgetOf(loaded.experiment);
  return built;
}

const LoadedExperiment& Planner::LoadedOf(const Built& built, const ResolvedPoint& point) {
  return built.whole ? *built.whole : point.read.form->Load(point.read.own);
}

const std::map<std::string, std::string>* Planner::FilesOf(Built* built, const ResolvedPoint& point,
                                                           const PointWrites& writes) {
  OfForm* const form = built->of_form;
  if (form && form->files) return &*form->files;
  const LoadedExperiment& loaded = LoadedOf(*built, point);
  const auto refuse = [&](const std::string& path, const std::string& why) {
    const auto origins = memory_->resolver.Load(writes).origin;
    const auto origin = origins.find(path);
    errors_->AddFile(origin == origins.end() ? path : origin->second, why);
    return nullptr;
  };
  if (loaded.experiment.HasCommand() && !stages().empty())
    return refuse(loaded.learner->id,
                  loaded.learner->id +
                      ": expected a plugin in an experiment with stages, because one learner goes through all of them, got a "
                      "command");
  try {
    built->files = hashes_.Of(loaded);
  } catch (const NoDataFile& error) {
    return refuse(error.path, error.what());
  }
  if (!form || form->text.names_files()) return &built->files;
  return &form->files.emplace(std::move(built->files));
}

std::optional<size_t> Planner::AddChain(Chain chain, bool listed) {
  std::vector<Built> built;
  for (size_t k = 0; k < chain.size(); ++k)
    built.push_back(Build(&chain[k], stages().empty() ? nullptr : &stages()[k], k > 0 ? built[k - 1].id : ""));
  // The last one's identity holds those before it.
  if (const auto known = by_id_.find(built.back().id); known != by_id_.end()) {
    // A repeated suggestion is one point with two numbers.
    if (!sweep().search)
      plan_.dropped.push_back({std::move(chain.back().values), "same as another point", plan_.points[known->second].name});
    return known->second;
  }
  std::vector<size_t> places;
  for (size_t k = 0; k < chain.size(); ++k) {
    const auto [known, fresh] = by_id_.emplace(built[k].id, plan_.points.size());
    const std::optional<size_t> after = k > 0 ? std::optional(places.back()) : std::nullopt;
    places.push_back(known->second);
    if (!fresh) continue;  // chains may begin alike
    const std::string& stage = StageOf(k);
    plan_.points.push_back({built[k].id, NameWithStage(chain[k].name, stage), std::move(chain[k].values), listed, stage, after,
                            chain[k].swept, built[k].plain_id});
    plan_.points.back().budget = built[k].budget;
    plan_.points.back().schedule_budget = built[k].schedule_budget;
    memory_->writes.push_back(std::move(chain[k].writes));
    memory_->swept.push_back(std::move(built[k].swept));
    const std::string& exact = chain[k].exact_name;
    NameApart(known->second, exact.empty() ? "" : NameWithStage(exact, stage));
  }
  if (points_alone_) return places.back();
  std::vector<const std::map<std::string, std::string>*> files;
  for (size_t k = 0; k < chain.size(); ++k) {
    files.push_back(FilesOf(&built[k], chain[k], memory_->writes[places[k]]));
    if (!files.back()) return std::nullopt;
  }
  const Experiment& first = LoadedOf(built.front(), chain.front()).experiment;
  for (uint64_t i = 0; i < SeedsOf(sweep(), first); ++i) {
    // All stages have the seed of the first, whichever other chains begin with it.
    const uint64_t seed = SeedOf(first, built.front().id, i);
    std::optional<size_t> after;
    for (size_t k = 0; k < built.size(); ++k) after = AddTrial(places[k], i, built[k].identity, seed, *files[k], after);
  }
  return places.back();
}

void Planner::NameApart(size_t point, const std::string& exact_name) {
  exact_names_.push_back(exact_name);
  const auto [same, fresh] = by_name_.try_emplace(plan_.points[point].name, point);
  if (fresh) return;
  for (const size_t one : {same->second, point}) {
    if (exact_names_[one].empty()) continue;
    plan_.points[one].name = exact_names_[one];
    by_name_.try_emplace(exact_names_[one], one);
  }
}

uint64_t Planner::SeedOf(const Experiment& experiment, const std::string& point_id, uint64_t pass) const {
  const std::vector<uint64_t>& given = sweep().given_seeds;
  if (pass < given.size()) return given[pass];
  if (!given.empty()) return *std::max_element(given.begin(), given.end()) + 1 + pass - given.size();
  const std::optional<Seeds>& seeds = sweep().seeds;
  if (!seeds) return experiment.seed + pass;
  return seeds->paired ? seeds->first + pass : SeedOfPoint(point_id, seeds->first + pass);
}

size_t Planner::AddTrial(size_t point, uint64_t pass, const std::string& identity, uint64_t seed,
                         const std::map<std::string, std::string>& files, std::optional<size_t> after) {
  const size_t next = plan_.trials.size();
  if (!stages().empty()) {
    const auto [known, fresh] = by_point_and_pass_.try_emplace({point, pass}, next);
    if (!fresh) return known->second;
  }
  const std::string id = TrialIdOf(identity, seed, files, after ? plan_.trials[*after].id : "");
  plan_.trials.push_back({id, point, seed, files, after});
  passes_.push_back(pass);
  return next;
}

bool Planner::IsOf(const PointAxis& axis, const std::string& name, bool listed) {
  return axis.point.empty() ? listed : axis.point == name;
}

bool Planner::HasVariants(const std::string& name, bool listed) const {
  const auto& axes = sweep().point_axes;
  return std::any_of(axes.begin(), axes.end(), [&](const PointAxis& axis) { return IsOf(axis, name, listed); });
}

void Planner::AddVariants() {
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
      if (plan_.generated >= kMaxPoints || plan_.trials.size() >= kMaxTrials) return SayThatThereAreTooMany();
      const Combination changes = product.Get();
      Combination combination = one.combination;
      combination.steps.insert(combination.steps.end(), changes.steps.begin(), changes.steps.end());
      AddPoint(combination, /*listed=*/false);
    } while (!IsBadEnough() && product.Next());
  }
}

void Planner::SayThatThereAreTooMany() {
  errors_->Add(sweep().mark, fmt::format("sweep: expected at most {} points, got more", FormatCount(kMaxPoints)));
}

void Planner::SayThatNoneIsCalled(const PointAxis& axis) {
  std::vector<std::string> names;
  for (const PlannedPoint& point : plan_.points) names.push_back(point.name);
  errors_->Add(axis.mark, fmt::format("unknown point '{}'{}", axis.point, DidYouMean(Nearest(axis.point, Candidates(names)))));
}

void Planner::OrderTrials() {
  if (!plan_.base.experiment.report.RunsInTurn()) return;
  std::vector<std::vector<size_t>> passes(SeedsOf(sweep(), plan_.base.experiment));
  for (size_t i = 0; i < plan_.trials.size(); ++i) passes[passes_[i]].push_back(i);
  std::vector<size_t> order;
  std::vector<bool> placed(plan_.trials.size(), false);
  // The stages of a trial stay one after the other, whichever way a pass goes.
  const auto place = [&](size_t trial, const auto& self) -> void {
    if (placed[trial]) return;
    if (plan_.trials[trial].after) self(*plan_.trials[trial].after, self);
    placed[trial] = true;
    order.push_back(trial);
  };
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    if (pass % 2 == 1) std::reverse(passes[pass].begin(), passes[pass].end());
    for (const size_t trial : passes[pass]) place(trial, place);
  }
  std::vector<size_t> now(order.size());
  for (size_t i = 0; i < order.size(); ++i) now[order[i]] = i;
  std::vector<PlannedTrial> ordered;
  for (const size_t trial : order) {
    ordered.push_back(std::move(plan_.trials[trial]));
    if (ordered.back().after) ordered.back().after = now[*ordered.back().after];
  }
  plan_.trials = std::move(ordered);
}

void Planner::SayThatNoneIsLeft() {
  std::map<std::string, size_t> rules;
  for (const DroppedPoint& point : plan_.dropped) ++rules[point.rule];
  std::string counts;
  for (const auto& [rule, count] : rules) counts += fmt::format("{}{} by {}", counts.empty() ? "" : ", ", count, rule);
  errors_->Add(sweep().mark, fmt::format("sweep: no point is left: {} generated, dropped {}", plan_.generated, counts));
}

}  // namespace backplane
