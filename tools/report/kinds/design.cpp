#include "kinds/design.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/shell_argument.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kEnoughSeeds = 5;  // intervals over fewer seeds are wide
constexpr double kSignificant = 1e12;

std::string NumberText(double value) { return fmt::format("{:.12g}", value); }

// The values of one axis that trials with a result have.
struct TriedAxis {
  std::string path;
  std::set<double> values;  // numbers only
  bool whole = true;
  bool numbers = true;
};

std::vector<TriedAxis> TriedAxes(const Combined& combined) {
  std::vector<TriedAxis> axes;
  for (const CombinedTrial& trial : combined.trials) {
    if (!trial.data.usable()) continue;
    for (const auto& [path, value] : trial.data.values) {
      auto axis = std::ranges::find(axes, path, &TriedAxis::path);
      if (axis == axes.end()) axis = axes.insert(axes.end(), TriedAxis{path, {}});
      axis->numbers &= value.is_number();
      axis->whole &= value.is_number_integer();
      if (value.is_number()) axis->values.insert(value.get<double>());
    }
  }
  std::erase_if(axes, [](const TriedAxis& axis) { return !axis.numbers || axis.values.size() < 2; });
  return axes;
}

// "rollout.num_env_runners: the best SPS is at 8, the highest of the 4 values tried. Try 16 as well: --sweep
// rollout.num_env_runners=8,16"; empty: the best value is not at an edge.
std::string EdgeText(const TriedAxis& axis, const json& best, const std::string& by) {
  if (!best.is_number()) return "";
  const double value = best.get<double>(), low = *axis.values.begin(), high = *axis.values.rbegin();
  if (value != low && value != high) return "";
  const double neighbour = value == low ? *std::next(axis.values.begin()) : *std::next(axis.values.rbegin());
  const std::optional<double> beyond = BeyondEdge(value, neighbour, low > 0, axis.whole);
  if (!beyond) return "";
  const std::string argument = fmt::format("{}={},{}", axis.path, NumberText(value), NumberText(*beyond));
  return fmt::format("{}: the best {} is at {}, the {} of the {} values tried. Try {} as well: `--sweep {}`", axis.path, by,
                     NumberText(value), value == low ? "lowest" : "highest", axis.values.size(), NumberText(*beyond),
                     ShellArgument(argument));
}

std::string SeedsText(const Combined& combined) {
  std::set<uint64_t> seeds;
  for (const CombinedTrial& trial : combined.trials) seeds.insert(trial.data.seed);
  const std::string tried = seeds.size() == 1 ? fmt::format("seed {} only", *seeds.begin())
                                              : fmt::format("{} seeds from {} on", seeds.size(), *seeds.begin());
  return seeds.size() >= kEnoughSeeds
             ? fmt::format("Other seeds: tried {}", tried)
             : fmt::format("Other seeds: tried {}. For {}: `sweep: {{seeds: {{n: {}}}}}`", tried, kEnoughSeeds, kEnoughSeeds);
}

std::string EnvsText(const Combined& combined) {
  std::set<std::string> envs;
  for (const CombinedTrial& trial : combined.trials)
    if (const json plugin = trial.data.At("env.plugin"); plugin.is_string() && !plugin.get<std::string>().empty())
      envs.insert(plugin.get<std::string>());
  return envs.empty() ? "" : fmt::format("Other envs: tried {}", fmt::join(envs, ", "));
}

std::string HardwareText(const Combined& combined) {
  std::vector<std::string> machines;
  for (const Group& group : combined.groups) {
    std::string gpus;
    for (const DeviceInfo& gpu : group.run.devices) gpus += (gpus.empty() ? "" : ", ") + gpu.name;
    const HostInfo& host = group.run.host;
    machines.push_back(fmt::format("{} with {} {}, {}", host.cpu.empty() ? "one machine" : host.cpu, host.granted_cores,
                                   host.granted_cores == 1 ? "core" : "cores", gpus.empty() ? "no GPU" : gpus));
  }
  return fmt::format("Other hardware: tried {}", fmt::join(machines, "; "));
}

}  // namespace

std::optional<double> BeyondEdge(double edge, double neighbour, bool positive, bool whole) {
  const double exact = positive ? edge * edge / neighbour : edge + (edge - neighbour);
  const double rounded = whole ? std::round(exact) : std::stod(fmt::format("{:.3g}", exact));
  if (!std::isfinite(rounded) || rounded == edge || (positive && rounded <= 0)) return std::nullopt;
  return whole && std::abs(rounded) > kSignificant ? std::nullopt : std::optional(rounded);
}

std::optional<Table> ReasonsTable(const std::vector<ResultSet>& sets, const Combined& combined) {
  Table table{"reasons", "Reasons for axes and points", {}, {}, {}, {}};
  table.columns = {{"of", "axis or point", "", "a path of the sweep, or a point's name"},
                   {"why", "why", "", "the file's reason"}};
  std::set<std::pair<std::string, std::string>> known;
  const auto add = [&](const std::string& of, const std::string& why) {
    if (!why.empty() && known.emplace(of, why).second) table.rows.push_back({of, why});
  };
  for (const ResultSet& set : sets)
    for (const auto& [path, why] : set.run.whys) add(path, why);
  for (const CombinedTrial& trial : combined.trials) add(PointName(trial.data), trial.data.reason);
  return table.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

Section NotTriedSection(const Combined& combined, const std::optional<BestConfiguration>& best) {
  std::vector<std::string> items;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) items.push_back(text + (text.ends_with('`') ? "" : "."));
  };
  if (best) {
    const TrialData& trial = combined.trials[best->trials.front()].data;
    for (const TriedAxis& axis : TriedAxes(combined)) {
      const auto own = std::ranges::find(trial.values, axis.path, &std::pair<std::string, json>::first);
      if (own != trial.values.end()) add(EdgeText(axis, own->second, best->by));
    }
  }
  add(SeedsText(combined));
  add(EnvsText(combined));
  add(HardwareText(combined));
  return {"not_tried", "Not tried", {BulletList{std::move(items)}}};
}

}  // namespace backplane
