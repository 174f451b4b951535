#include "kinds/time_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "figures/panels.hpp"
#include "kinds/figure_rows.hpp"
#include "kinds/phases_figure.hpp"
#include "record/phase_groups.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

constexpr double kShownPct = 0.05;

// Parts of a bar in order. All reports use the same colours; grey marks time without work.
constexpr std::pair<const char*, const char*> kGroupColours[] = {
    {"environment", "#0072B2"}, {"action_selection", "#56B4E9"},   {"update", "#D55E00"},
    {"transfer", "#CC79A7"},    {"evaluation", "#E69F00"},         {"other", "#009E73"},
    {"unnamed", "#333333"},     {"waiting_for_a_core", "#999999"}, {"idle", "#D0D0D0"}};

// All phase groups, then waiting and unnamed time. Waiting has the name of its measure.
std::vector<std::string> Groups() {
  std::vector<std::string> groups(kPhaseGroupNames.begin(), kPhaseGroupNames.end());
  groups.emplace_back("waiting_for_a_core");
  groups.emplace_back("unnamed");
  return groups;
}

// "action selection"
std::string Words(std::string group) {
  std::replace(group.begin(), group.end(), '_', ' ');
  return group;
}

class Times {
 public:
  Times(const Combined& combined, const std::vector<TimedRow>& rows) : combined_(combined), rows_(rows) {}

  std::optional<Number> Measure(const TimedRow& row, const std::string& name) const {
    std::vector<Number> numbers;
    for (const size_t trial : row.trials) {
      const TrialData& data = combined_.trials[trial].data;
      const Number* number = data.usable() ? data.Find(name) : nullptr;
      if (number != nullptr) numbers.push_back(*number);
    }
    return OverSeeds(numbers);
  }
  Cell CellOf(const TimedRow& row, const std::string& name) const {
    const std::optional<Number> number = Measure(row, name);
    return number ? Cell{*number} : Cell{};
  }
  bool Any(const std::string& name) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const TimedRow& row) { return Measure(row, name).has_value(); });
  }

  bool AnyShare() const {
    const std::vector<std::string> groups = Groups();
    return std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return Any("time/" + group + "_pct"); });
  }

  Table Shares() const {
    Table table = Empty("time", "Share of the time of all threads, percent");
    AddColumns("_pct", "%", "time in these phases, without nested ones, divided by (threads x time of the trial)", true,
               &table);
    AddColumns("_s", "s", "of all threads together", false, &table);
    table.notes.push_back(
        "environment: env_step, env_reset; action selection: infer; update: update_*, batch_build; transfer: obs_transfer, "
        "act_transfer; evaluation: eval; other: sync, checkpoint, monitor. Waiting for a core is the time that threads were "
        "ready to run while other threads had the cores; no other group contains it. Unnamed is the main thread's time "
        "outside all phases.");
    if (const std::string beyond = TooMuchUnnamed(); !beyond.empty()) table.notes.push_back(beyond);
    return table;
  }

  Table CpuUse() const {
    Table table = Empty("time_cpu", "Use of processors in each group of phases, percent");
    AddColumns("_cpu_pct", "%", "share of the threads' time in this group that they spent on a processor", true, &table);
    table.notes.push_back(
        "100: the threads of the group computed all the time. Less: they waited for a device, a disk or another thread. Every "
        "span of 1 ms "
        "or more is measured, and one shorter span per ms. If other programs ran, a short span that they delayed may count too "
        "much.");
    return table;
  }

  Table GpuUse() const {
    Table table = Empty("time_gpu", "Use of the GPU in each group of phases, percent");
    AddColumns("_gpu_pct", "%", "GPU utilisation while the main thread was in this group", true, &table);
    table.notes.push_back(
        "Each sample is divided among the groups by their time since the last sample. If groups alternate faster than the "
        "samples (about one per second), their values are all close to the mean.");
    return table;
  }

  Table Phases() const {
    Table table = Empty("phases", "Single phases: share of the time of all threads, percent");
    std::vector<std::string> shown;
    for (const std::string_view phase : kPhaseNames) {
      const std::string name(phase), measure = "phase/" + name;
      double largest = 0;
      for (const TimedRow& row : rows_) {
        if (const auto share = Measure(row, measure)) largest = std::max(largest, share->value);
      }
      if (largest < kShownPct) continue;
      shown.push_back(measure);
      table.columns.push_back({name, name, "%",
                               "time in this phase, without nested ones, divided by (threads x time of the trial)", 0, 3,
                               largest >= 1});
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      for (const std::string& measure : shown) table.rows[i].push_back(CellOf(rows_[i], measure));
    }
    table.notes.push_back(
        fmt::format("All phases and idle sum to 100 %; phases below {} % in every row are left out.", kShownPct));
    return table;
  }

  Paragraph Trace() const {
    std::vector<std::string> files;
    for (const CombinedTrial& trial : combined_.trials) {
      const std::filesystem::path folder = ResultsFolder{trial.data.out}.trial(trial.data.trial_id).folder;
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::filesystem::path file = entry.path() / "trace.json";
        if (std::filesystem::exists(file, error)) files.push_back(file.string());
      }
    }
    if (files.empty())
      return {
          "These trials recorded no single spans; to record them, add a monitor that writes trace.json "
          "(docs/experiment-file.md, Monitors)."};
    std::sort(files.begin(), files.end());
    const size_t more = files.size() > 4 ? files.size() - 4 : 0;
    files.resize(files.size() - more);
    return {fmt::format("For single spans, open at ui.perfetto.dev: {}{}.", fmt::join(files, ", "),
                        more > 0 ? fmt::format(" and {} more", more) : "")};
  }

 private:
  Table Empty(const char* id, const char* title) const {
    Table table{id, title, {{"setting", "setting", "", ""}}, {}, {}, {}};
    for (const TimedRow& row : rows_) table.rows.push_back({row.name});
    return table;
  }

  // Those that were measured somewhere.
  void AddColumns(const char* what, const char* unit, const char* doc, bool in_text, Table* table) const {
    for (const std::string& group : Groups()) {
      const std::string measure = "time/" + group + what;
      if (!Any(measure)) continue;
      const std::string title = Words(group) + (in_text ? "" : std::string(", ") + unit);
      table->columns.push_back({group + what, title, unit, doc, 0, 3, in_text});
      for (size_t i = 0; i < rows_.size(); ++i) table->rows[i].push_back(CellOf(rows_[i], measure));
    }
  }

  // Uses only the main thread's time: no other thread can be outside a phase, and a share of all threads hides the gap.
  std::string TooMuchUnnamed() const {
    std::vector<std::string> names;
    for (const TimedRow& row : rows_) {
      const std::optional<Number> unnamed = Measure(row, "time/unnamed_control_pct");
      if (unnamed && unnamed->value > kUnnamedPct) names.push_back(fmt::format("{} ({:.1f} %)", row.name, unnamed->value));
    }
    if (names.empty()) return "";
    return fmt::format(
        "More than {:.0f} % of the main thread's time is outside all phases, which makes the shares of these rows less "
        "certain: {}.",
        kUnnamedPct, fmt::join(names, ", "));
  }

  const Combined& combined_;
  const std::vector<TimedRow>& rows_;
};

}  // namespace

