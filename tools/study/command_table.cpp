#include <iterator>

#include "study/commands.hpp"

namespace backplane {

std::vector<Command> StudyCommands() {
  std::vector<Command> all;
  for (const auto& commands : {BenchCommands, TuneCommands, CompareCommands, GateCommands}) {
    for (Command& command : commands()) all.push_back(std::move(command));
  }
  return all;
}

}  // namespace backplane
