#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "kinds/parallel_efficiency_report.hpp"
#include "kinds/setting_text.hpp"
#include "machine/resource_measures.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr double kBeside = 0.08;  // in doublings: between series whose marks would lie on each other

using Value = std::function<std::optional<Number>(const Setting&)>;

Datum DatumAt(double x, const std::optional<Number>& number) {
  if (!number || !std::isfinite(number->value)) return {x, NAN, {}, {}, ""};
  return {x, number->value, number->low, number->high, ""};
}

std::optional<Number> Plain(const std::optional<double>& value) {
  if (!value) return std::nullopt;
  return Reading(*value);
}

class Figures {
 public:
  Figures(const Combined& combined, const ParallelEfficiency& analysis) : combined_(combined), analysis_(analysis) {
    for (const Setting& setting : analysis.settings) {
      lines_.insert({setting.series, setting.num_envs_per_env_runner});
      largest_ = std::max(largest_, static_cast<double>(setting.parallelism()));
    }
  }

  Figure Analysis() const {
    Figure figure;
    figure.name = "parallel_efficiency_analysis";
    figure.title = fmt::format("Parallel efficiency: {}", fmt::join(combined_.experiments, ", "));
    figure.alt =
        "Throughput, speedup, efficiency, training time and return against the number of environment rows, with a table; "
        "whiskers are 95 % intervals.";
    figure.columns = 3;
    figure.width = 2400;
    figure.height = 1400;
    figure.panels = {Throughput(), Speedup(), Efficiency(), TrainingTime(), Return(), Summary()};
    return figure;
  }

  Figure Resources() const {
    Figure figure;
    figure.name = "resource_utilization_analysis";
    figure.title = fmt::format("Resources: {}", fmt::join(combined_.experiments, ", "));
    figure.alt = "CPU, RAM, GPU and VRAM of each setting: mean as bar, largest sample as whisker.";
    figure.columns = 2;
    figure.width = 2000;
    figure.height = 1300;
    figure.panels = {Bars("CPU", {{resource_measure::kCpuQuotaPct, "% of granted cores"}}, "", "no CPU data"),
                     Bars("RAM",
                          {{resource_measure::kMemoryLimitPct, "% of the limit"},
                           {resource_measure::kRssMb, "MiB of the trial's processes"}},
                          resource_measure::kRssMb, "no RAM data"),
                     Bars("GPU", {{resource_measure::kGpuUtilPct, "% of the time"}}, "", "no GPU data"),
                     Bars("VRAM", {{resource_measure::kGpuMemoryPct, "% of the device's memory"}},
                          resource_measure::kVramUsedMb, "no GPU data")};
    return figure;
  }

 private:
  Axis Rows() const { return {"environment rows (runners x environments each)", Scale::kLog2, 0.8, largest_ * 1.25, {}}; }

  // One series for each number of environments per runner: sizes such as 4 x 2 and 8 x 1 have as many rows.
  std::vector<Series> Lines(const Value& value) const {
    std::vector<Series> all;
    for (const auto& [series, envs] : lines_) {
      Series line;
      line.title = fmt::format("{} {} per runner", envs, envs == 1 ? "environment" : "environments");
      if (analysis_.series.size() > 1 && !analysis_.series[series].label.empty())
        line.title = analysis_.series[series].label + ", " + line.title;
      line.colour = all.size();
      for (const Setting& setting : analysis_.settings) {
        if (setting.series == series && setting.num_envs_per_env_runner == envs)
          line.marks.push_back(DatumAt(static_cast<double>(setting.parallelism()), value(setting)));
      }
      all.push_back(std::move(line));
    }
    return all;
  }

  bool Any(const Value& value) const {
    return std::any_of(analysis_.settings.begin(), analysis_.settings.end(), [&](const Setting& setting) {
      const std::optional<Number> number = value(setting);
      return number && std::isfinite(number->value);
    });
  }

  Panel Plot(std::string title, std::string label, const Value& value, KeyPlace key, const char* without) const {
    Panel panel;
    panel.title = std::move(title);
    panel.x = Rows();
    panel.y.label = std::move(label);
    panel.key = key;
    if (Any(value)) {
      panel.series = Lines(value);
    } else {
      panel.note = without;
    }
    return panel;
  }

  Panel Throughput() const {
    Panel panel = Plot(
        "Throughput", "environment steps per second", [](const Setting& s) { return s.sps; }, KeyPlace::kBottomRight,
        "no trial has a speed");
    panel.y.low = 0;
    return panel;
  }

  Panel Speedup() const {
    Panel panel = Plot(
        "Speedup", "speed / speed of the baseline", [](const Setting& s) { return Plain(s.speedup); }, KeyPlace::kTopLeft,
        "no baseline");
    panel.y.scale = Scale::kLog2;
    if (!panel.note.empty()) return panel;
    Series ideal;
    ideal.style = Series::Style::kReference;
    ideal.colour = 7;
    // Of each baseline's parallelism: twice as many rows, twice as fast.
    std::set<uint64_t> starts;
    for (const ScoredSeries& series : analysis_.series) {
      if (series.baseline) starts.insert(analysis_.settings[*series.baseline].parallelism());
    }
    for (const uint64_t start : starts) {
      const double rows = static_cast<double>(start);
      ideal.marks = {{rows, 1, {}, {}, ""}, {largest_, largest_ / rows, {}, {}, ""}};
      ideal.title = starts.size() > 1 ? fmt::format("ideal from {} rows", start) : "ideal";
      if (largest_ > rows) panel.series.push_back(ideal);
    }
    return panel;
  }

