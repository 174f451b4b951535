// store rebuild and export: the results in other forms.
#include <cstdio>

#include "arguments/tool_commands.hpp"
#include "cli/commands.hpp"
#include "cli/damage_text.hpp"
#include "input/foreign_runs.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/not_results.hpp"
#include "record/report_requests.hpp"
#include "record/results_folder.hpp"
#include "store/database.hpp"
#include "store/out_folder.hpp"

namespace backplane {
namespace {

struct RebuildArgs {
  std::filesystem::path out;
};

struct ExportArgs {
  std::string format;  // csv, tb, sqlite, optuna
  std::filesystem::path out;
  std::filesystem::path to;  // empty: standard output, OUT/tb for tb, OUT/optuna.journal for optuna; given for sqlite
  std::string typed_program;
};

// Prints an error if it is not one.
bool IsResultsFolder(const std::filesystem::path& out) {
  if (std::filesystem::exists(ResultsFolder{out}.plan())) {
    return true;
  }
  LogError("backplane: {}", NotResults(out));
  return false;
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
  std::printf("%s: rebuilt from %llu events\n", folder.database().c_str(), static_cast<unsigned long long>(record.last_seq));
  return SayDamage(DamageIn(folder, record)) ? static_cast<int>(kFailed) : static_cast<int>(kOk);
}

int ExportCommand(const ExportArgs& given) {
  ExportArgs args = given;
  std::vector<std::filesystem::path> folders = {args.out};
  if (!ReplaceForeign(&folders, args.typed_program)) return kUsage;
  args.out = folders.front();
  if (!IsResultsFolder(args.out)) {
    return kUsage;
  }
  const ResultsFolder folder{args.out};
  int code = kOk;
  if (args.format == "sqlite") {
    CopyDatabase(args.out, args.to);
    std::printf("%s: a copy of %s\n", args.to.c_str(), folder.database().c_str());
  } else {
    code = ReportProgram().Show("--export", ToJson(ExportRequest{args.out, args.format, args.to}));
  }
  const bool damaged = SayDamage(DamageIn(folder, ReadBatchRecord(folder.events()), ReadPlanFile(folder.plan())));
  return damaged ? static_cast<int>(kFailed) : code;
}

}  // namespace

std::vector<Command> StoreCommands() {
  return {{"store", "Maintain the tables of OUT/results.sqlite", nullptr},
          MakeCommand<RebuildArgs>(
              "store rebuild", "Rebuild OUT/results.sqlite from the events and trial files",
              [](RebuildArgs* args, Arguments* add) { add->Out(&args->out); }, StoreRebuildCommand)};
}

std::vector<Command> ExportCommands() {
  struct Format {
    const char *name, *help, *to, *to_type;
  };
  const Format formats[] = {
      {"csv", "Write a table with a row per trial", "File to write instead of standard output", "FILE"},
      {"tb", "Write TensorBoard event files, a folder per trial", "Folder to write to instead of OUT/tb", "FOLDER"},
      {"sqlite", "Copy results.sqlite into a single self-contained file", "File to write", "FILE"},
      {"optuna", "Write a study for Optuna and optuna-dashboard", "File to write instead of OUT/optuna.journal", "FILE"}};
  std::vector<Command> commands = {{"export", "Convert results to other formats", nullptr}};
  for (const Format& format : formats) {
    const auto declare = [format](ExportArgs* args, Arguments* add) {
      args->format = format.name;
      args->typed_program = add->program();
      add->Out(&args->out);
      Argument to = add->Add("--to", format.to_type, &args->to, format.to);
      if (args->format == "sqlite") to.Required();
    };
    commands.push_back(MakeCommand<ExportArgs>(std::string("export ") + format.name, format.help, declare, ExportCommand));
  }
  commands.push_back({kExportPolicyCommand.name, kExportPolicyCommand.help, nullptr, kExportPolicyCommand.tool});
  for (const ToolCommand& command : kExportRunsCommands)
    commands.push_back({command.name, command.help, nullptr, command.tool});
  return commands;
}

}  // namespace backplane
