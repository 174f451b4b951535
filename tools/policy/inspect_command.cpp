// inspect: replays a trial to one moment and shows it.
#include <fmt/format.h>

#include <cmath>

#include "arguments/tool_commands.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/scratch_folder.hpp"
#include "contract/checkpoint_files.hpp"
#include "contract/one_trial.hpp"
#include "log/log.hpp"
#include "plugin/trial_process.hpp"
#include "policy/commands.hpp"
#include "policy/npz_file.hpp"
#include "policy/start_point.hpp"
#include "record/compare_bits.hpp"
#include "record/moment_order.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr double kTold_s = 10;       // a longer replay announces its time
constexpr size_t kShownValues = 24;  // of a channel

struct InspectArgs {
  fs::path out;
  std::string trial;  // as for replay; empty: the only one of the folder
  uint64_t iteration = 0, row = 0, step = 0;
  fs::path dump, picture;  // empty: none
  bool json = false;
};

// The trial in a scratch folder: without monitors, evaluations and rollout workers, which change no bit of the rollouts. The
// budget stays, because the learner may read its progress.
OneTrial InScratch(const OneTrial& trial, const StartPoint& start, const fs::path& scratch, const fs::path& out) {
  OneTrial copy = trial;
  copy.folder = TrialFolder{scratch};
  TrialSpec& spec = copy.spec;
  spec.attempt_dir = copy.folder.attempt(1).folder;
  spec.checkpoint_dir = copy.folder.checkpoint();
  spec.resume = !start.file.empty();
  if (spec.start_from)  // the folder may have been moved since
    spec.start_from->MoveTo(ResultsFolder{fs::absolute(out)});
  spec.monitors.clear();
  spec.experiment.monitors.clear();
  spec.experiment.evaluation = {};
  spec.experiment.checkpoint = {};
  spec.experiment.rollout.workers = 0;
  fs::create_directories(spec.attempt_dir);
  fs::create_directories(spec.checkpoint_dir);
  if (spec.resume) fs::copy_file(start.file, CheckpointFile(spec.checkpoint_dir, 0));
  WriteFileAtomic(copy.folder.trial_json(), ToJson(spec).dump(1));
  return copy;
}

void PrintChannel(const MomentChannel& channel) {
  std::string values;
  for (size_t i = 0; i < std::min(channel.values.size(), kShownValues); ++i)
    values += fmt::format("{}{:g}", i ? " " : "", channel.values[i]);
  if (channel.values.size() > kShownValues) values += fmt::format(" ... ({} numbers)", channel.values.size());
  fmt::print("{:<13} {:<28} {}\n", channel.role, channel.name, values);
}

void Announce(const OneTrial& trial, const StartPoint& start, uint64_t iteration) {
  const std::optional<double> seconds = SecondsOf(trial.folder, start.iterations, iteration);
  if (seconds && *seconds > kTold_s)
    LogInfo(
        "replaying {} iterations from {}, which took about {} in the trial", iteration - start.iterations,
        start.file.empty() ? std::string("the start") : "the checkpoint after iteration " + std::to_string(start.iterations),
        FormatDuration(*seconds));
}

// Compares the replayed iterations with the record. False if a bit differs, or the iteration was not recorded.
bool Compare(const OneTrial& trial, const OneTrial& replay, uint64_t iteration, std::string* sentence) {
  const RecordedBits recorded(trial.folder.folder), replayed(replay.spec.attempt_dir);
  if (!recorded.iterations.contains(iteration)) {
    *sentence = fmt::format("no fingerprint of iteration {} was recorded, so the replay was not checked", iteration);
    return false;
  }
  const ComparedBits compared = CompareBits(recorded, replayed);
  *sentence = compared.Sentence();
  if (!compared.equal() || !replayed.iterations.contains(iteration)) return false;
  const uint64_t first = replayed.iterations.begin()->first;
  *sentence = fmt::format(
      "bit-equal to the record: {}, {} hashes",
      first == iteration ? fmt::format("iteration {}", iteration) : fmt::format("iterations {} to {}", first, iteration),
      compared.hashes);
  return true;
}

