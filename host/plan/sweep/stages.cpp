#include "sweep/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/suggest.hpp"
#include "contract/placeholders.hpp"
#include "contract/value.hpp"

namespace backplane {
namespace {

constexpr std::string_view kPrefix = "stages.";

// Why a stage cannot have a value of its own there; empty: it can.
std::string WhyNotInStage(const std::string& path) {
  // A different learner cannot read the saved state.
  if (ChoosesLearner(path)) return "one learner goes through all stages; change its options instead";
  if (path == "seed") return "all stages of a trial share its seed";
  if (path == "stages" || path.starts_with(kPrefix)) return "a stage cannot have stages";
  return WhyNoAxis(path);
}

void SayThatNoneIsCalled(const std::string& path, const Mark& mark, const Stages& stages, Errors* errors) {
  std::vector<Candidate> names;
  for (const Stage& stage : stages.list) names.push_back({stage.name, stage.name});
  const std::string rest = path.substr(kPrefix.size()), name = rest.substr(0, rest.find('.'));
  const std::string hint = errors->WantsHint(mark) ? DidYouMean(Nearest(name, names)) : "";
  errors->Add(mark, stages.list.empty() ? fmt::format("'{}': the experiment has no stages", path)
                                        : fmt::format("unknown stage '{}'{}", name, hint));
}

class StagesReader {
 public:
  explicit StagesReader(Errors* errors) : errors_(errors) {}

  Stages Read(const Entry* section, const std::vector<Override>& set) {
    if (section && !section->value.reported) ReadList(*section);
    for (const Override& override : set) Set(override);
    for (const Stage& stage : stages_.list) {
      for (const Assigned* assigned : stage.assigned) AddPath(assigned->override.path);
    }
    return std::move(stages_);
  }

 private:
  void ReadList(const Entry& section) {
    const Node& list = section.value;
    if (list.IsNull()) return;
    if (!list.IsList() || list.items.empty()) {
      errors_->Add(list.mark, fmt::format("stages: expected a list such as [{{name: first, PATH: VALUE}}, ...], got {}",
                                          list.IsList() ? "an empty one" : Describe(list)));
      return;
    }
    for (const Node& item : list.items) ReadStage(item);
  }

  void ReadStage(const Node& item) {
    if (!item.IsMap()) {
      errors_->Add(item.mark,
                   fmt::format("stages: expected a stage such as {{name: first, PATH: VALUE}}, got {}", Describe(item)));
      return;
    }
    Stage stage{"", item.mark, {}};
    for (const Entry& entry : item.entries) {
      if (entry.key == "name") {
        if (auto name = ReadValue(entry.value, {ValueType::kName, ""}, "name", errors_)) stage.name = name->get<std::string>();
      } else if (Allows(entry.key, entry.mark)) {
        stage.assigned.push_back(Assign(Override{entry.key, entry.mark, false, entry.value, false, /*yields=*/true}));
      }
    }
    const Entry* name = FindEntry(item, "name");
    if (!name) errors_->Add(item.mark, "stages: missing key 'name', which identifies the stage's results");
    const auto same = [&](const Stage& other) { return other.name == stage.name; };
    if (name && !stage.name.empty() && std::any_of(stages_.list.begin(), stages_.list.end(), same))
      errors_->Add(name->mark, fmt::format("stages: two stages are named '{}'", stage.name));
    stages_.list.push_back(std::move(stage));
  }

  void Set(const Override& override) {
    const auto found = stages_.Split(override.path);
    if (!found) {
      SayThatNoneIsCalled(override.path, override.mark, stages_, errors_);
    } else if (Allows(found->second, override.mark)) {
      Stage& stage = stages_.list[static_cast<size_t>(found->first - stages_.list.data())];
      std::erase_if(stage.assigned, [&](const Assigned* other) { return other->override.path == found->second; });
      stage.assigned.push_back(Assign(Override{found->second, override.mark, override.add, override.value, false, true}));
    }
  }

  bool Allows(const std::string& path, const Mark& mark) {
    const std::string why = WhyNotInStage(path);
    if (!why.empty()) errors_->Add(mark, fmt::format("'{}' cannot differ between stages: {}", path, why));
    return why.empty();
  }

  const Assigned* Assign(Override override) { return &stages_.assigned.emplace_back(Assigned{std::move(override), nullptr}); }

  void AddPath(const std::string& path) {
    if (named_.insert(path).second) stages_.paths.push_back(path);
  }

  Errors* errors_;
  Stages stages_;
  std::unordered_set<std::string> named_;  // stages_.paths
};

}  // namespace

std::optional<std::pair<const Stage*, std::string>> Stages::Split(const std::string& path) const {
  if (!path.starts_with(kPrefix)) return std::nullopt;
  const std::string rest = path.substr(kPrefix.size());
  const Stage* found = nullptr;  // the longest name: one may have dots
  for (const Stage& stage : list) {
    if (rest.starts_with(stage.name + ".") && (!found || stage.name.size() > found->name.size())) found = &stage;
  }
  return found ? std::optional(std::pair(found, rest.substr(found->name.size() + 1))) : std::nullopt;
}

Stages ReadStages(const Entry* section, const std::vector<Override>& set, Errors* errors) {
  return StagesReader(errors).Read(section, set);
}

void CheckStagePaths(const Sweep& sweep, const Stages& stages, Errors* errors) {
  for (const Assigned& assigned : sweep.assigned) {
    const Override& override = assigned.override;
    if (!override.path.starts_with(kPrefix)) continue;
    const auto found = stages.Split(override.path);
    if (!found) {
      SayThatNoneIsCalled(override.path, override.mark, stages, errors);
    } else if (const std::string why = WhyNotInStage(found->second); !why.empty()) {
      errors->Add(override.mark, fmt::format("'{}' cannot differ between stages: {}", found->second, why));
    }
  }
}

}  // namespace backplane
