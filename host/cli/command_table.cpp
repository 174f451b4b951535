#include "arguments/tool_commands.hpp"
#include "cli/commands.hpp"

namespace backplane {

using Commands = std::vector<Command>;

// In the order of --help. For a new command, add its file with arguments and action, and its name here.
#define COMMANDS(of)                                                                                                   \
  of(Run) of(Bench) of(Tune) of(Compare) of(Gate) of(RunTrial) of(Replay) of(Evaluate) of(Render) of(Config) of(Batch) \
      of(Store) of(Report) of(Export) of(Import) of(Archive) of(Plugin) of(Validate) of(New) of(Dev) of(Sdk) of(Setup) \
          of(Doctor) of(Completion)

#define DECLARED(name) Commands name##Commands();
COMMANDS(DECLARED)

Commands AllCommands() {
  Commands all;
#define LISTED(name) name##Commands,
  for (const auto& commands : {COMMANDS(LISTED)}) {
    for (Command& command : commands()) all.push_back(std::move(command));
  }
  return all;
}

// Commands that tools carry out.
Command OfTool(const ToolCommand& command) { return {command.name, command.help, nullptr, command.tool}; }
Commands BenchCommands() { return {OfTool(kBenchCommand)}; }
Commands TuneCommands() { return {OfTool(kTuneCommand)}; }
Commands CompareCommands() { return {OfTool(kCompareCommand)}; }
Commands GateCommands() { return {OfTool(kGateCommand), OfTool(kGateSaveCommand)}; }
Commands ValidateCommands() { return {OfTool(kPluginValidateCommand)}; }
Commands RunTrialCommands() { return {OfTool(kRunTrialCommand)}; }
Commands EvaluateCommands() { return {OfTool(kEvaluateCommand), OfTool(kInspectCommand)}; }
Commands ArchiveCommands() {
  return {OfTool(kPackCommand), OfTool(kUnpackCommand), OfTool(kVerifyCommand), OfTool(kGcCommand)};
}
Commands ImportCommands() { return {OfTool(kImportCommand), OfTool(kImportPolicyCommand)}; }
Commands NewCommands() { return {OfTool(kNewCommand)}; }
Commands SdkCommands() { return {OfTool(kSdkCommand)}; }
Commands SetupCommands() {
  return {{"setup", "Install libraries that some plugins need", nullptr}, OfTool(kSetupTorchCommand)};
}

}  // namespace backplane
