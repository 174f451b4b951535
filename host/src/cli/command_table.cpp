#include "cli/commands.hpp"

namespace backplane {

using Commands = std::vector<Command>;

// A new one: its file, with what it takes and does, and two lines here.
Commands RunCommands();
Commands BenchCommands();
Commands TuneCommands();
Commands RunTrialCommands();
Commands ReplayCommands();
Commands RenderCommands();
Commands ConfigCommands();
Commands BatchCommands();
Commands StoreCommands();
Commands ReportCommands();
Commands ExportCommands();
Commands PluginCommands();
Commands DoctorCommands();
Commands CompletionCommands();

Commands AllCommands() {
  Commands all;
  for (const auto& commands :
       {RunCommands, BenchCommands, TuneCommands, RunTrialCommands, ReplayCommands, RenderCommands, ConfigCommands,
        BatchCommands, StoreCommands, ReportCommands, ExportCommands, PluginCommands, DoctorCommands, CompletionCommands}) {
    for (Command& command : commands()) all.push_back(std::move(command));
  }
  return all;
}

}  // namespace backplane
