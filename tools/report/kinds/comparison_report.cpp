// The report that sets points side by side; the experiment file selects them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "kinds/change.hpp"
#include "kinds/comparison_choice.hpp"
#include "kinds/comparison_figures.hpp"
#include "kinds/comparison_headline.hpp"
#include "kinds/comparison_tables.hpp"
#include "kinds/design.hpp"
#include "kinds/next_steps.hpp"
#include "kinds/phases_figure.hpp"
#include "kinds/report_builders.hpp"
#include "kinds/resource_figures.hpp"
#include "kinds/sections.hpp"
#include "kinds/time_section.hpp"
#include "results/reduction.hpp"
#include "rules/try_command.hpp"
#include "text/format_number.hpp"
#include "yaml/recommended_file.hpp"

namespace backplane {
namespace {

using nlohmann::json;

class ComparisonBuilder {
 public:
  ComparisonBuilder(const std::vector<ResultSet>& sets, const ReportContext& context)
      : sets_(sets),
        context_(context),
        spec_(Spec(context.report)),
        combined_(WithReductions(Combine(sets), sets, spec_)),
        points_(PointsOf(combined_)) {
    // Drop default columns that these trials did not measure.
    if (context.report.columns.is_null()) std::erase_if(spec_.columns, [this](const MeasureSpec& m) { return !IsMeasured(m); });
    if (context.report.figures.is_null()) spec_.figures = DefaultFigures(combined_);
    for (MeasureSpec& column : spec_.columns) AddWhatPluginsSaid(&column);
    for (FigureSpec& figure : spec_.figures) {
      if (figure.x) AddWhatPluginsSaid(&*figure.x);
      for (MeasureSpec& y : figure.y) AddWhatPluginsSaid(&y);
    }
    for (SelectSpec& select : spec_.selections) AddWhatPluginsSaid(&select.metric);
    question_ = QuestionOf(sets, combined_, context.report, spec_);
    if (question_.measure) AddWhatPluginsSaid(&*question_.measure);
    if (context.report.columns.is_null()) AddAnswer();
    choices_ = ChooseInGroups(combined_, points_, spec_.selections, context.report.baseline);
    for (MeasureSpec& column : spec_.columns) column.in_ratios = ShowsRatios(combined_, points_, choices_, column);
    if (question_.measure) question_.measure->in_ratios = ShowsRatios(combined_, points_, choices_, *question_.measure);
  }

  const Question& question() const { return question_; }
  std::string Sentence() const { return ComparisonHeadline({combined_, points_, spec_, spec_.columns, choices_, question_}); }

  Document Build() {
    Document document = StartReport("comparison", "Comparison", combined_, context_);
    std::vector<MeasureSpec> columns = spec_.columns;
    std::erase_if(columns, [this](const MeasureSpec& column) { return IsLeftOut(column, combined_); });
    const ComparisonParts parts{combined_, points_, spec_, columns, choices_, question_};
    Table results = ComparisonResults(parts);
    ComparisonFigures made = MakeComparisonFigures(parts, results);
    document.figures = std::move(made.figures);
    results.notes.insert(results.notes.end(), made.left_out.begin(), made.left_out.end());
    std::vector<TimedRow> rows;
    for (const ComparedPoint& point : points_) rows.push_back({point.name, point.trials});
    Diagnosis diagnosis = Diagnose(combined_, nullptr, context_.option_help);
    AddTryCommands(sets_, context_.program, &diagnosis);
    MarkVoidRows(diagnosis, &results);
    document.is_void = parts.question.IsTimed() && !diagnosis.why_void.empty();
    document.verdict = Verdict(parts, diagnosis, document.is_void);
    Section section{"results", "Results", {}}, against{"against", "Against the baseline", {}},
        more{"figures", "Further figures", {}}, resources{"resources", "Resources", {}};
    for (const Figure& figure : document.figures) {
      const bool of_resources = figure.name == kResourceBars || figure.name == kResourceCurves;
      Section& place = of_resources ? resources : section.blocks.empty() ? section : more;
      place.blocks.emplace_back(FigureUse{figure.name});
    }
    section.blocks.emplace_back(results);
    for (auto* changes : {ComparisonImprovements, ComparisonChanges}) {
      if (std::optional<Table> table = changes(parts)) against.blocks.emplace_back(std::move(*table));
    }
    for (auto* make : {TimeFigure, PhasesFigure})
      if (std::optional<Figure> time = make(combined_, rows)) document.figures.push_back(std::move(*time));
    document.sections = {section, FindingsSection(diagnosis)};
    for (const Section& further : {against, more, resources})
      if (!further.blocks.empty()) document.sections.push_back(further);
    document.sections.push_back(TimeSection(combined_, rows, document.figures));
    if (points_.size() > 1) document.sections.push_back(NotTriedSection(combined_, Best(parts)));
    if (std::optional<Table> reasons = ReasonsTable(sets_, combined_))
      document.sections.push_back({"design", "Design", {std::move(*reasons)}, true});
    EndReport(sets_, combined_, context_, {.limits = Limits(), .further = ShrinksSection(combined_)}, &document);
    AddSelected(parts, diagnosis, &document);
    return document;
  }

