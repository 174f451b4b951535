#include "kinds/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/json_fields.hpp"
#include "base/shell_argument.hpp"
#include "record/compare_terms.hpp"
#include "record/kept_start.hpp"
#include "record/results_folder.hpp"
#include "text/change_arguments.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::string Devices(const RunInfo& run) {
  std::string text;
  for (const DeviceInfo& gpu : run.devices) text += (text.empty() ? "" : ", ") + gpu.name;
  return text.empty() ? "none" : text;
}

FactList FactsOf(const Group& group) {
  constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;
  const HostInfo& host = group.run.host;
  const RunVersions& versions = group.run.versions;
  FactList list;
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) list.facts.emplace_back(label, text);
  };
  if (group.run.imported) {
    add("origin", "imported: machine and versions are unknown");
    add("backplane", versions.backplane);
    return list;
  }
  add("machine", group.label);
  add("host", host.hostname);
  add("processor", fmt::format("{}, {} cores granted", host.cpu, host.granted_cores));
  if (host.memory_bytes > 0) add("memory", fmt::format("{:.1f} GiB", static_cast<double>(host.memory_bytes) / kBytesPerGib));
  add("GPU", Devices(group.run));
  add("kernel", host.kernel);
  add("backplane", versions.backplane);
  add("compiler", versions.compiler);
  add("LibTorch", versions.torch);
  list.facts.insert(list.facts.end(), versions.plugins.begin(), versions.plugins.end());
  return list;
}

// Redirects all outputs: the configuration may name a report folder and a progress file of the first batch.
std::string RunAgain(const std::filesystem::path& folder, const json& config, const std::string& program) {
  const std::string again = folder.string() + "_again";
  return fmt::format("{} {} {} --out {}", program, CommandOfExperiment(config),
                     ShellArgument(ResultsFolder{folder}.config().string()), ShellArgument(again)) +
         SettingsForAnotherFolder(At(config, "output"), again);
}

std::string TrialLabel(const TrialData& trial, bool several_seeds) {
  return several_seeds ? fmt::format("{}, seed {}", PointName(trial), trial.seed) : PointName(trial);
}

bool IsImported(const std::vector<ResultSet>& sets, const std::filesystem::path& folder) {
  return std::ranges::any_of(sets, [&](const ResultSet& set) { return set.out == folder && set.run.imported; });
}

// Every trial that gave no result, with its reason and the command that runs the trial again.
Section FailuresSection(const std::vector<ResultSet>& sets, const Combined& combined, const ReportContext& context) {
  std::set<uint64_t> seeds;
  for (const CombinedTrial& trial : combined.trials) seeds.insert(trial.data.seed);
  Table table{"failures", "Trials without a result", {}, {}, {}, {}};
  table.columns = {{"trial", "trial", "", "point and seed"},
                   {"state", "state", "", "final state"},
                   {"outcome", "class", "", "class of the failure"},
                   {"why", "reason", "", "observed reason"},
                   {"again", "rerun", "", "command that runs the trial again", 0, 4, false},
                   {"trial_id", "folder", "", "folder of the trial's files", 0, 4, false, TrialsFolder(combined)}};
  for (const CombinedTrial& trial : combined.trials) {
    const TrialData& data = trial.data;
    if (data.usable()) continue;
    const std::string again =
        IsImported(sets, data.out) || data.state == TrialState::kPlanned || data.state == TrialState::kSkipped
            ? ""
            : fmt::format("{} replay {} {}", context.program, ShellArgument(data.out.string()), data.trial_id);
    table.rows.push_back(
        {TrialLabel(data, seeds.size() > 1), Word(data.state), Word(data.outcome), data.why, again, data.trial_id});
  }
  if (table.rows.empty()) return {};
  return {"failures", "Trials without a result", {table}};
}

// The policies from which trials started.
Section StartsSection(const Combined& combined) {
  Table table{"starts", "Trials that started from a trained policy", {}, {}, {}, {}};
  table.columns = {{"point", "point", "", "points that started from this policy"},
                   {"source", "started from", "", "learner.start_from"},
                   {"sha256", "content", "", "first digits of the SHA-256 of the policy"},
                   {"optimizer", "optimizer", "", "whether the state of the optimizer was loaded, too"}};
  std::set<std::vector<std::string>> seen;
  for (const CombinedTrial& trial : combined.trials) {
    const auto start = trial.data.files.find(kStartKey);
    if (start == trial.data.files.end()) continue;
    const json source = trial.data.At(kStartKey);
    const std::vector<std::string> row = {PointName(trial.data), source.is_string() ? source.get<std::string>() : "",
                                          ResultsFolder{}.start(start->second).filename(),
                                          trial.data.At("learner.start_optimizer") == true ? "yes" : "no"};
    if (seen.insert(row).second) table.rows.emplace_back(row.begin(), row.end());
  }
  if (table.rows.empty()) return {};
  return {"starts", "Start", {table}};
}

