#include "report/parallel_efficiency_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/parallel_efficiency_tables.hpp"
#include "report/recommended_file.hpp"
#include "report/sections.hpp"
#include "report/setting_text.hpp"
#include "report/time_section.hpp"

namespace backplane {
namespace {

const char* const kThroughput = "throughput";
const char* const kEfficiency = "efficiency";

class Builder {
 public:
  Builder(const std::vector<ResultSet>& sets, const ReportContext& context)
      : sets_(sets),
        context_(context),
        combined_(Combine(sets)),
        analysis_(AnalyseParallelEfficiency(combined_, context.report.baseline)) {
    NamePointsBySize();
    diagnosis_ = Diagnose(combined_, &analysis_, context.option_help);
  }

  Document Build() {
    Document document;
    document.kind = "parallel_efficiency";
    document.name = context_.report.name.value_or(document.kind);
    document.made_at = context_.made_at;
    document.title = fmt::format("Parallel efficiency: {}", fmt::join(combined_.experiments, ", "));
    document.main_table = "results";
    document.figures = ParallelEfficiencyFigures(combined_, analysis_);
    std::vector<TimedRow> rows;
    for (const Setting& setting : analysis_.settings) rows.push_back({SettingText(setting, analysis_), setting.trials});
    if (std::optional<Figure> time = TimeFigure(combined_, rows)) document.figures.push_back(std::move(*time));
    document.verdict = Verdict();
    AddAttachments(&document);
    const ParallelEfficiencyTables tables(combined_, analysis_);
    document.sections.push_back(FindingsSection(diagnosis_));
    document.sections.push_back({"results", "Results", {FigureUse{"parallel_efficiency_analysis"}, tables.Results()}});
    document.sections.push_back({"recommended", "Recommended settings", {tables.Recommended()}});
    document.sections.push_back({"resources", "Resources", {FigureUse{"resource_utilization_analysis"}, tables.Resources()}});
    document.sections.push_back(TimeSection(combined_, rows));
    if (std::optional<Section> failures = FailuresSection(combined_, context_)) document.sections.push_back(*failures);
    document.sections.push_back({"design", "Design and definitions", Design()});
    document.sections.push_back(EnvironmentSection(combined_));
    document.sections.push_back({"limits", "Conclusions and limits", {BulletList{Conclusions()}}});
    document.sections.push_back(ReproduceSection(combined_, context_));
    document.sections.push_back(ConfigurationSection(sets_));
    return document;
  }

 private:
  // Here "2 x 4" says all, and the names of the points would only be longer.
  void NamePointsBySize() {
    for (const Setting& setting : analysis_.settings) {
      // Where groups differ a finding names them itself.
      const std::string name = combined_.groups.size() > 1 ? setting.name : SettingText(setting, analysis_);
      for (size_t trial : setting.trials) combined_.trials[trial].data.point = name;
    }
  }

  bool SeveralSeries() const { return analysis_.series.size() > 1; }
  const Setting* Of(const std::optional<size_t>& index) const { return index ? &analysis_.settings[*index] : nullptr; }

  static std::string Speed(const Setting& setting) {
    const Number& sps = *setting.sps;
    return FormatNumber(sps, 4) + " steps/s" + (sps.of.empty() ? "" : fmt::format(", n = {} {}", sps.n, sps.of));
  }
  static std::string Ratios(const Setting& setting) {
    if (!setting.speedup) return "no baseline to compare with";
    const std::string cores =
        setting.core_efficiency_pct ? fmt::format(", core efficiency {:.1f} %", *setting.core_efficiency_pct) : "";
    return fmt::format("speedup {:.2f}, parallel efficiency {:.1f} % ({}){}", *setting.speedup, *setting.efficiency_pct,
                       BandName(*setting.band), cores);
  }

  std::vector<std::string> Verdict() const {
    std::vector<std::string> sentences;
    for (size_t series = 0; series < analysis_.series.size(); ++series) {
      const std::string prefix = SeveralSeries() ? analysis_.series[series].label + ": " : "";
      for (const Recommendation& advice : analysis_.recommendations[series]) {
        const Setting* setting = Of(advice.setting);
        const bool aside = advice.goal == kEfficiency && advice.setting != analysis_.series[series].baseline;
        const std::string goal = prefix + GoalTitle(advice.goal) + (aside ? ", the baseline aside: " : ": ");
        sentences.push_back(setting ? fmt::format("{}{} ({}; {}).", goal, setting->name, Speed(*setting), Ratios(*setting))
                                    : goal + advice.why + ".");
        if (setting && advice.goal == kThroughput && !Alike(*setting).empty())
          sentences.back() += fmt::format(" Its interval overlaps with that of {}.", fmt::join(Alike(*setting), ", "));
      }
      if (!analysis_.series[series].baseline_note.empty()) sentences.push_back(prefix + analysis_.series[series].baseline_note);
    }
    const auto without =
        std::count_if(analysis_.settings.begin(), analysis_.settings.end(), [](const Setting& s) { return !s.sps; });
    if (without > 0) {
      const bool unfinished = std::any_of(combined_.trials.begin(), combined_.trials.end(), [](const CombinedTrial& trial) {
        return trial.data.state == "PLANNED" || trial.data.state == "RUNNING";
      });
      sentences.insert(
          unfinished ? sentences.begin() : sentences.end(),
          fmt::format("{}{} of {} settings have no result; the table says why.",
                      unfinished ? "Unfinished, the same run command goes on: " : "", without, analysis_.settings.size()));
    }
    if (Brief() > 0)
      sentences.push_back(
          fmt::format("{} of {} settings were measured briefly: their speeds are rough.", Brief(), analysis_.settings.size()));
    size_t grave = 0;
    for (const Finding& finding : diagnosis_.findings) grave += finding.severity != Severity::kInfo ? 1 : 0;
    if (diagnosis_.findings.empty()) {
      const bool any = without < static_cast<ptrdiff_t>(analysis_.settings.size());
      sentences.push_back(any ? "No rule found anything that limits these runs."
                              : "Without a result there is nothing to diagnose.");
    } else {
      sentences.push_back(fmt::format("{} {}, {} of them to act on; first: {}.", diagnosis_.findings.size(),
                                      diagnosis_.findings.size() == 1 ? "finding" : "findings", grave,
                                      diagnosis_.findings.front().title));
    }
    return sentences;
  }

