#include "kinds/build_report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/sha256.hpp"
#include "kinds/ab_report.hpp"
#include "kinds/comparison_figures.hpp"
#include "kinds/comparison_headline.hpp"
#include "kinds/last_run.hpp"
#include "kinds/next_steps.hpp"
#include "kinds/question.hpp"
#include "kinds/report_builders.hpp"
#include "kinds/run_report.hpp"
#include "kinds/sections.hpp"
#include "record/results_folder.hpp"
#include "results/series.hpp"
#include "results/sparkline.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kLongestName = 120;  // of a folder, without what ends it

std::string Now() { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::now())); }

ReportSection ConfigOf(const ResultSet& set) { return ReadTolerantly<ReportSection>(At(set.config, "report")); }

constexpr char kRun[] = "run";  // the kind for a single trial without report settings

// The terms of a batch that `compare` ran. Absent otherwise: all scores then form one look.
std::optional<CompareTerms> TermsOf(const std::vector<ResultSet>& sets) {
  const json& compare = At(sets.front().config, "compare");
  if (sets.size() != 1 || compare.is_null()) return std::nullopt;
  return ReadTolerantly<CompareTerms>(compare);
}

// Chooses "search" for searched sets, and "parallel_efficiency" for a sweep over env runners or envs.
std::string KindBySweep(const std::vector<ResultSet>& sets) {
  if (std::any_of(sets.begin(), sets.end(), [](const ResultSet& set) { return set.study.has_value(); })) return "search";
  if (sets.size() == 1 && sets.front().trials.size() == 1 && sets.front().trials.front().values.empty()) return kRun;
  for (const ResultSet& set : sets) {
    for (const TrialData& trial : set.trials) {
      for (const auto& [path, value] : trial.values) {
        if (path == kRunnersPath || path == kRowsPath) return "parallel_efficiency";
      }
    }
  }
  return "comparison";
}

// Names the keys of `report` on which the sets disagree. Empty if they agree.
std::string DisagreementOf(const std::vector<ResultSet>& sets) {
  std::vector<std::string> differing;
  for (const char* key : {"name", "baseline", "balanced", "timing", "columns", "figures", "select", "notes"}) {
    const json& first = At(At(sets.front().config, "report"), key);
    const bool alike =
        std::all_of(sets.begin(), sets.end(), [&](const ResultSet& set) { return At(At(set.config, "report"), key) == first; });
    if (!alike) differing.push_back(fmt::format("report.{}", key));
  }
  if (differing.empty()) return "";
  return fmt::format("The experiments differ in {}; this report uses the values of {} for all.", fmt::join(differing, ", "),
                     sets.front().out.string());
}

// The first set speaks for all: they are in an order that does not depend on how they were named.
ReportSection CommonConfig(const std::vector<ResultSet>& sets, const std::string& wanted_kind) {
  // One that asks for no report, such as a recommended setting's own run, goes with the others.
  const auto asks = std::find_if(sets.begin(), sets.end(), [](const ResultSet& set) { return ConfigOf(set).kind.has_value(); });
  ReportSection config = ConfigOf(asks == sets.end() ? sets.front() : *asks);
  for (const ResultSet& set : sets) {
    const ReportSection other = ConfigOf(set);
    if (wanted_kind.empty() && other.kind && other.kind != config.kind)
      throw std::runtime_error(fmt::format("expected one kind of report, got {1} from {0} and {3} from {2}\nhint: --kind {1}",
                                           sets.front().out.string(), config.kind.value_or("none"), set.out.string(),
                                           other.kind.value_or("none")));
  }
  if (!wanted_kind.empty() && config.kind != wanted_kind) config.name.reset();
  if (!wanted_kind.empty()) config.kind = wanted_kind;
  if (!config.kind) config.kind = KindBySweep(sets);
  return config;
}

}  // namespace

std::vector<OptionHelp> HelpsOf(const std::vector<ResultSet>& sets) {
  std::vector<OptionHelp> helps;
  std::set<std::string> seen;
  for (const ResultSet& set : sets) {
    for (const OptionHelp& help : set.run.helps) {
      if (seen.insert(ToJson(help).dump()).second) helps.push_back(help);
    }
  }
  return helps;
}

namespace {

// The text that all sets have under a key, if they have one; empty: none, or different ones.
std::string AgreedText(const std::vector<ResultSet>& sets, const char* section, const char* key) {
  std::string agreed;
  for (const ResultSet& set : sets) {
    const std::string its = Text(At(At(set.config, section), key));
    if (its.empty() || its == agreed) continue;
    if (!agreed.empty()) return "";
    agreed = its;
  }
  return agreed;
}

}  // namespace

