// The report of a search: the best setting, and the effect of the options.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/shell_argument.hpp"
#include "kinds/report_builders.hpp"
#include "kinds/search_figures.hpp"
#include "kinds/search_headline.hpp"
#include "kinds/search_tables.hpp"
#include "kinds/sections.hpp"
#include "record/plan_file.hpp"
#include "results/reduction.hpp"
#include "results/study_of_sweep.hpp"
#include "rules/try_command.hpp"
#include "yaml/recommended_file.hpp"

namespace backplane {
namespace {

constexpr char kSuggestions[] = "suggestions";

// Searches cannot be merged: report each on its own.
const ResultSet& SearchedSet(const std::vector<ResultSet>& sets) {
  const auto searched = std::find_if(sets.begin(), sets.end(), [](const ResultSet& set) { return set.study.has_value(); });
  return searched == sets.end() ? sets.front() : *searched;
}

// Another sweep's points as if they had been suggested.
Study StudyOf(const ResultSet& set) {
  if (set.study) return *set.study;
  const ResultsFolder folder{set.out};
  return StudyOfSweep(folder, ReadPlanFile(folder.plan()), ReadBatchRecord(folder.events()), "", {});
}

Combined CombinedOf(const ResultSet& set, const Study& study) {
  Combined combined = Combine({set});
  if (const auto metric = MeasureOfText(study.metric)) AddReductions(metric->expression.paths(), &combined);
  return combined;
}

// The best setting with the budget that it was tried with. Absent: there is none, or its trials left no configuration.
std::optional<Attachment> BestFile(const SearchParts& parts, const std::string& name, const std::string& headline) {
  const StudyTrial* best = parts.Best();
  if (!best) return std::nullopt;
  for (const CombinedTrial& trial : parts.combined.trials) {
    if (std::find(best->trials.begin(), best->trials.end(), trial.data.trial_id) == best->trials.end()) continue;
    return Attachment{fmt::format("best_{}.yaml", name),
                      RecommendedFile(trial.data.config, "_best",
                                      {fmt::format("the best setting of the search {}: {}",
                                                   fmt::join(parts.combined.experiments, ", "), NumberName(*best)),
                                       headline},
                                      OfBudget::kKept)};
  }
  return std::nullopt;
}

// Removes fixes for searched options and seeds: changing those would define a different search.
void LeaveOutSearched(const Study& study, Diagnosis* diagnosis) {
  for (Finding& finding : diagnosis->findings)
    std::erase_if(finding.fixes, [&](const Fix& fix) {
      const auto is_path = [&](const SearchedOption& option) { return option.path == fix.path; };
      return fix.path.starts_with("sweep.") || std::any_of(study.space.begin(), study.space.end(), is_path);
    });
}

Section Results(const Document& document, const SearchParts& parts, const ReportContext& context) {
  Section section{"results", "Results", {}};
  if (!document.figures.empty() && document.figures.front().name == kBestSoFar)
    section.blocks.emplace_back(FigureUse{kBestSoFar});
  if (std::optional<Table> best = BestTable(parts)) section.blocks.emplace_back(std::move(*best));
  for (const Attachment& attachment : document.attachments)
    section.blocks.emplace_back(
        CommandList{{{"the best setting again",
                      fmt::format("{} run {}", context.program, ShellArgument((context.folder / attachment.name).string()))}}});
  return section;
}

}  // namespace

Document SearchReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  const ResultSet& set = SearchedSet(sets);
  Study study = StudyOf(set);
  const Combined combined = CombinedOf(set, study);
  CountTrialsAtTheirEnd(combined, &study);
  const SearchParts parts = PartsOf(study, combined);
  const std::vector<OptionImportance> importances = ImportanceOfOptions(study);
  Document document = StartReport("search", "Search", combined, context);
  document.main_table = kSuggestions;
  document.verdict = SearchVerdict(parts);
  document.figures = SearchFigures(parts, importances);
  if (std::optional<Attachment> file = BestFile(parts, document.name, document.verdict.front()))
    document.attachments.push_back(std::move(*file));
  Diagnosis diagnosis = Diagnose(combined, nullptr, context.option_help);
  if (!study.method.empty()) LeaveOutSearched(study, &diagnosis);
  AddTryCommands({set}, context.program, &diagnosis);
  if (diagnosis.Lead()) document.verdict.push_back("First finding: " + diagnosis.Lead()->title + ".");
  document.sections = {Results(document, parts, context), FindingsSection(diagnosis)};
  if (std::optional<Table> confirmed = ConfirmedTable(parts))
    document.sections.insert(document.sections.begin() + 1,
                             {"confirmed", "The best, with fresh seeds", {std::move(*confirmed)}});
  Section options{"options", "Effect of the options", {}};
  for (const Figure& figure : document.figures)
    if (figure.name != kBestSoFar) options.blocks.emplace_back(FigureUse{figure.name});
  if (std::optional<Table> table = ImportanceTable(parts, importances)) options.blocks.emplace_back(std::move(*table));
  if (!options.blocks.empty()) document.sections.push_back(std::move(options));
  document.sections.push_back({kSuggestions, "Trials", {SuggestionsTable(parts, TrialsFolder(combined))}});
  std::vector<std::string> limits = LimitsOf(combined);
  if (sets.size() > 1)
    limits.push_back(fmt::format("Searches cannot be combined; this report shows only the search in {}.", set.out.string()));
  EndReport({set}, combined, context, {std::move(limits)}, &document);
  return document;
}

}  // namespace backplane
