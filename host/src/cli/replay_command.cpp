#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "base/files.hpp"
#include "cli/commands.hpp"
#include "cli/plugin_search.hpp"
#include "store/plan_file.hpp"
#include "store/results_folder.hpp"
#include "supervise/layout.hpp"
#include "supervise/local_engine.hpp"
#include "supervise/outcome.hpp"
#include "supervise/resources.hpp"
#include "supervise/result.hpp"
#include "trial/contract.hpp"

namespace backplane {
namespace {

std::vector<PlanLine> PlanOf(const std::filesystem::path& out) {
  const std::filesystem::path file = ResultsFolder{out}.plan();
  return std::filesystem::exists(file) ? ReadPlanFile(file) : std::vector<PlanLine>();
}

// A replay with another plugin is no replay.
void SayWhatChanged(const std::filesystem::path& out, const std::string& trial_id, const TrialSpec& spec) {
  for (const PlanLine& line : PlanOf(out)) {
    if (line.trial_id != trial_id) continue;
    for (const auto& [key, file] : {std::pair("env.plugin", spec.env.file), std::pair("learner.plugin", spec.learner.file)}) {
      const auto then = line.files.find(key);
      if (then != line.files.end() && then->second != Sha256OfFile(file))
        std::fprintf(stderr, "%s is not what it was when the trial ran: %s has changed\n", key, file.c_str());
    }
  }
}

// The full id of the one trial of the folder that has this name or whose id starts so. Throws std::runtime_error if there is
// none or more than one.
std::string FindTrial(const std::filesystem::path& out, const std::string& prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(out / "trials", error)) {
    const std::string id = entry.path().filename().string();
    if (id.starts_with(prefix)) found.push_back(id);
  }
  if (error) throw std::runtime_error(out.string() + " is no results folder: it has no trials/");
  for (const PlanLine& line : PlanOf(out)) {
    if (!line.dropped && (line.name == prefix || DisplayName(line, true) == prefix)) found.push_back(line.trial_id);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty())
    throw std::runtime_error("no trial of " + out.string() + " has the name '" + prefix + "' or an id that starts so");
  if (found.size() > 1)
    throw std::runtime_error("more than one trial has the name or an id that starts with '" + prefix + "': " + found[0] + ", " +
                             found[1]);
  return found.front();
}

// The lines of metrics.jsonl without what depends on the clock and the machine.
std::vector<std::string> Values(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::istringstream text(ReadFile(file).value_or(""));
  for (std::string line; std::getline(text, line);) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) break;  // torn
    json.erase("time");
    lines.push_back(json.dump());
  }
  return lines;
}

// Every iteration of the trial, from whichever attempt reached it last.
std::vector<std::string> RecordedValues(const TrialFolder& folder) {
  std::vector<std::string> lines;
  for (unsigned number = 1; number <= folder.LastAttempt(); ++number) {
    for (const std::string& line : Values(folder.attempt(number) / "metrics.jsonl")) {
      const size_t at = nlohmann::json::parse(line).value("iteration", size_t{0});
      if (at == 0) continue;
      lines.resize(std::max(lines.size(), at));
      lines[at - 1] = line;
    }
  }
  return lines;
}

int Compare(const TrialFolder& folder, const std::filesystem::path& again) {
  const std::vector<std::string> before = RecordedValues(folder), now = Values(again / "metrics.jsonl");
  const size_t both = std::min(before.size(), now.size());
  for (size_t i = 0; i < both; ++i) {
    if (before[i] == now[i]) continue;
    std::printf("iteration %zu differs from the record:\n  recorded  %s\n  replayed  %s\n", i + 1, before[i].c_str(),
                now[i].c_str());
    return kFailed;
  }
  if (both == 0) {
    std::printf("nothing to compare: %zu iterations recorded, %zu replayed\n", before.size(), now.size());
    return kFailed;
  }
  std::printf("%zu iterations replayed, %zu of them recorded before: equal bit for bit\n", now.size(), both);
  return kOk;
}

ChildExit WaitForOne(Engine& engine) {
  for (;;) {
    for (const JobEnd& end : engine.Wait(1000)) return end.exit;
  }
}

}  // namespace

int ReplayCommand(const ReplayArgs& args) {
  const TrialFolder folder = TrialFolderOf(args.out, FindTrial(args.out, args.trial));
  const auto text = ReadFile(folder.trial_json());
  if (!text) throw std::runtime_error(folder.trial_json().string() + " cannot be read");
  TrialSpec spec = TrialSpecFromJson(nlohmann::json::parse(*text));
  SayWhatChanged(args.out, folder.folder.filename(), spec);
  unsigned number = 1;
  while (std::filesystem::exists(folder.folder / ("replay-" + std::to_string(number)))) ++number;
  spec.attempt_dir = folder.folder / ("replay-" + std::to_string(number));
  spec.checkpoint_dir = spec.attempt_dir / "checkpoint";
  spec.resume = false;
  std::filesystem::create_directories(spec.attempt_dir);
  const std::filesystem::path trial_json = spec.attempt_dir / "trial.json";
  WriteFileAtomic(trial_json, ToJson(spec).dump(1));
  const std::string program = OwnProgram().string();
  if (args.gdb) {
    execlp("gdb", "gdb", "--args", program.c_str(), "run-trial", trial_json.c_str(), nullptr);
    throw std::runtime_error("gdb cannot be started: is it installed?");
  }
  std::fprintf(stderr, "replaying trial %s in %s\n", folder.folder.filename().c_str(), spec.attempt_dir.c_str());
  TrialCommand command;
  command.child.program = program;
  command.child.arguments = {"run-trial", trial_json.string()};
  command.child.stdout_file = spec.attempt_dir / "stdout.log";
  command.child.stderr_file = spec.attempt_dir / "stderr.log";
  Slots slots(ThisMachine(), {});
  slots.Require(spec.experiment.resources);
  command.grant = slots.Take(spec.experiment.resources, /*exclusive=*/false).value();
  LocalEngine engine(program);
  engine.Start(command);
  const ChildExit exit = WaitForOne(engine);
  if (exit.signal != 0 || exit.code != 0) {
    std::printf("the replay ended with %s; its log is %s\n",
                exit.signal != 0 ? SignalName(exit.signal).c_str() : ("exit code " + std::to_string(exit.code)).c_str(),
                command.child.stderr_file.c_str());
  }
  const int compared = Compare(folder, spec.attempt_dir);
  if (exit.signal == 0 && exit.code == 0) return compared;
  const auto before = ReadResultJson(folder.attempt(folder.LastAttempt()) / "result.json");
  const auto now = ReadResultJson(spec.attempt_dir / "result.json");
  const bool as_recorded = before && now && ParseResult(*before).outcome == ParseResult(*now).outcome;
  if (as_recorded) std::printf("it failed as recorded (%s)\n", ParseResult(*now).outcome.c_str());
  return kFailed;
}

}  // namespace backplane
