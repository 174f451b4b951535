#include "report/comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "analysis/reduction.hpp"
#include "report/comparison_choice.hpp"
#include "report/comparison_tables.hpp"
#include "report/recommended_file.hpp"
#include "report/sections.hpp"
#include "report/time_section.hpp"

namespace backplane {
namespace {

using nlohmann::json;

class Builder {
 public:
  Builder(const std::vector<ResultSet>& sets, const ReportContext& context)
      : sets_(sets),
        context_(context),
        spec_(Spec(context.report)),
        combined_(WithReductions(Combine(sets), spec_)),
        points_(PointsOf(combined_)) {
    // Nobody asked for a default that these trials do not have.
    if (context.report.columns.is_null()) std::erase_if(spec_.columns, [this](const MeasureSpec& m) { return !IsMeasured(m); });
    for (MeasureSpec& column : spec_.columns) AddWhatPluginsSaid(&column);
    for (FigureSpec& figure : spec_.figures) {
      if (figure.x) AddWhatPluginsSaid(&*figure.x);
      for (MeasureSpec& y : figure.y) AddWhatPluginsSaid(&y);
    }
    for (SelectSpec& select : spec_.selections) AddWhatPluginsSaid(&select.metric);
    choices_ = ChooseInGroups(combined_, points_, spec_.selections, context.report.baseline);
  }

  Document Build() {
    Document document;
    document.kind = "comparison";
    document.name = context_.report.name.value_or(document.kind);
    document.made_at = context_.made_at;
    document.title = fmt::format("Comparison: {}", fmt::join(combined_.experiments, ", "));
    document.main_table = "results";
    std::vector<MeasureSpec> columns = spec_.columns;
    std::erase_if(columns, [this](const MeasureSpec& column) { return IsLeftOut(column, combined_); });
    const ComparisonParts parts{combined_, points_, spec_, columns, choices_};
    const Table results = ComparisonResults(parts);
    document.figures = ComparisonFigures(combined_, points_, spec_, results);
    std::vector<TimedRow> rows;
    for (const ComparedPoint& point : points_) rows.push_back({point.name, point.trials});
    const Diagnosis diagnosis = Diagnose(combined_, nullptr, context_.option_help);
    document.verdict = Verdict(diagnosis);
    AddSelected(&document);
    Section section{"results", "Results", {}};
    for (const Figure& figure : document.figures) section.blocks.emplace_back(FigureUse{figure.name});
    section.blocks.emplace_back(results);
    for (auto* changes : {ComparisonChanges, ComparisonImprovements}) {
      if (std::optional<Table> table = changes(parts)) section.blocks.emplace_back(std::move(*table));
    }
    if (std::optional<Figure> time = TimeFigure(combined_, rows)) document.figures.push_back(std::move(*time));
    document.sections = {FindingsSection(diagnosis), section, TimeSection(combined_, rows)};
    if (std::optional<Section> failures = FailuresSection(combined_, context_)) document.sections.push_back(*failures);
    if (std::optional<Section> shrinks = ShrinksSection(combined_)) document.sections.push_back(*shrinks);
    document.sections.push_back(EnvironmentSection(combined_));
    document.sections.push_back({"limits", "Limits", {BulletList{Limits()}}});
    document.sections.push_back(ReproduceSection(combined_, context_));
    document.sections.push_back(ConfigurationSection(sets_));
    return document;
  }

 private:
  static Combined WithReductions(Combined combined, const ComparisonSpec& spec) {
    AddReductions(NamesIn(spec), &combined);
    return combined;
  }

  // Unit and direction of a measure by name, where the file is silent about them.
  void AddWhatPluginsSaid(MeasureSpec* measure) const {
    const std::string& name = measure->expression.text();
    const auto reduced = measure->IsOneName() ? SplitReducedName(name) : std::nullopt;
    for (const CombinedTrial& trial : combined_.trials) {
      const auto said = trial.data.registered.find(reduced ? reduced->curve : name);
      if (said == trial.data.registered.end()) continue;
      if (measure->unit.empty()) measure->unit = reduced ? UnitAfter(reduced->how, said->second.unit) : said->second.unit;
      if (measure->direction == 0) measure->direction = said->second.direction;
      return;
    }
  }

  bool IsMeasured(const MeasureSpec& measure) const {
    return std::any_of(points_.begin(), points_.end(),
                       [&](const ComparedPoint& point) { return MeasureOf(combined_, point, measure.expression).has_value(); });
  }

  static ComparisonSpec Spec(const ReportConfig& report) {
    std::vector<SpecError> errors;
    ComparisonSpec spec = ReadComparisonSpec(report, &errors);
    std::string text;
    for (const SpecError& error : errors) text += (text.empty() ? "" : "\n") + error.path + ": " + error.why;
    if (!errors.empty()) throw std::runtime_error(text);
    return spec;
  }