std::filesystem::path DefaultReportFolder(const std::vector<ResultSet>& sets) {
  const std::string joint = sets.size() > 1 ? AgreedText(sets, "report", "joint_dir") : "";
  if (!joint.empty()) return joint;
  if (std::string named = AgreedText(sets, "output", "report_dir"); !named.empty()) return named;
  if (sets.size() == 1) return sets.front().out / "report";
  // A name of all, so that the next pair has another one.
  std::string name, all;
  for (const ResultSet& set : sets) {
    name += (name.empty() ? "" : "+") + set.out.lexically_normal().filename().string();
    all += std::filesystem::weakly_canonical(set.out).string() + "\n";
  }
  if (name.size() > kLongestName) name = fmt::format("{}+{}_more", sets.front().out.filename().string(), sets.size() - 1);
  return std::filesystem::path("outputs") / fmt::format("{}_{}_report", name, Sha256(all).substr(0, 6));
}

using BuildReport = Document (*)(const std::vector<ResultSet>&, const ReportContext&);

namespace {

// Arms keep the order of the command line; elsewhere the order of folders changes nothing.
std::vector<ResultSet> ReadSets(const std::vector<std::string>& folders, bool are_arms) {
  std::vector<ResultSet> sets;
  std::set<std::filesystem::path> seen;
  for (const std::string& folder : folders) {
    if (seen.insert(std::filesystem::weakly_canonical(folder)).second) sets.push_back(ReadResultSet(folder));
  }
  if (!are_arms) SortCanonically(&sets);
  return sets;
}

// Films that `render` has left in the folders of trials.
void AddFilms(const std::vector<ResultSet>& sets, Document* document) {
  constexpr size_t kShown = 3;  // of some megabytes each
  Section section{"films", "Films", {}};
  std::vector<std::string> others;
  for (const ResultSet& set : sets)
    for (const TrialData& trial : set.trials)
      for (const auto& [episode, file] : ResultsFolder{set.out}.trial(trial.trial_id).Films()) {
        if (section.blocks.size() < kShown)
          section.blocks.emplace_back(FilmUse{fmt::format("{}, episode {}", PointName(trial), episode), file.string()});
        else
          others.push_back(file.string());
      }
  if (!others.empty()) section.blocks.emplace_back(BulletList{others});
  if (!section.blocks.empty()) document->sections.push_back(std::move(section));
}

// Adds the comparison with the last run below the findings. An unreadable last run must not fail the report.
void AddLastRun(const ResultSet& set, Document* document) {
  const std::optional<std::filesystem::path> last = LastRunOf(set);
  if (!last) return;
  try {
    std::optional<AgainstLastRun> against = CompareWithLastRun(set, ReadResultSet(*last));
    if (!against) return;
    document->verdict.push_back(std::move(against->sentence));
    const auto findings = std::find_if(document->sections.begin(), document->sections.end(),
                                       [](const Section& section) { return section.id == "findings"; });
    document->sections.insert(findings == document->sections.end() ? findings : findings + 1, std::move(against->section));
  } catch (const std::exception&) {
  }
}

// Puts the next steps first. Without finished trials, they replace the verdict.
void SayHowToGoOn(const ResultSet& set, const std::string& program, Document* document) {
  const std::vector<std::string> sentences = HowToGoOn(set, program);
  if (sentences.empty()) return;
  std::vector<std::string>& verdict = document->verdict;
  const bool any = std::any_of(set.trials.begin(), set.trials.end(), [](const TrialData& trial) { return trial.usable(); });
  if (!any && !verdict.empty()) verdict.erase(verdict.begin());
  if (any && !verdict.empty()) {
    verdict.front() = sentences.front() + " So far: " + AfterColon(verdict.front());
    verdict.insert(verdict.begin() + 1, sentences.begin() + 1, sentences.end());
  } else {
    verdict.insert(verdict.begin(), sentences.begin(), sentences.end());
  }
}

// With a sentence in the limits, as a file may ask for them.
void LeaveOutOnePoints(Document* document) {
  std::vector<std::string> names;
  std::erase_if(document->figures, [&](const Figure& figure) {
    const bool is_out = IsOfOnePoint(figure) && figure.name != kGainsFigure;  // gains have a second point, the baseline
    if (is_out) names.push_back(figure.name);
    return is_out;
  });
  if (names.empty()) return;
  for (Section& section : document->sections)
    std::erase_if(section.blocks, [&](const Block& block) {
      const auto* use = std::get_if<FigureUse>(&block);
      return use != nullptr && std::ranges::find(names, use->name) != names.end();
    });
  std::erase_if(document->sections, [](const Section& section) { return section.blocks.empty(); });
  AddLimit(fmt::format("Left out, because only one point has this value: {}.", fmt::join(names, ", ")), document);
}

// The curve of the trial with the highest return.
std::string SparklineOf(const std::vector<ResultSet>& sets) {
  const std::vector<CurvePoint>* best = nullptr;
  for (const ResultSet& set : sets) {
    for (const TrialData& trial : set.trials) {
      const auto own = trial.curves.find(trial.curves.contains("eval/return") ? "eval/return" : "return");
      if (own == trial.curves.end() || own->second.empty()) continue;
      if (best == nullptr || own->second.back().value > best->back().value) best = &own->second;
    }
  }
  std::vector<double> values;
  if (best != nullptr)
    for (const CurvePoint& point : *best) values.push_back(point.value);
  return Sparkline(values);
}

// `compare`: judges all available scores by these terms; absent: uses the experiment's terms.
ReportContext ContextOf(const std::vector<ResultSet>& sets, const std::string& program, const std::string& kind,
                        const std::optional<CompareTerms>& compare, const std::vector<std::string>& outside_identity) {
  ReportContext context{program, Now(),         CommonConfig(sets, kind),
                        {},      HelpsOf(sets), {outside_identity.begin(), outside_identity.end()}};
  const std::optional<CompareTerms> own = compare ? std::nullopt : TermsOf(sets);
  const bool has_looks = own && !sets.front().run.imported;  // imported scores form one look
  context.compare = {own ? *own : compare.value_or(CompareTerms{}), has_looks};
  CompareTerms& terms = context.compare.terms;
  const int direction = terms.metric ? DirectionInFile(*terms.metric, context.report, sets) : 0;
  if (!terms.direction && direction != 0) terms.direction = direction > 0 ? "up" : "down";
  return context;
}

BuildReport BuilderOf(const std::string& kind) {
#define BUILDER(kind, ...) kind##Report,
  constexpr BuildReport kBuilders[] = {BACKPLANE_REPORT_KINDS(BUILDER)};
  if (kind == kRun) return RunReport;
  const ReportKind* known = FindReportKind(kind);
  if (!known) throw std::runtime_error(fmt::format("unknown kind of report '{}'", kind));
  return kBuilders[known - kReportKinds];
}

}  // namespace

