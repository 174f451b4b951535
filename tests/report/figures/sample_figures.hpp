// Figures of the shapes that reports draw, from few to many settings, and the awkward ones.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "figures/figure.hpp"

namespace backplane {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Everything that a shell, gnuplot, CSV or XML could take for its own.
inline const std::string kAwkward = "`id` 'a' \"b\" _x^2, {y} $(id) %s %d @m \\n & <t> #";

struct SampleSize {
  size_t runners = 4, envs = 2;  // a setting for each pair
  std::string prefix;            // before each setting's name
  bool failed = true;            // some settings have no numbers
  double scale = 1;              // of the speeds and returns
};

inline Datum Measured(double x, double y, double spread) { return {x, y, y * (1 - spread), y * (1 + spread), ""}; }

// Throughput, speedup, efficiency, time, return and a table.
inline Figure SixPanels(const SampleSize& size) {
  Figure figure{
      "six", size.prefix + "parallel efficiency", "Throughput and efficiency by number of environments", 3, 2400, 1400, {}};
  const Axis x{"parallel environments (runners × environments per runner)", Scale::kLog2, {}, {}, {}};
  Panel throughput{"Throughput", x, {"steps/s"}, {}, {}, {}, KeyPlace::kTopLeft, {}, ""};
  Panel speedup{"Speedup", x, {"speedup over 1 × 1", Scale::kLog2}, {}, {}, {}, KeyPlace::kTopLeft, {}, ""};
  Panel efficiency{"Parallel efficiency", x, {"efficiency (%)"}, {}, {}, {}, KeyPlace::kBottomLeft, {}, ""};
  efficiency.bands = {{100, 1e9, "ideal"}, {80, 100, "excellent"}, {60, 80, "good"}, {0, 60, "bottleneck"}};
  Panel time{"Training time", x, {"time (s)"}, {}, {}, {}, KeyPlace::kTopRight, {}, ""};
  Panel learning{
      "Learning performance", {"setting", Scale::kLinear, {}, {}, {}}, {"mean return"}, {}, {}, {}, KeyPlace::kTopLeft, {}, ""};
  TextTable table{
      {"setting", "steps/s", "speedup", "efficiency %", "time s", "return"}, {}, {1}, "n = 3 seeds; 95 % intervals"};
  Series returns{"", Series::Style::kBars, 0, {}};
  double largest = 1;
  for (size_t e = 0; e < size.envs; ++e) {
    const double envs = std::exp2(static_cast<double>(e));
    const std::string title = size.prefix + std::to_string(1u << e) + " per runner";
    Series sps{title, Series::Style::kLine, e, {}}, up = sps, percent = sps, seconds = sps;
    for (size_t r = 0; r < size.runners; ++r) {
      const double runners = std::exp2(static_cast<double>(r)), all = runners * envs;
      const bool failed = size.failed && (r + 2 * e) % 5 == 3;
      const double ratio = failed ? kNaN : std::pow(all, 0.86 - 0.05 * static_cast<double>(e));
      largest = std::max(largest, all);
      sps.marks.push_back(Measured(all, 1000 * ratio * size.scale, 0.04));
      up.marks.push_back(Measured(all, ratio, 0.04));
      percent.marks.push_back(Measured(all, 100 * ratio / all, 0.04));
      seconds.marks.push_back(Measured(all, 60 / ratio, 0.03));
      const std::string name = size.prefix + std::to_string(1u << r) + "x" + std::to_string(1u << e);
      const double index = static_cast<double>(learning.x.categories.size());
      const double mean = failed ? kNaN : size.scale * (-50 + 30 * static_cast<double>(r) - 8 * static_cast<double>(e));
      returns.marks.push_back({index, mean, mean - 9 * size.scale, mean + 9 * size.scale, failed ? "failed" : ""});
      learning.x.categories.push_back(name);
      const auto cell = [&](double value) {
        return failed || !std::isfinite(value) ? "–" : std::to_string(value).substr(0, 6);
      };
      table.rows.push_back({name, cell(1000 * ratio), cell(ratio), cell(100 * ratio / all), cell(60 / ratio), cell(mean)});
    }
    throughput.series.push_back(sps);
    speedup.series.push_back(up);
    efficiency.series.push_back(percent);
    time.series.push_back(seconds);
  }
  speedup.series.push_back({"ideal", Series::Style::kReference, 0, {{1, 1, {}, {}, ""}, {largest, largest, {}, {}, ""}}});
  learning.series = {returns};
  Panel summary{"Summary", {}, {}, {}, {}, {}, KeyPlace::kTopLeft, table, ""};
  figure.panels = {throughput, speedup, efficiency, time, learning, summary};
  return figure;
}

// CPU, RAM, GPU and VRAM: the mean as a bar, the largest as a whisker.
inline Figure FourPanels(const SampleSize& size, bool gpu) {
  Figure figure{"four", "Resource utilisation", "Mean and largest use of CPU, RAM, GPU and VRAM by setting", 2, 2400, 1400, {}};
  for (const std::string title : {"CPU", "RAM", "GPU", "VRAM"}) {
    Panel panel{
        title, {"setting"}, {"use (%)", Scale::kLinear, 0, 105}, {}, {}, {{80, "80 %"}, {90, "90 %"}}, KeyPlace::kTopLeft,
        {},    ""};
    const bool has = gpu || title[0] == 'C' || title[0] == 'R';
    if (!has) panel.note = "no GPU data";
    Series series{"", Series::Style::kBars, 0, {}};
    for (size_t i = 0; i < size.runners * size.envs; ++i) {
      panel.x.categories.push_back(size.prefix + std::to_string(1u << i / size.envs) + "x" +
                                   std::to_string(1u << i % size.envs));
      const double mean = !has || (size.failed && i % 5 == 3) ? kNaN : std::min(95.0, 30 + 9.0 * static_cast<double>(i));
      series.marks.push_back({static_cast<double>(i), mean, mean, std::min(100.0, mean * 1.15), ""});
    }
    panel.series = {series};
    figure.panels.push_back(panel);
  }
  return figure;
}

}  // namespace backplane
