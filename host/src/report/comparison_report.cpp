#include "report/comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/comparison_tables.hpp"
#include "report/recommended_file.hpp"
#include "report/sections.hpp"

namespace backplane {
namespace {

using nlohmann::json;

class Builder {
 public:
  Builder(const std::vector<ResultSet>& sets, const ReportContext& context)
      : sets_(sets), context_(context), combined_(Combine(sets)), points_(PointsOf(combined_)), spec_(Spec(context.report)) {
    baseline_ = FindBaseline();
    chosen_ = Choose();
  }

  Document Build() {
    Document document;
    document.kind = "comparison";
    document.name = context_.report.name.value_or(document.kind);
    document.made_at = context_.made_at;
    document.title = fmt::format("Comparison: {}", fmt::join(combined_.experiments, ", "));
    document.main_table = "results";
    const ComparisonParts parts{combined_, points_, spec_, baseline_, chosen_};
    const Table results = ComparisonResults(parts);
    document.figures = ComparisonFigures(combined_, points_, spec_, results);
    const Diagnosis diagnosis = Diagnose(combined_, nullptr, context_.option_help);
    document.verdict = Verdict(diagnosis);
    AddSelected(&document);
    Section section{"results", "Results", {}};
    for (const Figure& figure : document.figures) section.blocks.emplace_back(FigureUse{figure.name});
    section.blocks.emplace_back(results);
    if (baseline_ && points_.size() > 1) section.blocks.emplace_back(ComparisonChanges(parts));
    document.sections = {FindingsSection(diagnosis), section};
    if (std::optional<Section> failures = FailuresSection(combined_, context_)) document.sections.push_back(*failures);
    document.sections.push_back(EnvironmentSection(combined_));
    document.sections.push_back({"limits", "Limits", {BulletList{Limits()}}});
    document.sections.push_back(ReproduceSection(combined_, context_));
    document.sections.push_back(ConfigurationSection(sets_));
    return document;
  }

 private:
  static ComparisonSpec Spec(const ReportConfig& report) {
    std::vector<SpecError> errors;
    ComparisonSpec spec = ReadComparisonSpec(report, &errors);
    std::string text;
    for (const SpecError& error : errors) text += (text.empty() ? "" : "\n") + error.path + ": " + error.why;
    if (!errors.empty()) throw std::runtime_error(text);
    return spec;
  }

  std::optional<size_t> FindBaseline() const {
    const json& wanted = context_.report.baseline;
    if (wanted.is_null()) return std::nullopt;
    for (size_t i = 0; i < points_.size(); ++i) {
      const TrialData& trial = combined_.trials[points_[i].trials.front()].data;
      if (wanted.is_string() ? points_[i].name == wanted.get<std::string>() : Matches(trial, wanted)) return i;
    }
    return std::nullopt;
  }
  static bool Matches(const TrialData& trial, const json& wanted) {
    if (!wanted.is_object()) return false;
    return std::all_of(wanted.items().begin(), wanted.items().end(),
                       [&](const auto& item) { return trial.At(item.key()) == item.value(); });
  }

  bool Usable(const ComparedPoint& point) const {
    return std::any_of(point.trials.begin(), point.trials.end(), [&](size_t t) { return combined_.trials[t].data.usable(); });
  }
  bool Admitted(const ComparedPoint& point) const {
    if (!spec_.select->where) return true;
    return std::all_of(point.trials.begin(), point.trials.end(), [&](size_t t) {
      const TrialData& trial = combined_.trials[t].data;
      if (!trial.usable()) return true;
      const std::optional<json> value = EvaluateIn(trial, *spec_.select->where);
      return value && value->is_boolean() && value->get<bool>();
    });
  }

  std::optional<size_t> Choose() const {
    if (!spec_.select) return std::nullopt;
    std::optional<size_t> best;
    double best_value = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (!Usable(points_[i]) || !Admitted(points_[i])) continue;
      const auto value = MeasureOf(combined_, points_[i], spec_.select->metric.expression);
      if (!value || !std::isfinite(value->value)) continue;
      if (!best || (spec_.select->maximize ? value->value > best_value : value->value < best_value)) {
        best = i;
        best_value = value->value;
      }
    }
    return best;
  }

  std::vector<std::string> Verdict(const Diagnosis& diagnosis) const {
    std::vector<std::string> sentences;
    if (spec_.select) {
      const MeasureSpec& metric = spec_.select->metric;
      if (chosen_) {
        const Number value = *MeasureOf(combined_, points_[*chosen_], metric.expression);
        sentences.push_back(fmt::format(
            "Selected: {}, with the {} {}: {}{}.{}", points_[*chosen_].name, spec_.select->maximize ? "highest" : "lowest",
            metric.title, FormatNumber(value, metric.digits), metric.unit.empty() ? "" : " " + metric.unit, Overlap(value)));
      } else {
        sentences.push_back(fmt::format("Nothing was selected: no usable point has {}{}.", metric.title,
                                        spec_.select->where ? " and fulfils " + spec_.select->where->text() : ""));
      }
    }
    size_t usable = 0;
    for (const ComparedPoint& point : points_) usable += Usable(point) ? 1 : 0;
    sentences.push_back(fmt::format("{} of {} points have results.", usable, points_.size()));
    if (!context_.report.baseline.is_null() && !baseline_)
      sentences.push_back(fmt::format("The baseline {} is not among the points.", context_.report.baseline.dump()));
    if (!diagnosis.findings.empty()) sentences.push_back("First finding: " + diagnosis.findings.front().title + ".");
    return sentences;
  }

  // Of the points whose interval overlaps with that of the selected one.
  std::string Overlap(const Number& best) const {
    if (!best.low || !best.high) return "";
    std::vector<std::string> names;
    for (size_t i = 0; i < points_.size(); ++i) {
      const auto value = i == *chosen_ ? std::nullopt : MeasureOf(combined_, points_[i], spec_.select->metric.expression);
      if (value && value->low && value->high && *value->low <= *best.high && *value->high >= *best.low)
        names.push_back(points_[i].name);
    }
    return names.empty() ? "" : fmt::format(" Its interval overlaps with that of {}.", fmt::join(names, ", "));
  }

  void AddSelected(Document* document) const {
    if (!chosen_) return;
    for (size_t t : points_[*chosen_].trials) {
      const TrialData& trial = combined_.trials[t].data;
      if (!trial.usable()) continue;
      document->attachments.push_back(
          {spec_.select->write,
           RecommendedFile(trial.config, "_selected",
                           {fmt::format("selected from {}: {}", fmt::join(combined_.experiments, ", "), points_[*chosen_].name),
                            document->verdict.front()})});
      return;
    }
  }

  std::vector<std::string> Limits() const {
    std::vector<std::string> limits = LimitsOf(combined_);
    if (!context_.report.timing)
      limits.push_back("Trials may have run side by side (report.timing is not set): their times are no comparison of speed.");
    return limits;
  }

  const std::vector<ResultSet>& sets_;
  const ReportContext& context_;
  const Combined combined_;
  const std::vector<ComparedPoint> points_;
  const ComparisonSpec spec_;
  std::optional<size_t> baseline_, chosen_;
};

}  // namespace

Document ComparisonReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  return Builder(sets, context).Build();
}

}  // namespace backplane