// The files that imported runs were read from, and the notes of the import.
void AddSources(const std::vector<ResultSet>& sets, Document* document) {
  Table table{"sources", "Sources of the imported runs", {}, {}, {}, {}};
  table.columns = {{"file", "file", "", ""},
                   {"kind", "tool", "", ""},
                   {"bytes", "bytes", "", ""},
                   {"sha256", "SHA-256", "", "first 16 digits"}};
  for (const ResultSet& set : sets) {
    if (!set.run.imported) continue;
    for (const ImportedSource& source : set.run.imported->sources)
      table.rows.push_back({source.path, source.kind, Reading(static_cast<double>(source.bytes)), source.sha256.substr(0, 16)});
    for (const std::string& note : set.run.imported->notes) AddLimit(note + ".", document);
  }
  if (!table.rows.empty()) document->sections.push_back({"sources", "Sources", {std::move(table)}, true});
}

// Hosts, devices, versions: one column of facts per group.
Section EnvironmentSection(const Combined& combined) {
  Section section{"environment", "Environment", {}, true};
  for (const Group& group : combined.groups) section.blocks.emplace_back(FactsOf(group));
  return section;
}

Section ReproduceSection(const std::vector<ResultSet>& sets, const Combined& combined, const ReportContext& context) {
  CommandList list;
  for (const ResultSet& set : sets)
    if (set.run.imported) list.commands.emplace_back("Import the runs again", set.run.imported->command);
  for (size_t i = 0; i < combined.folders.size(); ++i) {
    const auto& folder = combined.folders[i];
    const std::string out = ShellArgument(folder.string());
    if (IsImported(sets, folder)) {
      list.commands.emplace_back("Write every number of every trial as a table",
                                 fmt::format("{} export csv {}", context.program, out));
      continue;
    }
    list.commands.emplace_back("Run the whole batch again, in a new folder",
                               RunAgain(folder, combined.configs[i], context.program));
    const auto first = std::find_if(combined.trials.begin(), combined.trials.end(), [&](const CombinedTrial& trial) {
      return trial.data.out == folder && trial.data.usable();
    });
    if (first != combined.trials.end()) {
      list.commands.emplace_back("Repeat one trial and compare it with the record bit for bit (any id from the table)",
                                 fmt::format("{} replay {} {}", context.program, out, first->data.trial_id));
    }
    list.commands.emplace_back("Write every number of every trial as a table",
                               fmt::format("{} export csv {}", context.program, out));
  }
  std::string all;
  for (const auto& folder : combined.folders) all += " " + ShellArgument(folder.string());
  const std::string kind = context.report.kind.value_or("");
  const bool chosen = std::any_of(combined.configs.begin(), combined.configs.end(), [&](const json& config) {
    const json& asked = At(At(config, "report"), "kind");
    return asked.is_string() && asked != kind;
  });
  list.commands.emplace_back(
      "Write this report", fmt::format("{} report{}{}", context.program, all, chosen ? " --kind " + ShellArgument(kind) : ""));
  return {"reproduce", "Reproduce these numbers", {list}, true};
}

// The complete experiment files behind the results.
Section ConfigurationSection(const std::vector<ResultSet>& sets) {
  Section section{"configuration", "Configuration", {}, true};
  for (const ResultSet& set : sets) {
    section.blocks.emplace_back(CodeBlock{fmt::format("{}, with every default", set.experiment), "yaml", set.config_text});
  }
  return section;
}

// Trials that a lowered budget cuts, and those whose schedules keep an earlier one.
void AddBudgetLimits(const Combined& combined, std::vector<std::string>* limits) {
  size_t cut = 0, kept = 0;
  for (const CombinedTrial& trial : combined.trials) {
    cut += trial.data.cut_at ? 1 : 0;
    kept += trial.data.At("schedule_budget").is_null() ? 0 : 1;
  }
  if (cut > 0)
    limits->push_back(
        fmt::format("{} of {} trials ran longer than the budget; later iterations do not count, and the shares of time of "
                    "these trials are unknown.",
                    cut, combined.trials.size()));
  if (kept > 0)
    limits->push_back(
        fmt::format("The schedules of {} trials follow an earlier budget (schedule_budget). Do not compare them with trials "
                    "whose schedules cover the whole budget.",
                    kept));
}

}  // namespace

Document StartReport(const char* kind, const std::string& what, const Combined& combined, const ReportContext& context) {
  Document document;
  document.kind = kind;
  document.name = context.report.name.value_or(kind);
  document.made_at = context.made_at;
  document.title = fmt::format("{}: {}", what, fmt::join(combined.experiments, ", "));
  document.main_table = "results";
  return document;
}

