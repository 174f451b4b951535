#include "kinds/resource_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "figures/panels.hpp"
#include "kinds/figure_rows.hpp"
#include "kinds/setting_text.hpp"
#include "record/results_folder.hpp"
#include "results/resource_series.hpp"

namespace backplane {
namespace {

constexpr double kMostPct = 150;  // limit of the axis: an interval may reach far beyond 100 %

class Resources {
 public:
  Resources(const Combined& combined, const std::vector<ResourceName>& names, const Palette& palette, const Palette& dashes,
            const std::string& thing)
      : combined_(combined), names_(names), palette_(palette), dashes_(dashes), thing_(thing) {
    std::vector<std::string> whole;
    for (const ResourceName& name : names) whole.push_back(name.name);
    labels_ = FigureLabels(whole);
  }

  Figure Bars() const {
    Figure figure = Named(kResourceBars, "Resources");
    figure.alt =
        "Use of the machine by each " + thing_ + ": the mean as a bar, the largest sample as a tick, single trials as dots.";
    const RowLayout layout = LayOutRows(labels_, kResourceCharts.size());
    for (const ResourceChart& resource : kResourceCharts) {
      BarPanel panel{{resource.title, resource.axis, "", thing_}, {layout.width, 24}, labels_, {}, {}};
      const size_t before = figure.rows.size();
      double largest = 100;
      for (size_t i = 0; i < names_.size(); ++i) largest = std::max(largest, AddBar(resource, i, &figure));
      if (figure.rows.size() == before) continue;
      if (resource.is_share) panel.x_high = std::min(largest, kMostPct), panel.lines = {{80, "80 %"}, {90, "90 %"}};
      figure.panels.push_back(View(panel, palette_));
    }
    figure.columns = std::min(layout.columns, std::max<size_t>(figure.panels.size(), 1));
    return figure;
  }

  Figure Curves() const {
    Figure figure = Named(kResourceCurves, "Resources over time");
    figure.alt = "Use of the machine by each trial, sample by sample.";
    for (size_t i = 0; i < names_.size(); ++i) {
      for (const size_t trial : names_[i].trials) AddTrial(combined_.trials[trial].data, i, &figure);
    }
    for (const ResourceChart& resource : kResourceCharts) {
      const bool any =
          std::any_of(figure.rows.begin(), figure.rows.end(), [&](const auto& row) { return row["panel"] == resource.title; });
      CurvePanel panel{{resource.title, "seconds since the trial's start", resource.axis, thing_}};
      panel.dashes = dashes_;
      if (any) figure.panels.push_back(View(panel, palette_));
    }
    figure.columns = std::clamp<size_t>(figure.panels.size(), 1, 2);
    figure.choices = nlohmann::json::array({Smoothing()});
    return figure;
  }

 private:
  Figure Named(const char* name, const char* title) const {
    Figure figure;
    figure.name = name;
    figure.title = fmt::format("{}: {}", title, fmt::join(combined_.experiments, ", "));
    return figure;
  }

  // The largest that is drawn of it.
  double AddBar(const ResourceChart& resource, size_t index, Figure* figure) const {
    const ResourceName& name = names_[index];
    const std::optional<Number> mean = MeasureOf(combined_, name.trials, resource.measure);
    if (!mean) return 0;
    const size_t from = figure->rows.size();
    AddMean(resource.title, labels_[index], IdsOf(combined_, name.trials), *mean, 4,
            SinglesOf(combined_, name.trials, resource.measure), {{palette_.field(), name.series}}, figure);
    const double peak = PeakOf(combined_, name.trials, resource.measure).value_or(mean->value);
    if (from < figure->rows.size()) figure->rows[from]["max"] = FiniteOrNull(peak);
    return peak;
  }

  void AddTrial(const TrialData& trial, size_t index, Figure* figure) const {
    if (!trial.usable()) return;
    const TrialFolder folder = ResultsFolder{trial.out}.trial(trial.trial_id);
    const auto samples = ReadResourceSamples(folder.attempt(folder.LastAttempt()).resources());
    for (const ResourceChart& resource : kResourceCharts) {
      const auto column = samples.find(resource_measure::ColumnOf(resource.measure));
      if (column == samples.end() || column->second.size() < 2) continue;
      std::vector<double> values;
      for (const ResourceSample& sample : column->second) values.push_back(sample.value);
      for (const size_t i : Thinned(values)) {
        nlohmann::json row = RowOf(resource.title, "mean", labels_[index], trial.trial_id);
        row.update({{"x", column->second[i].time_s},
                    {"value", column->second[i].value},
                    {"n", fmt::format("seed {}", trial.seed)},
                    {"interval", ""},
                    {palette_.field(), names_[index].series}});
        if (!names_[index].dash.empty()) row[dashes_.field()] = names_[index].dash;
        figure->rows.push_back(std::move(row));
      }
    }
  }

  const Combined& combined_;
  const std::vector<ResourceName>& names_;
  const Palette &palette_, &dashes_;
  const std::string& thing_;
  std::vector<std::string> labels_;
};

}  // namespace

std::vector<Figure> ResourceFigures(const Combined& combined, const std::vector<ResourceName>& names, const Palette& palette,
                                    const Palette& dashes, const std::string& thing) {
  const Resources resources(combined, names, palette, dashes, thing);
  std::vector<Figure> figures = {resources.Bars(), resources.Curves()};
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.empty(); });
  return figures;
}

}  // namespace backplane
