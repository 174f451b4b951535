#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/json_text.hpp"
#include "base/signal_text.hpp"
#include "cli/commands.hpp"
#include "cli/run_for_trial.hpp"
#include "log/log.hpp"
#include "plugin/plugin_search.hpp"
#include "record/attempt_json.hpp"
#include "record/compare_bits.hpp"
#include "store/out_folder.hpp"

namespace backplane {
namespace {

struct ReplayArgs {
  std::filesystem::path out;
  std::string trial;  // its id, or how it begins
  bool gdb = false;
};

using ValuesByIteration = std::map<size_t, std::string>;

// The lines of metrics.jsonl without what depends on the clock and the machine, into `lines`.
void AddValues(const std::filesystem::path& file, ValuesByIteration* lines) {
  ForEachIteration(file, [&](const Iteration& line) {
    (*lines)[line.iteration.value_or(0)] = JsonText(ToJson<nlohmann::json, IterationMeasures>(line));
  });
}

// False if something differs. A record without fingerprints is not compared.
bool CompareFingerprints(const TrialFolder& folder, const std::filesystem::path& again) {
  const RecordedBits recorded(folder.folder), replayed(again);
  if (recorded.iterations.empty() || replayed.iterations.empty()) return true;
  const ComparedBits compared = CompareBits(recorded, replayed);
  if (compared.iterations > 0 || compared.first_difference) std::printf("fingerprints: %s\n", compared.Sentence().c_str());
  for (const std::string& note : compared.notes) std::printf("  note: %s (a: recorded, b: replayed)\n", note.c_str());
  return !compared.first_difference;
}

int Compare(const TrialFolder& folder, const std::filesystem::path& again) {
  ValuesByIteration before, now;
  // Every iteration counts as the attempt that reached it last has it.
  for (unsigned number = 1; number <= folder.LastAttempt(); ++number) AddValues(folder.attempt(number).metrics(), &before);
  AddValues(AttemptFolder(again).metrics(), &now);
  size_t both = 0;
  for (const auto& [iteration, line] : now) {
    const auto recorded = before.find(iteration);
    if (recorded == before.end()) continue;
    ++both;
    if (recorded->second == line) continue;
    std::printf("iteration %zu differs from the record:\n  recorded  %s\n  replayed  %s\n", iteration, recorded->second.c_str(),
                line.c_str());
    return kFailed;
  }
  if (both == 0) {
    std::printf("nothing to compare: %zu iterations recorded, %zu replayed\n", before.size(), now.size());
    return kFailed;
  }
  std::printf("%zu iterations replayed; the %zu recorded ones are equal bit for bit\n", now.size(), both);
  return kOk;
}

int ReplayCommand(const ReplayArgs& args) {
  const OneTrial trial = OpenTrialWithWarnings(args.out, args.trial);
  const TrialFolder& folder = trial.folder;
  TrialSpec spec = trial.spec;
  unsigned number = 1;
  while (std::filesystem::exists(folder.replay(number).folder)) ++number;
  const TrialFolder replay = folder.replay(number);
  spec.attempt_dir = replay.folder;
  spec.checkpoint_dir = replay.checkpoint();
  spec.resume = false;
  // The folder may have been moved since.
  if (spec.start_from) spec.start_from->MoveTo(ResultsFolder{std::filesystem::absolute(args.out)});
  std::filesystem::create_directories(spec.attempt_dir);
  const std::filesystem::path trial_json = replay.trial_json();
  WriteFileAtomic(trial_json, ToJson(spec).dump(1));
  if (args.gdb) {
    const std::string program = TrialProgram().string();
    execlp("gdb", "gdb", "--args", program.c_str(), "run-trial", trial_json.c_str(), nullptr);
    throw std::runtime_error("cannot start gdb\nhint: install it, or repeat the command without --gdb");
  }
  LogInfo("replaying trial {} in {}", trial.id, spec.attempt_dir.string());
  const ChildExit exit = RunForTrial(trial, {"run-trial", trial_json.string()}, spec.attempt_dir);
  if (exit.signal != 0 || exit.code != 0) {
    std::printf("the replay ended with %s; its log is %s\n",
                exit.signal != 0 ? SignalText(exit.signal).c_str() : ("exit code " + std::to_string(exit.code)).c_str(),
                AttemptFolder(spec.attempt_dir).standard_error().c_str());
  }
  const bool same_bits = CompareFingerprints(folder, spec.attempt_dir);
  const int compared = std::max<int>(Compare(folder, spec.attempt_dir), same_bits ? kOk : kFailed);
  if (exit.signal == 0 && exit.code == 0) return compared;
  const TrialResult before = ReadResult(folder.attempt(folder.LastAttempt())), now = ReadResult(spec.attempt_dir);
  const bool as_recorded = before.state && now.state && before.outcome == now.outcome;
  if (as_recorded) std::printf("the replay failed like the recorded trial (%s)\n", Word(now.outcome));
  return kFailed;
}

}  // namespace

std::vector<Command> ReplayCommands() {
  const auto declare = [](ReplayArgs* args, Arguments* add) {
    add->Out(&args->out, "Results folder");
    add->Add("trial", "TRIAL", &args->trial, "Trial name, id or start of the id; needed if there are several");
    add->Flag("--gdb", &args->gdb, "Run the trial under gdb");
  };
  return {MakeCommand<ReplayArgs>("replay", "Run one trial again and compare it with its record", declare, ReplayCommand)};
}

}  // namespace backplane
