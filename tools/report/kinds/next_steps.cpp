#include "kinds/next_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/shell_argument.hpp"
#include "record/compare_terms.hpp"

namespace backplane {
namespace {

// By the folder, which knows how it was called.
std::string CommandOf(const ResultSet& set, const std::string& program) {
  if (set.run.arguments && !set.run.arguments->command.empty()) return set.run.arguments->command;
  return fmt::format("{} {} {}", program, CommandOfExperiment(set.config), ShellArgument(set.out.string()));
}

struct Unfinished {
  size_t begun = 0, waiting = 0;  // trials
  uint64_t iteration = 0;         // the highest one
};

Unfinished CountUnfinished(const ResultSet& set) {
  Unfinished unfinished;
  for (const TrialData& trial : set.trials) {
    if (trial.state != TrialState::kPlanned && trial.state != TrialState::kRunning) continue;
    ++(trial.outcome || trial.state == TrialState::kRunning ? unfinished.begun : unfinished.waiting);
    for (const auto& [name, curve] : trial.curves)
      if (!curve.empty()) unfinished.iteration = std::max(unfinished.iteration, curve.back().iteration);
  }
  return unfinished;
}

}  // namespace

std::vector<std::string> HowToGoOn(const ResultSet& set, const std::string& program) {
  const auto [begun, waiting, iteration] = CountUnfinished(set);
  if (set.why_ended == "done" || begun + waiting == 0) return {};
  const size_t all = set.trials.size();
  std::vector<std::string> parts = {fmt::format("{} of {} {} {} finished", all - begun - waiting, all,
                                                all == 1 ? "trial" : "trials",
                                                all == 1 || all - begun - waiting == 1 ? "is" : "are")};
  if (begun > 0) parts.push_back(fmt::format("{} {} begun", begun, begun == 1 ? "has" : "have"));
  if (begun == 1 && iteration > 0) parts.back() += fmt::format(" (iteration {})", iteration);
  if (waiting > 0) parts.push_back(fmt::format("{} {} not started", waiting, waiting == 1 ? "has" : "have"));
  const std::string how = set.why_ended.empty()                 ? "Not finished"
                          : set.why_ended.starts_with("paused") ? "Stopped before the end (" + set.why_ended + ")"
                                                                : "Stopped before the end";
  return {fmt::format("{}: {}.", how, fmt::join(parts, ", ")), "To resume: " + CommandOf(set, program)};
}

std::string AfterColon(std::string headline) {
  for (const char* const word : {"No ", "Only ", "Not "})
    if (headline.starts_with(word)) headline[0] = static_cast<char>(headline[0] - 'A' + 'a');
  return headline;
}

std::string AsMeasured(const std::string& why_void, const std::string& headline) {
  if (why_void.empty()) return headline;
  return fmt::format("{}. As measured: {}", why_void, AfterColon(headline));
}

std::string HowToTrust(const std::vector<ResultSet>& sets, const std::string& program) {
  std::vector<std::string> commands;
  for (const ResultSet& set : sets) commands.push_back(CommandOf(set, program) + " --fresh");
  return fmt::format("To get valid times, stop the other programs (`uptime` then shows a load near 0) and measure again: {}",
                     fmt::join(commands, "; "));
}

}  // namespace backplane
