#include "rules/finding_fix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "rules/finding_batch_sizes.hpp"

namespace backplane {
namespace {

struct Interval {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool low_open = false, high_open = false;
};

// The interval of a range such as "auto|[1,)"; ignores the words.
Interval IntervalOf(const std::string& range) {
  Interval interval;
  const size_t open = range.find_first_of("[("), comma = range.find(',', open), close = range.find_first_of("])", comma);
  if (open == std::string::npos || comma == std::string::npos || close == std::string::npos) return interval;
  const std::string low = range.substr(open + 1, comma - open - 1), high = range.substr(comma + 1, close - comma - 1);
  if (!low.empty()) interval.low = std::strtod(low.c_str(), nullptr), interval.low_open = range[open] == '(';
  if (!high.empty()) interval.high = std::strtod(high.c_str(), nullptr), interval.high_open = range[close] == ')';
  return interval;
}

// `if_0`: the number that the plugin uses instead of 0.
void AddScaled(const Case& c, const std::string& path, const std::string& range, double factor, std::vector<Fix>* fixes,
               std::optional<int64_t> if_0 = std::nullopt) {
  const nlohmann::json from = c.At(path);
  if (!from.is_number()) return;
  const bool integer = from.is_number_integer();
  const double value = integer && from == 0 && if_0 ? static_cast<double>(*if_0) : from.get<double>();
  double wanted = integer ? std::floor(value * factor) : value * factor;
  // If a whole number may be 0, that usually means all, none or automatic, not less than 1.
  if (integer && value >= 1) wanted = std::max(1.0, wanted);
  const std::optional<double> to = ClampToRange(range, wanted, integer);
  if (!to) return;
  if (integer)
    AddFix(c, path, static_cast<int64_t>(*to), fixes);
  else
    AddFix(c, path, *to, fixes);
}

// The point's name in the file. Names made of values ("lr=0.1") stand for an axis, which is replaced as a whole.
std::string NameToType(const Case& c) {
  const std::string& name = c.trials.front()->point;
  return name.find('=') == std::string::npos ? name : "";
}

// In a sweep over plugins, two plugins may have options with the same name.
bool RunsPluginOf(const Case& c, const OptionHelp& option) {
  if (option.plugin.empty()) return true;
  const std::string kind = option.plugin.substr(0, option.plugin.find('.'));
  const nlohmann::json plugin = c.At(kind + ".plugin");
  return plugin.is_string() && option.plugin == kind + "." + plugin.get<std::string>();
}

// False, or an automatic choice that may be true.
bool IsSwitchedOff(const nlohmann::json& value, const std::string& range) {
  return value == false || (value == "auto" && ("|" + range + "|").find("|true|") != std::string::npos);
}

// 0 may mean "all" or "the env's own limit". Plugins record the number in use as a fact with the option's name. A trial that
// was killed has no facts; a different one of the same learner has them.
std::optional<int64_t> NumberInUse(const Case& c, const OptionHelp& option) {
  const std::string fact = option.plugin + " " + option.path.substr(option.path.rfind('.') + 1) + " ";
  const auto recorded = [&](const TrialData& trial) -> std::optional<int64_t> {
    for (const std::string& line : trial.facts)
      if (line.starts_with(fact)) return std::strtoll(line.c_str() + fact.size(), nullptr, 10);
    return std::nullopt;
  };
  for (const TrialData* trial : c.trials)
    if (const auto number = recorded(*trial)) return number;
  for (const CombinedTrial& other : *c.all_trials)
    if (other.data.At("learner") == c.At("learner"))
      if (const auto number = recorded(other.data)) return number;
  return std::nullopt;
}

void AddOptionFix(const Case& c, const OptionHelp& option, std::vector<Fix>* fixes) {
  const size_t known = fixes->size();
  if (option.direction != 0) {
    AddScaled(c, option.path, option.range, option.direction > 0 ? 2 : 0.5, fixes, NumberInUse(c, option));
  } else if (IsSwitchedOff(c.At(option.path), option.range)) {
    AddFix(c, option.path, true, fixes);
  }
  if (fixes->size() > known && !FitBatchSizes(c, &fixes->back())) fixes->pop_back();
}

}  // namespace

std::optional<double> ClampToRange(const std::string& range, double value, bool integer) {
  const Interval interval = IntervalOf(range);
  const double step = integer ? 1 : 0;
  const auto below = [&] { return value < interval.low || (interval.low_open && value == interval.low); };
  const auto above = [&] { return value > interval.high || (interval.high_open && value == interval.high); };
  if (below()) value = interval.low + (interval.low_open ? step : 0);
  if (above()) value = interval.high - (interval.high_open ? step : 0);
  return below() || above() ? std::nullopt : std::optional(value);
}

void AddFix(const Case& c, const std::string& path, const nlohmann::json& to, std::vector<Fix>* fixes) {
  AddFix(c, path, c.At(path), to, fixes);
}

void AddFix(const Case& c, const std::string& path, const nlohmann::json& from, const nlohmann::json& to,
            std::vector<Fix>* fixes) {
  const bool known = std::any_of(fixes->begin(), fixes->end(), [&](const Fix& fix) { return fix.path == path; });
  if (from.is_null() || from == to || known) return;
  const bool swept = c.Sweeps(path);
  fixes->push_back({path, from, to, swept, swept ? NameToType(c) : ""});
}

void AddDoubled(const Case& c, const std::string& path, const std::string& range, std::vector<Fix>* fixes) {
  AddScaled(c, path, range, 2, fixes);
}

void AddHalved(const Case& c, const std::string& path, const std::string& range, std::vector<Fix>* fixes) {
  AddScaled(c, path, range, 0.5, fixes);
}

void AddOptionFixes(const Case& c, const std::string& finding, std::vector<Fix>* fixes) {
  for (const int direction : {-1, 1, 0}) {
    for (const OptionHelp& option : *c.options) {
      const bool fits = option.finding == finding && option.direction == direction;
      if (fits && RunsPluginOf(c, option)) AddOptionFix(c, option, fixes);
    }
  }
}

void AddMoreCores(const Case& c, std::vector<Fix>* fixes) {
  const std::optional<uint64_t> all = c.MachineCores();
  const uint64_t granted = c.trials.front()->cores.size();
  if (all && granted > 0 && granted < *all) AddFix(c, "resources.cpus", *all, fixes);
}

}  // namespace backplane
