#include "kinds/parallel_efficiency_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "figures/panels.hpp"
#include "kinds/figure_rows.hpp"
#include "kinds/resource_figures.hpp"
#include "kinds/setting_text.hpp"
#include "results/setting_speed.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr double kBeside = 0.05;  // in doublings: between series whose marks would lie on each other
constexpr const char* kRowsAxis = "environments in total";

using Value = std::function<std::optional<Number>(const Setting&)>;

class Figures {
 public:
  Figures(const Combined& combined, const ParallelEfficiency& analysis)
      : combined_(combined), analysis_(analysis), palette_(SeriesOf()) {
    std::set<double> sizes;
    for (const Setting& setting : analysis.settings) sizes.insert(static_cast<double>(setting.parallelism()));
    sizes_ = {sizes.begin(), sizes.end()};
  }

  Figure Analysis() const {
    Figure figure;
    figure.name = "parallel_efficiency_analysis";
    figure.title = fmt::format("Parallel efficiency: {}", fmt::join(combined_.experiments, ", "));
    figure.alt =
        "Throughput, speedup, efficiency, training time and return against the number of environments, with a table. Lines "
        "join "
        "means, whiskers are 95 % intervals, dots are single seeds or iterations.";
    figure.columns = 3;
    AddThroughput(&figure);
    AddSpeedup(&figure);
    AddEfficiency(&figure);
    AddPlot(
        {{"Training time", kRowsAxis, "seconds per trial", kThing}}, "wall_s", [](const Setting& s) { return s.wall_s; },
        &figure);
    AddPlot(
        {{"Learning performance", kRowsAxis, "mean episode return", kThing}}, "return",
        [](const Setting& s) { return s.episode_return; }, &figure);
    figure.panels.push_back(View(Summary()));
    return figure;
  }

  std::vector<Figure> Resources() const {
    std::vector<ResourceName> names;
    for (const Setting& setting : analysis_.settings)
      names.push_back({SettingText(setting, analysis_), SeriesName(setting), setting.trials, RunnersName(setting)});
    std::vector<std::string> runners;
    for (const ResourceName& name : names)
      if (std::find(runners.begin(), runners.end(), name.dash) == runners.end()) runners.push_back(name.dash);
    return ResourceFigures(combined_, names, palette_, Palette("dash", runners), kThing);
  }

 private:
  static constexpr const char* kThing = "setting";

  // One for each number of environments per runner: sizes such as 4 x 2 and 8 x 1 have as many rows.
  std::string SeriesName(const Setting& setting) const {
    const uint64_t envs = setting.num_envs_per_env_runner;
    const std::string name = fmt::format("{} {} per runner", envs, envs == 1 ? "environment" : "environments");
    const std::string& label = analysis_.series[setting.series].label;
    return analysis_.series.size() > 1 && !label.empty() ? label + ", " + name : name;
  }
  static std::string RunnersName(const Setting& setting) {
    return fmt::format("{} {}", setting.num_env_runners, setting.num_env_runners == 1 ? "runner" : "runners");
  }
  Palette SeriesOf() const {
    std::set<std::pair<std::pair<size_t, uint64_t>, std::string>> series;
    for (const Setting& setting : analysis_.settings)
      series.insert({{setting.series, setting.num_envs_per_env_runner}, SeriesName(setting)});
    std::vector<std::string> names;
    for (const auto& [order, name] : series) names.push_back(name);
    return {"series", names};
  }

  // Series side by side: settings of as many rows may be alike to the last bit, and one would hide the other.
  double Place(const Setting& setting) const {
    const auto& names = palette_.names();
    const auto at = std::find(names.begin(), names.end(), SeriesName(setting)) - names.begin();
    const double shift = kBeside * (static_cast<double>(at) - static_cast<double>(names.size() - 1) / 2);
    return static_cast<double>(setting.parallelism()) * std::exp2(shift);
  }

  // Returns false and adds no plot if no setting has the value.
  bool AddPlot(SweepPanel panel, const std::string& measure, const Value& value, Figure* figure) const {
    const size_t before = figure->rows.size();
    for (const Setting& setting : analysis_.settings) {
      const std::optional<Number> number = value(setting);
      if (!number) continue;
      AddMean(panel.text.title, SettingText(setting, analysis_), IdsOf(combined_, setting.trials), *number, 4,
              measure.empty() ? std::vector<Single>{} : SinglesOf(combined_, setting.trials, measure),
              {{"x", Place(setting)}, {"series", SeriesName(setting)}}, figure);
    }
    if (figure->rows.size() == before) return false;
    panel.ticks = sizes_;
    figure->panels.push_back(View(panel, palette_));
    return true;
  }

  void AddThroughput(Figure* figure) const {
    AddPlot(
        {{"Throughput", kRowsAxis, "steps per second", kThing}}, "SPS", [](const Setting& s) { return s.sps; }, figure);
  }

  const Setting* BaselineOf(const Setting& setting) const {
    const std::optional<size_t> baseline = analysis_.series[setting.series].baseline;
    return baseline ? &analysis_.settings[*baseline] : nullptr;
  }

  // With the interval that the results' table has.
  std::optional<Number> RatioTo(const Setting& setting, const std::optional<double>& ratio) const {
    const Setting* base = BaselineOf(setting);
    if (!ratio || !setting.speedup || base == nullptr) return std::nullopt;
    Number number = SpeedRatio(setting, *base, *ratio / *setting.speedup);
    number.value = *ratio;  // to the last digit
    return number;
  }