 private:
  static Combined WithReductions(Combined combined, const std::vector<ResultSet>& sets, const ComparisonSpec& spec) {
    std::vector<std::string> names;
    if (const auto measure = NamedMeasure(sets, spec)) names = measure->expression.paths();
    for (const NamedAt& one : NamesIn(spec)) names.push_back(one.name);
    AddReductions(names, &combined);
    return combined;
  }

  // The measure that decides is a column, unless the file chooses the columns.
  void AddAnswer() {
    const auto is_it = [&](const MeasureSpec& column) {
      return column.expression.text() == question_.measure->expression.text();
    };
    if (!question_.measure || !IsMeasured(*question_.measure) || std::ranges::any_of(spec_.columns, is_it)) return;
    spec_.columns.insert(spec_.columns.begin(), *question_.measure);
  }

  // Adds unit and direction of a measure by name. The file comes first, then the plugins.
  void AddWhatPluginsSaid(MeasureSpec* measure) const {
    const std::string& name = measure->expression.text();
    if (measure->direction == 0) measure->direction = DirectionInFile(name, context_.report, sets_);
    const auto reduced = measure->IsOneName() ? SplitReducedName(name) : std::nullopt;
    for (const CombinedTrial& trial : combined_.trials) {
      const auto said = trial.data.registered.find(reduced ? reduced->curve : name);
      if (said == trial.data.registered.end()) continue;
      if (measure->unit.empty()) measure->unit = reduced ? UnitAfter(reduced->how, said->second.unit) : said->second.unit;
      if (measure->direction == 0) measure->direction = said->second.direction;
      return;
    }
  }

  // Also if no value was finite: its cells show that.
  bool IsMeasured(const MeasureSpec& measure) const {
    const Scoring scoring(combined_, points_);
    for (size_t i = 0; i < points_.size(); ++i)
      if (MeasureOf(combined_, points_[i], measure.expression) || scoring.IsNeverFinite(i, measure)) return true;
    return false;
  }

  static ComparisonSpec Spec(const ReportSection& report) {
    std::vector<ReportError> errors;
    ComparisonSpec spec = ReadComparisonSpec(report, &errors);
    std::string text;
    for (const ReportError& error : errors) text += (text.empty() ? "" : "\n") + error.message;
    if (!errors.empty()) throw std::runtime_error(text);
    return spec;
  }

  // Within each group of machines.
  std::string Selected(const ComparisonParts& parts, size_t selection, size_t group) const {
    const SelectSpec& select = spec_.selections[selection];
    const std::optional<size_t> chosen = choices_[group].chosen[selection];
    const std::string left_out = ExcludedText(parts, choices_[group].excluded[selection]);
    const std::string not_eligible = left_out.empty() ? "" : fmt::format(" Not eligible: {}.", left_out);
    if (!chosen) {
      return fmt::format("No point was selected{}: no point with complete runs has {}{}.{}",
                         choices_.size() > 1 ? " of " + combined_.groups[group].label : "", select.metric.title,
                         select.where ? " and fulfils " + select.where->text() : "", not_eligible);
    }
    const Number value = *parts.scoring.Value(*chosen, select.metric);
    return fmt::format("Selected: {}, with the {} {}: {}{}.{}{}", points_[*chosen].name,
                       select.maximize() ? "highest" : "lowest", select.metric.title, FormatNumber(value, select.metric.digits),
                       select.metric.unit.empty() ? "" : " " + select.metric.unit, Doubt(parts, *chosen, select, value),
                       not_eligible);
  }