MomentAnswer ReadAnswer(const fs::path& folder, const InspectArgs& args) {
  const std::optional<std::string> text = ReadFile(folder / "moment.json");
  if (!text)
    throw std::runtime_error(fmt::format(
        "--iteration: expected an iteration that the trial reached, got {}; the replay ended earlier", args.iteration));
  return RecordFromJson<MomentAnswer>(nlohmann::json::parse(*text));
}

void WriteFiles(const InspectArgs& args, const MomentAnswer& answer, const fs::path& folder) {
  if (!args.dump.empty()) {
    std::vector<std::pair<std::string, fs::path>> arrays;
    for (const MomentChannel& channel : answer.channels) arrays.emplace_back(channel.name, folder / channel.file);
    WriteNpz(args.dump, arrays);
  }
  if (args.picture.empty()) return;
  if (!answer.picture) throw std::runtime_error("--picture: " + answer.why_not);
  const fs::path svg = folder / "moment.svg";
  fs::copy_file(fs::exists(svg) ? svg : folder / "moment.png", args.picture, fs::copy_options::overwrite_existing);
}

int Inspect(const InspectArgs& args) {
  const OneTrial trial = OpenTrial(args.out, args.trial);
  for (const std::string& warning : trial.warnings) LogWarning("warning: {}", warning);
  if (trial.spec.experiment.HasCommand())
    throw std::runtime_error("trial " + trial.name +
                             ": learner: expected a plugin, got a command, whose steps are not recorded");
  const StartPoint start = NearestBefore(trial.folder, args.iteration);
  Announce(trial, start, args.iteration);
  const ScratchFolder scratch;
  const OneTrial replay = InScratch(trial, start, scratch.path(), args.out);
  const fs::path moment = scratch.path() / "moment";
  fs::create_directories(moment);
  const fs::path order = scratch.path() / "order.json";
  WriteFileAtomic(order, JsonText(ToJson(MomentOrder{args.iteration, args.row, args.step, moment})));
  RunTrialProcess(replay.folder.trial_json(), {"--inspect", order.string()});
  const MomentAnswer answer = ReadAnswer(moment, args);
  std::string sentence;
  const bool equal = Compare(trial, replay, args.iteration, &sentence);
  WriteFiles(args, answer, moment);
  if (args.json) {
    nlohmann::ordered_json json = {{"trial", trial.id},       {"iteration", args.iteration}, {"row", args.row},
                                   {"step", args.step},       {"start", start.iterations},   {"equal", equal},
                                   {"fingerprints", sentence}};
    json.update(ToJson<nlohmann::ordered_json>(answer));
    fmt::print("{}\n", JsonText(json, 2));
  } else {
    fmt::print("iteration {}, row {}, step {}\nreplay: {}\n\n", args.iteration, args.row, args.step, sentence);
    for (const MomentChannel& channel : answer.channels) PrintChannel(channel);
  }
  return equal ? kOk : kFailed;
}

}  // namespace

Command InspectCommand() {
  const auto declare = [](InspectArgs* args, Arguments* add) {
    add->Out(&args->out, "Results folder");
    add->Add("trial", "TRIAL", &args->trial, "Trial name, id or start of the id; needed if there are several");
    add->Add("--iteration", "N", &args->iteration, "Iteration, from 1").Within(uint64_t{1}, uint64_t{1} << 40).Required();
    add->Add("--row", "N", &args->row, "Env (row) of the rollout, from 0").ShowsDefault();
    add->Add("--step", "N", &args->step, "Step of the rollout, from 0").ShowsDefault();
    add->Add("--dump", "FILE", &args->dump, "Write the whole rollout as .npz");
    add->Add("--picture", "FILE", &args->picture, "Write the picture of the state as .svg, or .png if the env draws pixels");
    add->Flag("--json", &args->json, "Print the moment as JSON");
  };
  return MakeCommand<InspectArgs>(kInspectCommand.name, kInspectCommand.help, declare, Inspect);
}

}  // namespace backplane