CompareAnswer JudgeArms(const JudgeRequest& request) {
  const std::vector<ResultSet> sets = ReadSets(request.folders, true);
  return JudgeResults(sets, ContextOf(sets, "backplane", "ab", request.compare, {}));
}

std::string FirstSentence(const std::vector<ResultSet>& sets, const std::string& program) {
  const ReportContext context = ContextOf(sets, program, "", {}, {});
  // A report on times may begin with a finding about a busy machine, so it is built in full.
  if (context.report.kind == "comparison" && !AskedQuestion(sets, context).IsTimed()) return ComparisonSentence(sets, context);
  const Document document = BuilderOf(*context.report.kind)(sets, context);
  return document.verdict.empty() ? "" : document.verdict.front();
}

Question DecidingQuestion(const std::vector<ResultSet>& sets) {
  return AskedQuestion(sets, ContextOf(sets, "backplane", "", {}, {}));
}

std::vector<std::pair<std::string, std::filesystem::path>> FilesOf(const std::filesystem::path& out) {
  const ResultsFolder folder{out};
  std::vector<std::pair<std::string, std::filesystem::path>> files;
  for (const auto& [what, file] :
       {std::pair<const char*, std::filesystem::path>{"the experiment with every default", folder.config()},
        {"trials of the folder", folder.plan()},
        {"events, in order", folder.events()},
        {"progress", folder.progress()},
        {"machine and versions", folder.run()},
        {"all numbers as tables", folder.database()},
        {"a folder for each trial", folder.trials()},
        {"a log for each session", folder.logs()}})
    if (std::filesystem::exists(file)) files.emplace_back(what, file);
  return files;
}

MadeReport MakeReport(const ReportRequest& request) {
  const std::vector<ResultSet> sets = ReadSets(request.folders, request.kind == "ab");
  ReportContext context = ContextOf(sets, request.program, request.kind, request.compare, request.outside_identity);
  MadeReport made;
  made.folder = request.to.empty() ? DefaultReportFolder(sets) : std::filesystem::path(request.to);
  context.folder = made.folder;
  made.document = BuilderOf(*context.report.kind)(sets, context);
  if (sets.size() == 1) AddLastRun(sets.front(), &made.document);
  for (const ResultSet& set : sets) SayHowToGoOn(set, request.program, &made.document);
  if (const std::string disagreement = DisagreementOf(sets); !disagreement.empty()) AddLimit(disagreement, &made.document);
  LeaveOutOnePoints(&made.document);
  AddFilms(sets, &made.document);
  for (const ResultSet& set : sets)
    for (auto& file : FilesOf(set.out)) made.results.push_back(std::move(file));
  if (sets.size() == 1 && (request.form == "page" || At(At(sets.front().config, "output"), "page") != false))
    made.page_of = sets.front().out;
  made.document.sparkline = SparklineOf(sets);
  if (request.form != "page") made.written = WriteReport(made.document, made.folder, made.results);
  return made;
}

}  // namespace backplane