  std::vector<std::string> Verdict(const ComparisonParts& parts, const Diagnosis& diagnosis, bool is_void) const {
    std::vector<std::string> sentences = {AsMeasured(is_void ? diagnosis.why_void : "", ComparisonHeadline(parts))};
    if (is_void) sentences.push_back(HowToTrust(sets_, context_.program));
    for (size_t selection = 0; selection < spec_.selections.size(); ++selection)
      for (size_t group = 0; group < choices_.size(); ++group) sentences.push_back(Selected(parts, selection, group));
    const auto usable =
        std::count_if(points_.begin(), points_.end(), [&](const ComparedPoint& point) { return IsUsable(combined_, point); });
    sentences.push_back(fmt::format("{} of {} points have results.", usable, points_.size()));
    for (const GroupChoice& choice : choices_) {
      if (!choice.baseline_note.empty()) sentences.push_back(choice.baseline_note);
    }
    if (diagnosis.Lead() && !is_void) sentences.push_back("First finding: " + diagnosis.Lead()->title + ".");
    if (!is_void && !diagnosis.why_void.empty()) sentences.push_back("Times: " + diagnosis.why_void + ".");
    return sentences;
  }

  // Uses the first group that has one.
  std::optional<BestConfiguration> Best(const ComparisonParts& parts) const {
    const bool has_best = question_.measure && question_.has_best && question_.measure->direction != 0;
    if (!has_best && spec_.selections.empty()) return std::nullopt;
    for (size_t group = 0; question_.measure && group < choices_.size(); ++group) {
      const std::optional<size_t> best = BestOfGroup(parts, group);
      if (best) return BestConfiguration{question_.measure->title, points_[*best].trials};
    }
    return std::nullopt;
  }

  // Lists equal and possibly better points of the group, which make the choice less clear.
  std::string Doubt(const ComparisonParts& parts, size_t chosen, const SelectSpec& select, const Number& best) const {
    std::vector<std::string> equal;
    size_t rivals = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (i == chosen || points_[i].group != points_[chosen].group) continue;
      if (!parts.scoring.Ineligible(i, select.metric).empty()) continue;
      const auto value = parts.scoring.Value(i, select.metric);
      if (!value) continue;
      ++rivals;
      if (FormatNumber(*value, select.metric.digits) == FormatNumber(best, select.metric.digits))
        equal.push_back(points_[i].name);
    }
    if (!equal.empty())
      return fmt::format(" {} {} the same value.", fmt::join(equal, ", "), equal.size() == 1 ? "has" : "have");
    if (rivals == 0) return "";
    std::string doubt = RivalsOf(parts, chosen, select.metric);
    if (doubt.empty()) return "";
    doubt.erase(0, 2);
    doubt[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(doubt[0])));
    return " " + doubt + ".";
  }

  // "selected.yaml"; with several groups each has its own: "selected_2.yaml".
  std::string SelectedFile(size_t selection, size_t group) const {
    const std::string& wanted = spec_.selections[selection].write;
    if (choices_.size() == 1) return wanted;
    return fmt::format("{}_{}.yaml", wanted.substr(0, wanted.size() - std::string_view(".yaml").size()), group + 1);
  }

  void AddSelected(const ComparisonParts& parts, const Diagnosis& diagnosis, Document* document) const {
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
                              Selected(parts, selection, group), diagnosis.why_void})});
      }
    }
  }

  std::vector<std::string> Limits() const {
    std::vector<std::string> limits = LimitsOf(combined_);
    limits.insert(limits.end(), spec_.notes.begin(), spec_.notes.end());
    if (!context_.report.timing)
      limits.push_back("Trials may have run at the same time (report.timing is not set), so do not compare their times.");
    return limits;
  }

  const std::vector<ResultSet>& sets_;
  const ReportContext& context_;
  ComparisonSpec spec_;
  const Combined combined_;
  const std::vector<ComparedPoint> points_;
  Question question_;
  std::vector<GroupChoice> choices_;  // of each group
};

}  // namespace

Document ComparisonReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  return ComparisonBuilder(sets, context).Build();
}

Question AskedQuestion(const std::vector<ResultSet>& sets, const ReportContext& context) {
  return ComparisonBuilder(sets, context).question();
}

std::string ComparisonSentence(const std::vector<ResultSet>& sets, const ReportContext& context) {
  return ComparisonBuilder(sets, context).Sentence();
}

}  // namespace backplane
