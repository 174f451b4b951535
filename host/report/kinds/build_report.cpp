#include "kinds/build_report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "kinds/comparison_report.hpp"
#include "kinds/parallel_efficiency_report.hpp"
#include "kinds/sections.hpp"
#include "record/report_kinds.hpp"
#include "record/results_folder.hpp"
#include "results/series.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kLongestName = 120;  // of a folder, without what ends it

std::string Now() { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::now())); }

ReportSection ConfigOf(const ResultSet& set) { return ReadTolerantly<ReportSection>(At(set.config, "report")); }

// Where the sweep was over runners or rows, that is the question.
std::string KindBySweep(const std::vector<ResultSet>& sets) {
  for (const ResultSet& set : sets) {
    for (const TrialData& trial : set.trials) {
      for (const auto& [path, value] : trial.values) {
        if (path == kRunnersPath || path == kRowsPath) return "parallel_efficiency";
      }
    }
  }
  return "comparison";
}

// Of keys of `report` that decide what a report shows; empty where all sets say the same.
std::string DisagreementOf(const std::vector<ResultSet>& sets) {
  std::vector<std::string> differing;
  for (const char* key : {"name", "baseline", "balanced", "timing", "columns", "figures", "select", "notes"}) {
    const json& first = At(At(sets.front().config, "report"), key);
    const bool alike =
        std::all_of(sets.begin(), sets.end(), [&](const ResultSet& set) { return At(At(set.config, "report"), key) == first; });
    if (!alike) differing.push_back(fmt::format("report.{}", key));
  }
  if (differing.empty()) return "";
  return fmt::format("The experiments differ in {}: what {} says there counts for all.", fmt::join(differing, ", "),
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
      throw std::runtime_error(fmt::format("{} asks for a report of kind {}, {} for {}; choose one with --kind",
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

std::filesystem::path DefaultReportFolder(const std::vector<ResultSet>& sets) {
  for (const ResultSet& set : sets) {
    std::string named = Text(At(At(set.config, "output"), "report_dir"));
    const bool agreed = !named.empty() && std::all_of(sets.begin(), sets.end(), [&](const ResultSet& other) {
      const std::string its = Text(At(At(other.config, "output"), "report_dir"));
      return its.empty() || its == named;
    });
    if (agreed) return named;
  }
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

namespace {

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

using Build = Document (*)(const std::vector<ResultSet>&, const ReportContext&);

Build BuilderOf(std::string_view kind) {
  constexpr std::pair<std::string_view, Build> kBuilders[] = {{"comparison", ComparisonReport},
                                                              {"parallel_efficiency", ParallelEfficiencyReport}};
  static_assert(std::size(kBuilders) == std::size(kReportKinds), "each kind of report has a builder");
  for (const auto& [name, build] : kBuilders)
    if (name == kind) return build;
  throw std::runtime_error(fmt::format("no report of kind '{}' can be built", kind));
}

}  // namespace

MadeReport MakeReport(const ReportRequest& request) {
  std::vector<ResultSet> sets;
  std::set<std::filesystem::path> seen;
  for (const std::string& folder : request.folders) {
    if (seen.insert(std::filesystem::weakly_canonical(folder)).second) sets.push_back(ReadResultSet(folder));
  }
  SortCanonically(&sets);
  const ReportContext context{request.program, Now(), CommonConfig(sets, request.kind), HelpsOf(sets)};
  MadeReport made;
  made.document = BuilderOf(*context.report.kind)(sets, context);
  if (const std::string disagreement = DisagreementOf(sets); !disagreement.empty()) AddLimit(disagreement, &made.document);
  AddFilms(sets, &made.document);
  made.folder = request.to.empty() ? DefaultReportFolder(sets) : std::filesystem::path(request.to);
  made.written = WriteReport(made.document, made.folder);
  return made;
}

}  // namespace backplane