Section TimeSection(const Combined& combined, const std::vector<TimedRow>& rows, const std::vector<Figure>& figures) {
  const Times times(combined, rows);
  Section section{"phases", "Where the time goes", {}};
  if (times.AnyShare()) {
    section.blocks.emplace_back(FigureUse{kTimeFigure});
    section.blocks.emplace_back(times.Shares());
  } else {
    section.blocks.emplace_back(Paragraph{"No trial recorded the shares of the groups of phases."});
  }
  if (times.Any("time/update_cpu_pct") || times.Any("time/environment_cpu_pct")) section.blocks.emplace_back(times.CpuUse());
  const auto groups = Groups();
  if (std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return times.Any("time/" + group + "_gpu_pct"); })) {
    section.blocks.emplace_back(times.GpuUse());
  } else {
    section.blocks.emplace_back(Paragraph{"Use of the GPU in each group of phases: no GPU data."});
  }
  if (std::any_of(figures.begin(), figures.end(), [](const Figure& figure) { return figure.name == kPhasesFigure; }))
    section.blocks.emplace_back(FigureUse{kPhasesFigure});
  section.blocks.emplace_back(times.Phases());
  section.blocks.emplace_back(times.Trace());
  return section;
}

std::optional<Figure> TimeFigure(const Combined& combined, const std::vector<TimedRow>& rows) {
  const Times times(combined, rows);
  if (!times.AnyShare()) return std::nullopt;
  Figure figure;
  figure.name = kTimeFigure;
  figure.title = fmt::format("Where the time goes: {}", fmt::join(combined.experiments, ", "));
  figure.alt = "Share of the time of all threads in each group of phases; every row is a bar of 100 %.";
  constexpr const char* kPanel = "Share of the time of all threads";
  std::vector<std::string> names, parts, colours;
  for (const TimedRow& row : rows) names.push_back(row.name);
  names = FigureLabels(names);
  for (const auto& [group, colour] : kGroupColours) {
    double largest = 0;
    nlohmann::json of_group = nlohmann::json::array();
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::optional<Number> share = times.Measure(rows[i], "time/" + std::string(group) + "_pct");
      if (!share || !(share->value > 0)) continue;
      largest = std::max(largest, share->value);
      nlohmann::json row = RowOf(kPanel, "part", names[i], IdsOf(combined, rows[i].trials));
      PutNumber(*share, 3, &row);
      row.update({{"group", Words(group)}, {"order", parts.size()}});
      of_group.push_back(std::move(row));
    }
    if (largest < kShownPct) continue;  // too thin to see
    parts.push_back(Words(group));
    colours.emplace_back(colour);
    for (nlohmann::json& row : of_group) figure.rows.push_back(std::move(row));
  }
  const RowLayout layout = LayOutRows(names, 1);
  figure.panels.push_back(View(SharePanel{{kPanel, "% of the time of all threads", "", "setting"}, {layout.width, 24}, names},
                               Palette("group", parts, colours)));
  return figure;
}

}  // namespace backplane
