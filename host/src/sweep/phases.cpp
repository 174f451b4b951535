#include "sweep/phases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "config/value.hpp"

namespace backplane {
namespace {

constexpr std::string_view kPrefix = "phases.";

// Why a phase cannot have a value of its own there; empty: it can.
std::string WhyNotInPhase(const std::string& path) {
  // What one learner saves another can not read.
  if (path == "learner" || path == "learner.plugin") return "one learner goes through all phases; change its options instead";
  if (path == "seed") return "all phases of a trial have its seed";
  if (path == "phases" || path.starts_with(kPrefix)) return "a phase has no phases of its own";
  return WhyNoAxis(path);
}

void SayThatNoneIsCalled(const std::string& path, const Mark& mark, const Phases& phases, Errors* errors) {
  std::vector<Candidate> names;
  for (const Phase& phase : phases.list) names.push_back({phase.name, phase.name});
  const std::string rest = path.substr(kPrefix.size()), name = rest.substr(0, rest.find('.'));
  errors->Add(mark, phases.list.empty() ? fmt::format("'{}': the experiment has no phases", path)
                                        : fmt::format("no phase is called '{}'{}", name, DidYouMean(Nearest(name, names))));
}

class PhasesReader {
 public:
  explicit PhasesReader(Errors* errors) : errors_(errors) {}

  Phases Read(const Entry* section, const std::vector<Override>& set) {
    if (section && !section->value.reported) ReadList(*section);
    for (const Override& override : set) Set(override);
    for (const Phase& phase : phases_.list) {
      for (const Assigned* assigned : phase.assigned) AddPath(assigned->override.path);
    }
    return std::move(phases_);
  }

 private:
  void ReadList(const Entry& section) {
    const Node& list = section.value;
    if (list.IsNull()) return;
    if (!list.IsList() || list.items.empty()) {
      errors_->Add(list.mark, fmt::format("phases: wanted a list such as [{{name: first, PATH: VALUE}}, ...], found {}",
                                          list.IsList() ? "an empty one" : Describe(list)));
      return;
    }
    for (const Node& item : list.items) ReadPhase(item);
  }

  void ReadPhase(const Node& item) {
    if (!item.IsMap()) {
      errors_->Add(item.mark,
                   fmt::format("phases: a phase is a mapping such as {{name: first, PATH: VALUE}}, found {}", Describe(item)));
      return;
    }
    Phase phase{"", item.mark, {}};
    for (const Entry& entry : item.entries) {
      if (entry.key == "name") {
        if (auto name = ReadValue(entry.value, {ValueType::kName, ""}, "name", errors_)) phase.name = name->get<std::string>();
      } else if (Allows(entry.key, entry.mark)) {
        phase.assigned.push_back(Assign(Override{entry.key, entry.mark, false, entry.value, false, /*yields=*/true}));
      }
    }
    const Entry* name = FindEntry(item, "name");
    if (!name) errors_->Add(item.mark, "phases: a phase lacks 'name', by which its results are told from the others'");
    const auto same = [&](const Phase& other) { return other.name == phase.name; };
    if (name && !phase.name.empty() && std::any_of(phases_.list.begin(), phases_.list.end(), same))
      errors_->Add(name->mark, fmt::format("phases: two are called '{}'", phase.name));
    phases_.list.push_back(std::move(phase));
  }

  void Set(const Override& override) {
    const auto found = phases_.Split(override.path);
    if (!found) {
      SayThatNoneIsCalled(override.path, override.mark, phases_, errors_);
    } else if (Allows(found->second, override.mark)) {
      Phase& phase = phases_.list[static_cast<size_t>(found->first - phases_.list.data())];
      std::erase_if(phase.assigned, [&](const Assigned* other) { return other->override.path == found->second; });
      phase.assigned.push_back(Assign(Override{found->second, override.mark, override.add, override.value, false, true}));
    }
  }

  bool Allows(const std::string& path, const Mark& mark) {
    const std::string why = WhyNotInPhase(path);
    if (!why.empty()) errors_->Add(mark, fmt::format("'{}' cannot differ between phases: {}", path, why));
    return why.empty();
  }

  const Assigned* Assign(Override override) { return &phases_.assigned.emplace_back(Assigned{std::move(override), nullptr}); }

  void AddPath(const std::string& path) {
    if (std::find(phases_.paths.begin(), phases_.paths.end(), path) == phases_.paths.end()) phases_.paths.push_back(path);
  }

  Errors* errors_;
  Phases phases_;
};

}  // namespace

std::optional<std::pair<const Phase*, std::string>> Phases::Split(const std::string& path) const {
  if (!path.starts_with(kPrefix)) return std::nullopt;
  const std::string rest = path.substr(kPrefix.size());
  const Phase* found = nullptr;  // the longest name: one may have dots
  for (const Phase& phase : list) {
    if (rest.starts_with(phase.name + ".") && (!found || phase.name.size() > found->name.size())) found = &phase;
  }
  return found ? std::optional(std::pair(found, rest.substr(found->name.size() + 1))) : std::nullopt;
}

Phases ReadPhases(const Entry* section, const std::vector<Override>& set, Errors* errors) {
  return PhasesReader(errors).Read(section, set);
}

void CheckPhasePaths(const Sweep& sweep, const Phases& phases, Errors* errors) {
  for (const Assigned& assigned : sweep.assigned) {
    const Override& override = assigned.override;
    if (!override.path.starts_with(kPrefix)) continue;
    const auto found = phases.Split(override.path);
    if (!found) {
      SayThatNoneIsCalled(override.path, override.mark, phases, errors);
    } else if (const std::string why = WhyNotInPhase(found->second); !why.empty()) {
      errors->Add(override.mark, fmt::format("'{}' cannot differ between phases: {}", found->second, why));
    }
  }
}

}  // namespace backplane
