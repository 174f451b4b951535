#include "kinds/phases_figure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "figures/panels.hpp"
#include "kinds/figure_rows.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

constexpr size_t kMostPanels = 6, kLeastStretches = 3;

// From the lowest to the highest. Phases of a group have shades of its colour (time_section.cpp), idle is grey.
struct PhaseLook {
  Phase phase;
  const char *words, *colour;
};
constexpr std::array<PhaseLook, kPhaseCount> kPhaseLooks = {{{Phase::kEnvStep, "environment step", "#0072B2"},
                                                             {Phase::kEnvReset, "environment reset", "#003C5E"},
                                                             {Phase::kInfer, "action selection", "#56B4E9"},
                                                             {Phase::kBatchBuild, "batch building", "#6B2F00"},
                                                             {Phase::kUpdateForward, "update forward", "#A34700"},
                                                             {Phase::kUpdateBackward, "update backward", "#D55E00"},
                                                             {Phase::kUpdateOptim, "update optimiser", "#F5A673"},
                                                             {Phase::kObsTransfer, "observation transfer", "#8E4E72"},
                                                             {Phase::kActTransfer, "action transfer", "#CC79A7"},
                                                             {Phase::kEval, "evaluation", "#E69F00"},
                                                             {Phase::kSync, "weight sync", "#009E73"},
                                                             {Phase::kCheckpoint, "checkpoint", "#66C5AB"},
                                                             {Phase::kMonitor, "recording", "#00543D"},
                                                             {Phase::kIdle, "idle", "#D0D0D0"}}};

const PhaseLook& LookOf(Phase phase) {
  return *std::find_if(kPhaseLooks.begin(), kPhaseLooks.end(), [&](const PhaseLook& look) { return look.phase == phase; });
}

double Rounded(double value, double parts) { return std::round(value * parts) / parts; }

void AddStretches(const std::string& panel, const std::string& trial, const PhaseBands& bands, const std::vector<Phase>& phases,
                  Figure* figure) {
  const auto add = [&](const char* kind, const PhaseBands::Stretch& stretch, double x) {
    nlohmann::json row = RowOf(panel, kind, panel, trial);
    row["x"] = Rounded(x, 1e4);
    if (x < stretch.end_s) row["x2"] = Rounded(stretch.end_s, 1e4);
    for (const Phase phase : phases) row[LookOf(phase).words] = Rounded(100 * stretch.ShareOf(phase), 10);
    figure->rows.push_back(std::move(row));
  };
  for (const PhaseBands::Stretch& stretch : bands.stretches()) add("stretch", stretch, stretch.begin_s);
  add("end", bands.stretches().back(), bands.stretches().back().end_s);
}

struct Drawn {
  std::string title, trial_id;
  PhaseBands bands;
};

// The first finished trial of each row, up to the maximum of panels.
std::vector<Drawn> TrialsToDraw(const Combined& combined, const std::vector<TimedRow>& rows) {
  std::vector<std::string> names;
  for (const TimedRow& row : rows) names.push_back(row.name);
  names = FigureLabels(names);
  std::vector<Drawn> drawn;
  for (size_t i = 0; i < rows.size() && drawn.size() < kMostPanels; ++i) {
    for (const size_t index : rows[i].trials) {
      const TrialData& trial = combined.trials[index].data;
      if (!trial.usable()) continue;
      PhaseBands bands = ReadPhaseBands(ResultsFolder{trial.out}.trial(trial.trial_id), trial.cut_at);
      if (bands.stretches().size() >= kLeastStretches) drawn.push_back({names[i], trial.trial_id, std::move(bands)});
      break;
    }
  }
  return drawn;
}

}  // namespace

std::vector<Phase> PhasesInOrder(const PhaseSet& seen) {
  std::vector<Phase> phases;
  for (const PhaseLook& look : kPhaseLooks)
    if (seen[static_cast<size_t>(look.phase)]) phases.push_back(look.phase);
  return phases;
}

std::vector<std::string> PhaseWords(const std::vector<Phase>& phases) {
  std::vector<std::string> words;
  for (const Phase phase : phases) words.emplace_back(LookOf(phase).words);
  return words;
}

nlohmann::json PhasesPanel(const std::string& title, const std::vector<Phase>& phases, const std::string& thing) {
  std::vector<std::string> colours;
  for (const Phase phase : phases) colours.emplace_back(LookOf(phase).colour);
  const PanelText text{title, "seconds since the trial's start", "% of the time of all threads", thing};
  return View(StackPanel{text}, Palette("phase", PhaseWords(phases), colours));
}

std::optional<Figure> PhasesFigure(const Combined& combined, const std::vector<TimedRow>& rows) {
  const std::vector<Drawn> drawn = TrialsToDraw(combined, rows);
  if (drawn.empty()) return std::nullopt;
  PhaseSet seen = {};
  for (const Drawn& one : drawn) {
    const PhaseSet here = one.bands.Seen();
    for (size_t p = 0; p < kPhaseCount; ++p) seen[p] |= here[p];
  }
  const std::vector<Phase> phases = PhasesInOrder(seen);
  Figure figure;
  figure.name = kPhasesFigure;
  figure.title = fmt::format("Phases over time: {}", fmt::join(combined.experiments, ", "));
  figure.alt = "Share of the time of all threads in each phase over a trial";
  figure.alt += drawn.size() < rows.size() ? fmt::format(", of {} of {}.", drawn.size(), rows.size()) : ".";
  for (const Drawn& one : drawn) {
    AddStretches(one.title, one.trial_id, one.bands, phases, &figure);
    figure.panels.push_back(PhasesPanel(one.title, phases, "setting"));
  }
  figure.columns = std::min<size_t>(drawn.size(), 2);
  return figure;
}

}  // namespace backplane
