// The report that shows how many runners and rows are worth their cores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_fields.hpp"
#include "base/json_path.hpp"
#include "kinds/design.hpp"
#include "kinds/next_steps.hpp"
#include "kinds/parallel_efficiency_figures.hpp"
#include "kinds/parallel_efficiency_headline.hpp"
#include "kinds/parallel_efficiency_tables.hpp"
#include "kinds/phases_figure.hpp"
#include "kinds/report_builders.hpp"
#include "kinds/resource_figures.hpp"
#include "kinds/sections.hpp"
#include "kinds/setting_text.hpp"
#include "kinds/time_section.hpp"
#include "kinds/tradeoff_figure.hpp"
#include "rules/try_command.hpp"
#include "text/format_number.hpp"
#include "text/units.hpp"
#include "yaml/recommended_file.hpp"

namespace backplane {
namespace {

const char* const kThroughput = "throughput";
constexpr char kParallelism[] =
    "Parallelism = runners x environments per runner. SPS = environment steps per second over collecting and learning, "
    "without the warm-up (iteration 0). One step is one action of one environment.";
constexpr char kEfficiencies[] =
    "Speedup = SPS / SPS of the baseline. Parallel efficiency = 100 x speedup / parallelism. Core efficiency = 100 x "
    "speedup / min(runners, granted cores). If one environment already fills a core, more environments on it are not "
    "faster.";

class EfficiencyBuilder {
 public:
  EfficiencyBuilder(const std::vector<ResultSet>& sets, const ReportContext& context)
      : sets_(sets),
        context_(context),
        combined_(Combine(sets)),
        analysis_(
            AnalyseParallelEfficiency(combined_, context.report.baseline, context.report.balanced, context.outside_identity)) {
    NamePointsBySize();
    diagnosis_ = Diagnose(combined_, &analysis_, context.option_help);
    AddTryCommands(sets, context.program, &diagnosis_);
  }

  Document Build() {
    Document document = StartReport("parallel_efficiency", "Parallel efficiency", combined_, context_);
    document.figures = ParallelEfficiencyFigures(combined_, analysis_);
    std::vector<TimedRow> rows;
    for (const Setting& setting : analysis_.settings) rows.push_back({SettingText(setting, analysis_), setting.trials});
    for (auto* make : {TimeFigure, PhasesFigure})
      if (std::optional<Figure> time = make(combined_, rows)) document.figures.push_back(std::move(*time));
    document.is_void = !diagnosis_.why_void.empty();
    document.verdict = Verdict();
    const ParallelEfficiencyTables tables(combined_, analysis_);
    Table results = tables.Results();
    MarkVoidRows(diagnosis_, &results);
    document.sections.push_back({"results", "Results", {FigureUse{"parallel_efficiency_analysis"}, results}});
    document.sections.push_back(FindingsSection(diagnosis_));
    document.sections.push_back(Recommended(tables, &document));
    Section resources{"resources", "Resources", {}};
    for (const char* name : {kResourceBars, kResourceCurves}) {
      const bool drawn = std::any_of(document.figures.begin(), document.figures.end(),
                                     [&](const Figure& figure) { return figure.name == name; });
      if (drawn) resources.blocks.emplace_back(FigureUse{name});
    }
    resources.blocks.emplace_back(tables.Resources());
    document.sections.push_back(std::move(resources));
    document.sections.push_back(TimeSection(combined_, rows, document.figures));
    document.sections.push_back(NotTriedSection(combined_, Fastest()));
    EndReport(sets_, combined_, context_,
              {Conclusions(), "Conclusions and limits", {"design", "Design and definitions", Design(), true}}, &document);
    AddAttachments(&document);
    return document;
  }

 private:
  // "2 x 4" identifies a setting here; the points' names are longer.
  void NamePointsBySize() {
    for (const Setting& setting : analysis_.settings) {
      // Where groups differ a finding names them itself.
      const std::string name = combined_.groups.size() > 1 ? setting.name : SettingText(setting, analysis_);
      for (size_t trial : setting.trials) combined_.trials[trial].data.label = name;
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
                       setting.band, cores);
  }

  std::vector<std::string> Verdict() const {
    std::vector<std::string> sentences = {AsMeasured(diagnosis_.why_void, ParallelEfficiencyHeadline(analysis_))};
    if (!diagnosis_.why_void.empty()) sentences.push_back(HowToTrust(sets_, context_.program));
    for (size_t series = 0; series < analysis_.series.size(); ++series) {
      const std::string prefix = SeveralSeries() ? analysis_.series[series].label + ": " : "";
      if (!analysis_.series[series].baseline_note.empty()) sentences.push_back(prefix + analysis_.series[series].baseline_note);
    }
    if (const ptrdiff_t without = WithoutResult(); without > 0)
      sentences.push_back(
          fmt::format("{} of {} settings have no result; the table lists the reasons.", without, analysis_.settings.size()));
    if (Brief() > 0)
      sentences.push_back(fmt::format("{} of {} settings were measured briefly, so their speeds are rough.", Brief(),
                                      analysis_.settings.size()));
    size_t grave = 0;
    for (const Finding& finding : diagnosis_.findings) grave += finding.severity != Severity::kInfo ? 1 : 0;
    if (diagnosis_.findings.empty()) {
      const bool any =
          std::any_of(analysis_.settings.begin(), analysis_.settings.end(), [](const Setting& s) { return s.sps.has_value(); });
      sentences.push_back(any ? "No rule found anything that limits these runs."
                              : "There are no findings, because no setting has a result.");
    } else {
      sentences.push_back(
          fmt::format("{} {}, {} of them call for a change{}.", diagnosis_.findings.size(),
                      diagnosis_.findings.size() == 1 ? "finding" : "findings", grave,
                      diagnosis_.Lead() && diagnosis_.why_void.empty() ? "; first: " + diagnosis_.Lead()->title : ""));
    }
    return sentences;
  }

