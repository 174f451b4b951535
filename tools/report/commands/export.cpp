// --export: results as a table, for TensorBoard or for Optuna.
#include <cstdio>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "commands/commands.hpp"
#include "export/csv.hpp"
#include "export/optuna_export.hpp"
#include "export/tb_export.hpp"
#include "log/log.hpp"
#include "record/report_requests.hpp"
#include "results/study_of_sweep.hpp"
#include "yaml/errors.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

struct Results {
  ResultsFolder folder;
  std::vector<PlanLine> plan;
  BatchRecord record;
};

int ExportCsv(const Results& results, const std::string& to) {
  const std::string text = FormatCsv(results.folder, results.plan, results.record);
  if (to.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    WriteFileAtomic(to, text);
  }
  return 0;
}

int ExportTb(const Results& results, const std::string& to) {
  const std::filesystem::path& out = results.folder.out;
  const std::filesystem::path folder = to.empty() ? out / "tb" : std::filesystem::path(to);
  const size_t trials = ExportTensorBoard(results.folder, results.plan, results.record, folder);
  if (trials == 0) {
    LogError("backplane: no trial in {} has finished an iteration, so there is nothing to export", out.string());
    return 1;
  }
  std::printf("%s: %zu %s; to see them: tensorboard --logdir %s\n", folder.c_str(), trials, trials == 1 ? "trial" : "trials",
              folder.c_str());
  return 0;
}

nlohmann::json ConfigOf(const ResultsFolder& folder) {
  const std::string text = ReadFile(folder.config()).value_or("");
  Errors errors;
  const std::optional<Node> root = ParseDocument(text, MakeSource(folder.config().string(), "", text, 0), &errors);
  return root && errors.empty() ? PlainJson(*root) : nlohmann::json();
}

// A sweep without a search counts as a study of the metric that its report selects by.
int ExportOptuna(const Results& results, const std::string& to) {
  const auto& [folder, plan, record] = results;
  std::optional<Study> study = StudyOfSearch(plan, record);
  if (!study) {
    const nlohmann::json config = ConfigOf(folder);
    const nlohmann::json& selects = At(At(config, "report"), "select");
    const nlohmann::json& select = selects.is_array() && !selects.empty() ? selects.front() : selects;
    const std::string direction = Text(At(select, "direction"));
    study = StudyOfSweep(folder, plan, record, Text(At(select, "metric")),
                         direction.empty() ? std::nullopt : std::optional(direction == "maximize"));
    study->name = Text(At(config, "experiment"), "experiment");
  }
  const std::filesystem::path file = to.empty() ? folder.out / "optuna.journal" : std::filesystem::path(to);
  WriteFileAtomic(file, FormatOptunaJournal(*study, folder, record));
  std::printf("%s: %zu trials by %s; optuna-dashboard %s shows them (pip install optuna-dashboard)\n", file.c_str(),
              study->trials.size(), study->metric.c_str(), file.c_str());
  return 0;
}

}  // namespace

int ExportCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<ExportRequest>(json);
  const ResultsFolder folder{request.out};
  const Results results{folder, ReadPlanFile(folder.plan()), ReadBatchRecord(folder.events())};
  if (request.format == "tb") return ExportTb(results, request.to);
  return request.format == "optuna" ? ExportOptuna(results, request.to) : ExportCsv(results, request.to);
}

}  // namespace backplane