  // A speed of each seed or iteration, as a ratio to the baseline's.
  void AddRatioDots(const std::string& panel, const std::function<double(const Setting&, double)>& ratio,
                    Figure* figure) const {
    for (const Setting& setting : analysis_.settings) {
      if (!setting.speedup || BaselineOf(setting) == nullptr) continue;
      for (const Single& single : SinglesOf(combined_, setting.trials, "SPS")) {
        nlohmann::json row = RowOf(panel, "one", SettingText(setting, analysis_), single.trial);
        row.update({{"value", FiniteOrNull(ratio(setting, single.value / BaselineOf(setting)->sps->value))},
                    {"of", single.of},
                    {"x", Place(setting)},
                    {"series", SeriesName(setting)}});
        figure->rows.push_back(std::move(row));
      }
    }
  }

  void AddSpeedup(Figure* figure) const {
    SweepPanel panel{{"Speedup", kRowsAxis, "times the baseline's speed", kThing}, {}, {}, true};
    // As many times as fast as the baseline, which fills `filled` of them, all cores can be.
    std::set<std::pair<double, uint64_t>> cores;
    std::set<uint64_t> starts;
    for (const Setting& setting : analysis_.settings) {
      const Setting* baseline = BaselineOf(setting);
      if (baseline == nullptr) continue;
      starts.insert(baseline->parallelism());
      if (setting.cores == 0) continue;
      const uint64_t filled = std::min(std::max<uint64_t>(baseline->num_env_runners, 1), setting.cores);
      cores.insert({static_cast<double>(setting.cores) / static_cast<double>(filled), setting.cores});
    }
    for (const auto& [at, count] : cores)
      panel.lines.push_back({at, fmt::format("{} {}", count, count == 1 ? "core" : "cores")});
    panel.size.width -= 45;  // for their labels
    if (!AddPlot(
            panel, "", [this](const Setting& s) { return RatioTo(s, s.speedup); }, figure))
      return;
    AddRatioDots(
        panel.text.title, [](const Setting&, double ratio) { return ratio; }, figure);
    // Draw ideal scaling from each baseline: twice the envs, twice the speed.
    for (const uint64_t start : starts) {
      const double rows = static_cast<double>(start);
      for (const double x : {rows, sizes_.back()}) {
        const std::string name = starts.size() > 1 ? fmt::format("ideal from {}", start) : "ideal";
        nlohmann::json row = RowOf(panel.text.title, "ideal", name, "");
        const std::string label = x < sizes_.back() ? "" : name;
        row.update({{"x", x}, {"value", x / rows}, {"label", label}});
        figure->rows.push_back(std::move(row));
      }
    }
  }

  void AddEfficiency(Figure* figure) const {
    double top = 110;
    for (const Setting& setting : analysis_.settings) top = std::max(top, setting.efficiency_pct.value_or(0) * 1.1);
    SweepPanel panel{{"Parallel efficiency", kRowsAxis, "speedup / environments [%]", kThing},
                     {},
                     {},
                     false,
                     0,
                     top,
                     {{0, kGoodPct, BandName(EfficiencyBand::kBottleneck)},
                      {kGoodPct, kExcellentPct, BandName(EfficiencyBand::kGood)},
                      {kExcellentPct, kIdealPct, BandName(EfficiencyBand::kExcellent)},
                      {kIdealPct, top, BandName(EfficiencyBand::kIdeal)}}};
    panel.size.width -= 60;  // for their labels
    if (!AddPlot(
            panel, "", [this](const Setting& s) { return RatioTo(s, s.efficiency_pct); }, figure))
      return;
    AddRatioDots(
        panel.text.title,
        [this](const Setting& s, double ratio) {
          return 100 * ratio * static_cast<double>(BaselineOf(s)->parallelism()) / static_cast<double>(s.parallelism());
        },
        figure);
  }

  TablePanel Summary() const {
    TablePanel table;
    table.title = "Summary";
    table.header = {"setting", "steps/s", "speedup", "eff. %"};
    table.most = 9;
    for (size_t i = 0; i < analysis_.settings.size(); ++i) {
      const Setting& s = analysis_.settings[i];
      const auto number = [](const std::optional<double>& value, const char* form) {
        return value ? fmt::format(fmt::runtime(form), *value) : std::string("-");
      };
      table.rows.push_back({SettingText(s, analysis_),
                            s.sps ? FormatNumber(Reading(s.sps->value), 4) : s.failure.substr(0, s.failure.find(':')),
                            number(s.speedup, "{:.2f}"), number(s.efficiency_pct, "{:.1f}")});
      for (const Recommendation& advice : analysis_.recommendations[s.series]) {
        if (advice.setting == i && (table.emphasised.empty() || table.emphasised.back() != i)) table.emphasised.push_back(i);
      }
    }
    if (!table.emphasised.empty()) table.notes = {"bold: recommended"};
    return table;
  }

  const Combined& combined_;
  const ParallelEfficiency& analysis_;
  const Palette palette_;
  std::vector<double> sizes_;  // the numbers of rows there are, rising
};

}  // namespace

std::vector<Figure> ParallelEfficiencyFigures(const Combined& combined, const ParallelEfficiency& analysis) {
  const Figures figures(combined, analysis);
  std::vector<Figure> all = {figures.Analysis()};
  for (Figure& figure : figures.Resources()) all.push_back(std::move(figure));
  return all;
}

}  // namespace backplane