  // Number of settings. Those that a stopped batch has not reached are reported with the command that resumes it.
  ptrdiff_t WithoutResult() const {
    const bool stopped = std::any_of(sets_.begin(), sets_.end(),
                                     [&](const ResultSet& set) { return !HowToGoOn(set, context_.program).empty(); });
    const auto waits = [&](size_t trial) {
      const TrialState state = combined_.trials[trial].data.state;
      return state == TrialState::kPlanned || state == TrialState::kRunning;
    };
    return std::count_if(analysis_.settings.begin(), analysis_.settings.end(), [&](const Setting& setting) {
      return !setting.sps && !(stopped && std::all_of(setting.trials.begin(), setting.trials.end(), waits));
    });
  }

  Section Recommended(const ParallelEfficiencyTables& tables, Document* document) const {
    Section section{"recommended", "Recommended settings", {}};
    Table table = tables.Recommended();
    if (std::optional<Figure> figure = TradeOffFigure(combined_, analysis_)) {
      document->figures.push_back(std::move(*figure));
      section.blocks.emplace_back(FigureUse{kTradeOffFigure});
      table.notes = TradeOffNotes(combined_, analysis_);
    }
    section.blocks.emplace_back(std::move(table));
    return section;
  }

  // Uses the first series with a speed.
  std::optional<BestConfiguration> Fastest() const {
    for (const std::vector<Recommendation>& series : analysis_.recommendations)
      for (const Recommendation& advice : series)
        if (advice.goal == kThroughput && advice.setting)
          return BestConfiguration{"SPS", analysis_.settings[*advice.setting].trials};
    return std::nullopt;
  }

  // Appended to the experiment's name: each recommended experiment needs its own results folder.
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
                                             fmt::format("measured: {}; {}", Speed(*setting), Ratios(*setting)), advice.why,
                                             diagnosis_.why_void};
        if (const std::vector<std::string> alike = AsFastAs(*setting, analysis_); !alike.empty() && advice.goal == kThroughput)
          comments.push_back(fmt::format("this setting is not shown to be faster than {}", fmt::join(alike, ", ")));
        document->attachments.push_back({RecommendedName(analysis_, advice.goal, series),
                                         RecommendedFile(trial->config, Suffix(advice.goal, series), comments)});
      }
    }
  }

  // The rule that ended each trial.
  std::string Lasted() const {
    const std::optional<double> precision_pct = ParsePercent(OfFile("report.precision")),
                                max_time_s = ParseDuration(OfFile("report.max_time"));
    if (!precision_pct || !max_time_s) return "The budget of the file ends a trial; the warm-up iteration does not count.";
    return fmt::format(
        "A trial ends when the 95 % interval over its iterations is within {:g} % of its speed, or when its part of the {:g} s "
        "per setting is used up. This rule only ends the measurement; seeds decide which setting is faster.",
        *precision_pct, *max_time_s);
  }

  std::string OfFile(const char* path) const { return Text(AtPath(sets_.front().config, path)); }

  ptrdiff_t Brief() const {
    return std::count_if(analysis_.settings.begin(), analysis_.settings.end(), [](const Setting& s) { return s.is_short; });
  }

  std::vector<Block> Design() const {
    std::vector<std::string> items = {
        fmt::format("{} settings, {} trials, {} of them usable. Each trial is a process and runs by itself.",
                    analysis_.settings.size(), combined_.trials.size(),
                    std::count_if(combined_.trials.begin(), combined_.trials.end(),
                                  [](const CombinedTrial& trial) { return trial.data.usable(); })),
        kParallelism,
        Lasted(),
        kEfficiencies,
        BandsText() + ".",
    };
    for (const ScoredSeries& series : analysis_.series) {
      if (!series.baseline) continue;
      items.push_back(fmt::format("Baseline{}: {}, {}.", SeveralSeries() ? " of " + series.label : "",
                                  analysis_.settings[*series.baseline].name, Speed(analysis_.settings[*series.baseline])));
    }
    std::vector<Block> blocks = {BulletList{items}};
    if (std::optional<Table> reasons = ReasonsTable(sets_, combined_)) blocks.emplace_back(std::move(*reasons));
    return blocks;
  }

  std::vector<std::string> Conclusions() const {
    std::vector<std::string> items;
    items.push_back(
        "One speed is measured per seed. The spread is computed from logarithms, pooled over all settings of a machine. With "
        "fewer than four degrees of freedom in total, there are too few seeds to compare speeds. The fastest of many settings "
        "is partly lucky, so another one may win if you repeat the measurement.");
    if (Brief() > 0)
      items.push_back(
          fmt::format("{} of {} settings were measured for less than {} s and fewer than {} iterations after the warm-up. For "
                      "reliable figures, raise {}.",
                      Brief(), analysis_.settings.size(), kLongEnoughSeconds, kEnoughIterations,
                      ParsePercent(OfFile("report.precision")) ? "report.max_time" : "budget.iterations"));
    for (const std::string& limit : LimitsOf(combined_)) items.push_back(limit);
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
  return EfficiencyBuilder(sets, context).Build();
}

}  // namespace backplane
