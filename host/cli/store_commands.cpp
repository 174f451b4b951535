// store rebuild and export: the results in other forms.
#include <cstdio>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "cli/commands.hpp"
#include "cli/damage_text.hpp"
#include "log/log.hpp"
#include "record/results_folder.hpp"
#include "store/csv.hpp"
#include "store/database.hpp"
#include "store/optuna_export.hpp"
#include "store/out_folder.hpp"
#include "store/tb_export.hpp"
#include "yaml/errors.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

struct RebuildArgs {
  std::filesystem::path out;
};

struct ExportArgs {
  std::string format;  // csv, tb, sqlite, optuna
  std::filesystem::path out;
  std::filesystem::path to;  // empty: standard output, OUT/tb for tb, OUT/optuna.journal for optuna; given for sqlite
};

// Says so if it is none.
bool IsResultsFolder(const std::filesystem::path& out) {
  if (std::filesystem::exists(ResultsFolder{out}.plan())) {
    return true;
  }
  LogError("backplane: {} is no results folder: it has no {}", out.string(), kPlanName);
  return false;
}

int ExportCsv(const ExportArgs& args) {
  const ResultsFolder folder{args.out};
  const std::string text = FormatCsv(folder, ReadPlanFile(folder.plan()), ReadBatchRecord(folder.events()));
  if (args.to.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    WriteFileAtomic(args.to, text);
  }
  return kOk;
}

int ExportTb(const ExportArgs& args) {
  const ResultsFolder folder{args.out};
  const std::filesystem::path to = args.to.empty() ? args.out / "tb" : args.to;
  const size_t trials = ExportTensorBoard(folder, ReadPlanFile(folder.plan()), ReadBatchRecord(folder.events()), to);
  if (trials == 0) {
    LogError("backplane: nothing to export: no trial of {} has finished an iteration", args.out.string());
    return kFailed;
  }
  std::printf("%s: %zu trials; tensorboard --logdir %s shows them\n", to.c_str(), trials, to.c_str());
  return kOk;
}

int ExportSqlite(const ExportArgs& args) {
  CopyDatabase(args.out, args.to);
  std::printf("%s: a copy of %s\n", args.to.c_str(), ResultsFolder{args.out}.database().c_str());
  return kOk;
}

nlohmann::json ConfigOf(const ResultsFolder& folder) {
  const std::string text = ReadFile(folder.config()).value_or("");
  Errors errors;
  const std::optional<Node> root = ParseDocument(text, MakeSource(folder.config().string(), "", text, 0), &errors);
  return root && errors.empty() ? PlainJson(*root) : nlohmann::json();
}

// Of a sweep without a search by the metric that its report selects by, if that is one.
int ExportOptuna(const ExportArgs& args) {
  const ResultsFolder folder{args.out};
  const std::vector<PlanLine> plan = ReadPlanFile(folder.plan());
  const BatchRecord record = ReadBatchRecord(folder.events());
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
  const std::filesystem::path to = args.to.empty() ? args.out / "optuna.journal" : args.to;
  WriteFileAtomic(to, FormatOptunaJournal(*study, folder, record));
  std::printf("%s: %zu trials by %s; optuna-dashboard %s shows them (pip install optuna-dashboard)\n", to.c_str(),
              study->trials.size(), study->metric.c_str(), to.c_str());
  return kOk;
}

int StoreRebuildCommand(const RebuildArgs& args) {
  if (!IsResultsFolder(args.out)) {
    return kUsage;
  }
  const OutLock lock(
      args.out, [](const std::string& text) { LogInfo("{}", text); }, LockFor::kUpkeep);
  const ResultsFolder folder{args.out};
  const BatchRecord record = ReadBatchRecord(folder.events());
  const std::vector<PlanLine> plan = ReadPlanFile(folder.plan());
  // The existing tables contain more than such records.
  if (SayDamage(DamageOfRecords(folder, record, plan))) return kFailed;
  RebuildDatabase(args.out, plan, record);
  std::printf("%s: made from %llu events\n", folder.database().c_str(), static_cast<unsigned long long>(record.last_seq));
  return SayDamage(DamageIn(folder, record)) ? static_cast<int>(kFailed) : static_cast<int>(kOk);
}

int ExportCommand(const ExportArgs& args) {
  if (!IsResultsFolder(args.out)) {
    return kUsage;
  }
  const int code = args.format == "tb"       ? ExportTb(args)
                   : args.format == "sqlite" ? ExportSqlite(args)
                   : args.format == "optuna" ? ExportOptuna(args)
                                             : ExportCsv(args);
  const ResultsFolder folder{args.out};
  const bool damaged = SayDamage(DamageIn(folder, ReadBatchRecord(folder.events()), ReadPlanFile(folder.plan())));
  return damaged ? static_cast<int>(kFailed) : code;
}

}  // namespace

std::vector<Command> StoreCommands() {
  return {{"store", "The tables of a batch, OUT/results.sqlite", nullptr},
          MakeCommand<RebuildArgs>(
              "store rebuild", "Make them anew from the events and the trials' files",
              [](RebuildArgs* args, Arguments* add) { add->Out(&args->out); }, StoreRebuildCommand)};
}

std::vector<Command> ExportCommands() {
  struct Format {
    const char *name, *help, *to, *to_type;
  };
  const Format formats[] = {
      {"csv", "A table with a row per trial", "File to write instead of standard output", "FILE"},
      {"tb", "TensorBoard event files, a folder per trial", "Folder to write to instead of OUT/tb", "FOLDER"},
      {"sqlite", "A copy of results.sqlite that is whole in one file", "File to write", "FILE"},
      {"optuna", "A study that Optuna and optuna-dashboard open", "File to write instead of OUT/optuna.journal", "FILE"}};
  std::vector<Command> commands = {{"export", "The results in another form", nullptr}};
  for (const Format& format : formats) {
    const auto declare = [format](ExportArgs* args, Arguments* add) {
      args->format = format.name;
      add->Out(&args->out);
      Argument to = add->Add("--to", format.to_type, &args->to, format.to);
      if (args->format == "sqlite") to.Required();
    };
    commands.push_back(MakeCommand<ExportArgs>(std::string("export ") + format.name, format.help, declare, ExportCommand));
  }
  return commands;
}

}  // namespace backplane