  // Of the experiment's name: each recommended one has results of its own.
  std::string Suffix(const std::string& goal, size_t series) const {
    return "_recommended_" + goal + (SeveralSeries() ? fmt::format("_{}", series + 1) : "");
  }

  void AddAttachments(Document* document) const {
    for (size_t series = 0; series < analysis_.series.size(); ++series) {
      for (const Recommendation& advice : analysis_.recommendations[series]) {
        const Setting* setting = Of(advice.setting);
        const TrialData* trial = setting ? TrialOf(combined_, *setting) : nullptr;
        if (!trial) continue;
        std::vector<std::string> comments = {fmt::format("{} of {}: {} runners x environments", GoalTitle(advice.goal),
                                                         fmt::join(combined_.experiments, ", "), setting->name),
                                             fmt::format("measured: {}; {}", Speed(*setting), Ratios(*setting)), advice.why};
        if (!Alike(*setting).empty() && advice.goal == kThroughput)
          comments.push_back(fmt::format("its interval overlaps with that of {}", fmt::join(Alike(*setting), ", ")));
        document->attachments.push_back({RecommendedName(analysis_, advice.goal, series),
                                         RecommendedFile(trial->config, Suffix(advice.goal, series), comments)});
      }
    }
  }

  ptrdiff_t Brief() const {
    return std::count_if(analysis_.settings.begin(), analysis_.settings.end(), [](const Setting& s) { return s.is_short; });
  }

  // Of the settings of its series whose interval overlaps with its own, which is the fastest.
  std::vector<std::string> Alike(const Setting& fastest) const {
    std::vector<std::string> names;
    for (const Setting& other : analysis_.settings) {
      if (&other != &fastest && other.series == fastest.series && fastest.sps->low && other.sps && other.sps->high &&
          *other.sps->high >= *fastest.sps->low)
        names.push_back(other.name);
    }
    return names;
  }

  std::vector<Block> Design() const {
    std::vector<std::string> items = {
        fmt::format("{} settings, {} trials, {} of them usable. A trial is a process of its own and runs alone.",
                    analysis_.settings.size(), combined_.trials.size(),
                    std::count_if(combined_.trials.begin(), combined_.trials.end(),
                                  [](const CombinedTrial& trial) { return trial.data.usable(); })),
        "Parallelism = runners x environments per runner. SPS = environment steps per second over collecting and learning, "
        "without the first iteration; one step is one action of one environment.",
        "Speedup = SPS / SPS of the baseline. Parallel efficiency = 100 x speedup / parallelism. Core efficiency = 100 x "
        "speedup / min(runners, granted cores): where one environment fills a core already, more environments on it can not "
        "be faster.",
        BandsText() + ".",
    };
    for (const ScoredSeries& series : analysis_.series) {
      if (!series.baseline) continue;
      items.push_back(fmt::format("Baseline{}: {}, {}.", SeveralSeries() ? " of " + series.label : "",
                                  analysis_.settings[*series.baseline].name, Speed(analysis_.settings[*series.baseline])));
    }
    return {BulletList{items}};
  }

  std::vector<std::string> Conclusions() const {
    std::vector<std::string> items;
    for (const std::vector<Recommendation>& advice : analysis_.recommendations) {
      const Setting* best = Of(advice.front().setting);
      if (!best || !best->sps->low) continue;
      const std::string name = SettingText(*best, analysis_);
      items.push_back(Alike(*best).empty()
                          ? fmt::format("The interval of the fastest, {}, overlaps with that of no other setting.", name)
                          : fmt::format("The interval of the fastest, {}, overlaps with that of {}: which of them is faster is "
                                        "not shown.",
                                        name, fmt::join(Alike(*best), ", ")));
    }
    if (Brief() > 0)
      items.push_back(
          fmt::format("{} of {} settings measured for less than {} s and fewer than {} iterations after the first: raise "
                      "budget.iterations for figures that hold.",
                      Brief(), analysis_.settings.size(), kLongEnoughSeconds, kEnoughIterations));
    for (const std::string& limit : LimitsOf(combined_)) items.push_back(limit);
    if (items.empty()) items.push_back("Each setting was measured once: intervals are not known.");
    return items;
  }

  const std::vector<ResultSet>& sets_;
  const ReportContext& context_;
  Combined combined_;
  ParallelEfficiency analysis_;
  Diagnosis diagnosis_;
};

}  // namespace

Document ParallelEfficiencyReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  return Builder(sets, context).Build();
}

}  // namespace backplane