  Panel Efficiency() const {
    Panel panel = Plot(
        "Parallel efficiency", "%", [](const Setting& s) { return Plain(s.efficiency_pct); }, KeyPlace::kBottomLeft,
        "no baseline");
    if (!panel.note.empty()) return panel;
    double top = 110;
    for (const Setting& setting : analysis_.settings) top = std::max(top, setting.efficiency_pct.value_or(0) * 1.1);
    panel.y.low = 0;
    panel.y.high = top;
    panel.bands = {{0, kGoodPct, BandName(EfficiencyBand::kBottleneck)},
                   {kGoodPct, kExcellentPct, BandName(EfficiencyBand::kGood)},
                   {kExcellentPct, kIdealPct, BandName(EfficiencyBand::kExcellent)},
                   {kIdealPct, top, BandName(EfficiencyBand::kIdeal)}};
    return panel;
  }

  Panel TrainingTime() const {
    Panel panel = Plot(
        "Training time", "seconds per trial", [](const Setting& s) { return s.wall_s; }, KeyPlace::kTopRight,
        "no trial finished");
    panel.y.low = 0;
    return panel;
  }

  Panel Return() const {
    Panel panel = Plot(
        "Learning performance", "mean episode return", [](const Setting& s) { return s.episode_return; }, KeyPlace::kTopLeft,
        "no episode ended");
    // Settings of as many rows learn alike, to the last bit: side by side, or one would hide the other.
    for (size_t i = 0; i < panel.series.size(); ++i) {
      const double shift = kBeside * (static_cast<double>(i) - static_cast<double>(panel.series.size() - 1) / 2);
      for (Datum& mark : panel.series[i].marks) mark.x *= std::exp2(shift);
    }
    return panel;
  }

  Panel Summary() const {
    Panel panel;
    panel.title = "Summary";
    TextTable table;
    table.header = {"setting", "steps/s", "speedup", "eff. %", "core eff. %", "band"};
    for (size_t i = 0; i < analysis_.settings.size(); ++i) {
      const Setting& s = analysis_.settings[i];
      const auto number = [](const std::optional<double>& value, const char* form) {
        return value ? fmt::format(fmt::runtime(form), *value) : std::string("-");
      };
      const std::string name = SettingText(s, analysis_);
      if (!s.sps) {
        table.rows.push_back({name, "-", "-", "-", "-", s.failure.substr(0, s.failure.find(':'))});
      } else {
        table.rows.push_back({name, FormatNumber(Reading(s.sps->value), 4), number(s.speedup, "{:.2f}"),
                              number(s.efficiency_pct, "{:.1f}"), number(s.core_efficiency_pct, "{:.1f}"),
                              s.band.empty() ? "-" : s.band});
      }
      for (const Recommendation& advice : analysis_.recommendations[s.series]) {
        if (advice.setting == i && (table.emphasised.empty() || table.emphasised.back() != i)) table.emphasised.push_back(i);
      }
    }
    table.note = "emphasised: recommended; whiskers: 95 % interval";
    for (const ScoredSeries& series : analysis_.series) {
      if (!series.baseline_note.empty()) table.note += "; " + series.baseline_note;
    }
    panel.table = std::move(table);
    return panel;
  }

  // The first of the measures that was taken; its mean as a bar, its largest sample as a whisker.
  Panel Bars(std::string title, const std::vector<std::pair<std::string, std::string>>& measures, const std::string& amount,
             std::string without) const {
    Panel panel;
    panel.title = std::move(title);
    panel.y = {measures.front().second, Scale::kLinear, 0.0, 105.0, {}};
    panel.x.label = "runners x environments each";
    for (const auto& [name, label] : measures) {
      const std::string& measure = name;  // a lambda can not capture a binding
      const auto value = [&](const Setting& setting) { return MeasureOf(combined_, setting, measure); };
      if (!Any(value)) continue;
      panel.y.label = label;
      const bool is_share = label.starts_with('%');
      if (!is_share) panel.y.high = 1;
      Series bars;
      bars.style = Series::Style::kBars;
      bars.colour = 0;
      for (const Setting& setting : analysis_.settings) {
        const double x = static_cast<double>(panel.x.categories.size());
        panel.x.categories.push_back(SettingText(setting, analysis_));
        const std::optional<Number> mean = value(setting);
        Datum mark{x, mean ? mean->value : NAN, {}, {}, ""};
        if (mean) {
          const double peak = PeakOf(combined_, setting, measure).value_or(mean->value);
          mark.low = mean->value;
          mark.high = peak;
          *panel.y.high = std::max(*panel.y.high, (is_share ? 1.05 : 1.2) * peak);  // room for the labels
          const std::optional<double> largest = amount.empty() ? std::nullopt : PeakOf(combined_, setting, amount);
          if (largest) mark.label = fmt::format("{:.0f} MiB", *largest);
        }
        bars.marks.push_back(mark);
      }
      panel.series = {bars};
      if (is_share) panel.lines = {{80, "80 %"}, {90, "90 %"}};
      return panel;
    }
    panel.note = std::move(without);
    return panel;
  }

  const Combined& combined_;
  const ParallelEfficiency& analysis_;
  std::set<std::pair<size_t, uint64_t>> lines_;  // series, environments per runner
  double largest_ = 1;
};

}  // namespace

std::vector<Figure> ParallelEfficiencyFigures(const Combined& combined, const ParallelEfficiency& analysis) {
  const Figures figures(combined, analysis);
  return {figures.Analysis(), figures.Resources()};
}

}  // namespace backplane