void EndReport(const std::vector<ResultSet>& sets, const Combined& combined, const ReportContext& context, ReportEnd end,
               Document* document) {
  for (Section& section : std::array{FailuresSection(sets, combined, context), std::move(end.further), StartsSection(combined)})
    if (!section.blocks.empty()) document->sections.push_back(std::move(section));
  document->sections.push_back(EnvironmentSection(combined));
  document->sections.push_back({"limits", end.limits_title, {BulletList{std::move(end.limits)}}, true});
  AddSources(sets, document);
  document->sections.push_back(ReproduceSection(sets, combined, context));
  document->sections.push_back(ConfigurationSection(sets));
}

Section FindingsSection(const Diagnosis& diagnosis) {
  return {"findings", "Limits of these runs, and changes to make", {FindingList{diagnosis}}};
}

void MarkVoidRows(const Diagnosis& diagnosis, Table* table) {
  const auto column = [&](const char* key) {
    const auto found =
        std::find_if(table->columns.begin(), table->columns.end(), [&](const Column& c) { return c.key == key; });
    return static_cast<size_t>(found - table->columns.begin());
  };
  const size_t remark = column("remark"), trials = column("trials");
  for (std::vector<Cell>& row : table->rows) {
    if (std::max(remark, trials) >= row.size()) continue;
    const auto* ids = std::get_if<std::string>(&row[trials]);
    const bool is_void = ids && std::any_of(diagnosis.void_trials.begin(), diagnosis.void_trials.end(),
                                            [&](const std::string& id) { return ids->find(id) != std::string::npos; });
    if (!is_void) continue;
    const auto* said = std::get_if<std::string>(&row[remark]);
    row[remark] = (said && !said->empty() ? *said + "; " : "") + "busy machine";
  }
}

std::string TrialsFolder(const Combined& combined) {
  return combined.folders.size() == 1 ? ResultsFolder{combined.folders.front()}.trials().string() : "";
}

Section ShrinksSection(const Combined& combined) {
  constexpr double kMiB = 1024 * 1024;
  std::set<uint64_t> seeds;
  for (const CombinedTrial& trial : combined.trials) seeds.insert(trial.data.seed);
  Table table{"shrinks", "Updates that did not fit", {}, {}, {}, {}};
  table.columns = {{"trial", "trial", "", "point and seed"},
                   {"iteration", "update", "", "the iteration"},
                   {"before", "items at a time", "", "items that did not fit into memory"},
                   {"after", "then", "", "items at a time after the failure"},
                   {"live_mb", "live", "MiB", "device memory after the failure", -1},
                   {"peak_mb", "peak", "MiB", "peak device memory in the failed update", -1}};
  for (const CombinedTrial& trial : combined.trials) {
    for (const Shrink& one : trial.data.shrinks) {
      table.rows.push_back({TrialLabel(trial.data, seeds.size() > 1)});
      for (const uint64_t count : {one.iteration, one.micro_batch_before, one.micro_batch_after})
        table.rows.back().push_back(Reading(static_cast<double>(count)));
      for (const uint64_t bytes : {one.live_bytes, one.peak_bytes})
        table.rows.back().push_back(Reading(static_cast<double>(bytes) / kMiB));
    }
  }
  if (table.rows.empty()) return {};
  table.notes = {"These trials did not fail: they repeated the update in smaller parts, with the same result."};
  return {"shrinks", "Out of memory", {table}};
}

std::vector<std::string> LimitsOf(const Combined& combined) {
  std::map<std::pair<size_t, std::string>, std::set<uint64_t>> seeds;  // of each point on each group of machines
  size_t missing = 0;
  for (const CombinedTrial& trial : combined.trials) {
    if (trial.data.usable()) {
      seeds[{trial.group, trial.data.point_id}].insert(trial.data.seed);
    } else {
      ++missing;
    }
  }
  size_t fewest = SIZE_MAX;
  for (const auto& [point, of_point] : seeds) fewest = std::min(fewest, of_point.size());
  std::vector<std::string> limits;
  if (!seeds.empty() && fewest == 1) {
    limits.push_back(
        "One seed: intervals cover the episodes and iterations of this run and its policy. The spread between seeds was not "
        "measured (sweep.seeds).");
  } else if (!seeds.empty() && fewest < 10) {
    limits.push_back(fmt::format("At least {} seeds per point: intervals are wide and hide small differences.", fewest));
  }
  if (missing > 0)
    limits.push_back(fmt::format("{} of {} trials have no result; the table of trials without a result has the reasons.",
                                 missing, combined.trials.size()));
  AddBudgetLimits(combined, &limits);
  if (combined.replaced > 0)
    limits.push_back(fmt::format("{} trials were in several results folders; the newest result counts.", combined.replaced));
  for (const std::string& warning : combined.warnings) limits.push_back(warning);
  return limits;
}

void AddLimit(const std::string& sentence, Document* document) {
  for (Section& section : document->sections) {
    if (section.id != "limits") continue;
    for (Block& block : section.blocks) {
      if (auto* list = std::get_if<BulletList>(&block)) list->items.push_back(sentence);
    }
  }
}

}  // namespace backplane