  // Within each group of machines.
  std::string Selected(size_t selection, size_t group) const {
    const SelectSpec& select = spec_.selections[selection];
    const std::optional<size_t> chosen = choices_[group].chosen[selection];
    if (!chosen) {
      return fmt::format("Nothing was selected{}: no usable point has {}{}.",
                         choices_.size() > 1 ? " of " + combined_.groups[group].label : "", select.metric.title,
                         select.where ? " and fulfils " + select.where->text() : "");
    }
    const Number value = *MeasureOf(combined_, points_[*chosen], select.metric.expression);
    return fmt::format("Selected: {}, with the {} {}: {}{}.{}", points_[*chosen].name, select.maximize() ? "highest" : "lowest",
                       select.metric.title, FormatNumber(value, select.metric.digits),
                       select.metric.unit.empty() ? "" : " " + select.metric.unit, Overlap(*chosen, select, value));
  }

  std::vector<std::string> Verdict(const Diagnosis& diagnosis) const {
    std::vector<std::string> sentences;
    for (size_t selection = 0; selection < spec_.selections.size(); ++selection)
      for (size_t group = 0; group < choices_.size(); ++group) sentences.push_back(Selected(selection, group));
    const auto usable =
        std::count_if(points_.begin(), points_.end(), [&](const ComparedPoint& point) { return IsUsable(combined_, point); });
    sentences.push_back(fmt::format("{} of {} points have results.", usable, points_.size()));
    for (const GroupChoice& choice : choices_) {
      if (!choice.baseline_note.empty()) sentences.push_back(choice.baseline_note);
    }
    if (!diagnosis.findings.empty()) sentences.push_back("First finding: " + diagnosis.findings.front().title + ".");
    return sentences;
  }

  // What lets the choice look less clear than it reads: others of its group that are as good, or may be.
  std::string Overlap(size_t chosen, const SelectSpec& select, const Number& best) const {
    std::vector<std::string> equal, near;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (i == chosen || points_[i].group != points_[chosen].group) continue;
      const auto value = MeasureOf(combined_, points_[i], select.metric.expression);
      if (!value) continue;
      if (FormatNumber(*value, select.metric.digits) == FormatNumber(best, select.metric.digits)) {
        equal.push_back(points_[i].name);
      } else if (value->low && value->high && best.low && best.high && *value->low <= *best.high && *value->high >= *best.low) {
        near.push_back(points_[i].name);
      }
    }
    std::string text = equal.empty() ? ""
                                     : fmt::format(" The first of equals: {} {} it too.", fmt::join(equal, ", "),
                                                   equal.size() == 1 ? "has" : "have");
    if (!near.empty()) text += fmt::format(" Its interval overlaps with that of {}.", fmt::join(near, ", "));
    if (text.empty() && best.of.empty()) text = " It was read once: how far chance moves it is not known.";
    return text;
  }

  // "selected.yaml"; with several groups each has its own: "selected_2.yaml".
  std::string SelectedFile(size_t selection, size_t group) const {
    const std::string& wanted = spec_.selections[selection].write;
    if (choices_.size() == 1) return wanted;
    return fmt::format("{}_{}.yaml", wanted.substr(0, wanted.size() - std::string_view(".yaml").size()), group + 1);
  }

  void AddSelected(Document* document) const {
    for (size_t selection = 0; selection < spec_.selections.size(); ++selection) {
      for (size_t group = 0; group < choices_.size(); ++group) {
        const std::optional<size_t> chosen = choices_[group].chosen[selection];
        if (!chosen) continue;
        const ComparedPoint& point = points_[*chosen];
        const auto trial =
            std::find_if(point.trials.begin(), point.trials.end(), [&](size_t t) { return combined_.trials[t].data.usable(); });
        document->attachments.push_back(
            {SelectedFile(selection, group),
             RecommendedFile(combined_.trials[*trial].data.config, "_selected",
                             {fmt::format("selected from {}: {}", fmt::join(combined_.experiments, ", "), point.name),
                              Selected(selection, group)})});
      }
    }
  }

  std::vector<std::string> Limits() const {
    std::vector<std::string> limits = LimitsOf(combined_);
    limits.insert(limits.end(), spec_.notes.begin(), spec_.notes.end());
    if (!context_.report.timing)
      limits.push_back("Trials may have run side by side (report.timing is not set): their times are no comparison of speed.");
    return limits;
  }

  const std::vector<ResultSet>& sets_;
  const ReportContext& context_;
  ComparisonSpec spec_;
  const Combined combined_;
  const std::vector<ComparedPoint> points_;
  std::vector<GroupChoice> choices_;  // of each group
};

}  // namespace

Document ComparisonReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  return Builder(sets, context).Build();
}

}  // namespace backplane
