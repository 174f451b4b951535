// bench: measures the speed of an experiment, its bottleneck, and the fastest setting.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <set>

#include "arguments/tool_commands.hpp"
#include "base/error_words.hpp"
#include "base/file_name.hpp"
#include "base/files.hpp"
#include "base/format_count.hpp"
#include "base/json_path.hpp"
#include "base/patient_output.hpp"
#include "base/shell_argument.hpp"
#include "contract/schema.hpp"
#include "input/report_program.hpp"
#include "input/split_commas.hpp"
#include "log/log.hpp"
#include "machine/cpu.hpp"
#include "machine/gpus.hpp"
#include "plugin/loader.hpp"
#include "record/gpu_figures.hpp"
#include "record/host_info.hpp"
#include "study/bench_file.hpp"
#include "study/commands.hpp"
#include "study/host_program.hpp"
#include "study/speed_subject.hpp"
#include "yaml/recommended_file.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

struct BenchArgs {
  FileArgs input;
  std::string typed_program;
  bool all = false;                 // measures the unchanged experiment, also with `batch`
  bool batch = false;               // varies envs per runner,
  bool autotune = false;            // varies rows, chunks and threads, and writes a preset
  std::vector<unsigned> rows = {};  // with these numbers; empty: some
  double seconds = 10;              // training time of each trial
  uint64_t seeds = 1;
  std::filesystem::path out;  // empty: outputs/bench_<experiment>
  bool json = false;
};

constexpr char kRowsPath[] = "rollout.num_envs_per_env_runner";
constexpr uint64_t kDefaultRows[] = {1, 4, 16, 64, 256}, kTunedRows[] = {16, 64, 256};

double GiB(uint64_t bytes) { return static_cast<double>(bytes) / (1ull << 30); }

void PrintFacts(const HostInfo& host, const std::vector<DeviceInfo>& devices) {
  std::string gpus;
  for (const DeviceInfo& device : devices)
    gpus += fmt::format("{}{}, {:.0f} GiB", gpus.empty() ? "" : "; ", device.name, GiB(device.memory_bytes));
  const std::string torch = TorchVersionAt(FindTorchLib());
  fmt::print("machine: {}\n  cores granted: {}   memory: {:.1f} GiB   GPUs: {}   LibTorch: {}\n  numerics: {}\n", host.cpu,
             host.granted_cores, GiB(host.memory_bytes), gpus.empty() ? "none" : gpus, torch.empty() ? "none" : torch,
             host.cpu_flags);
  for (const GpuFigures& figures : FiguresOf(OwnGpus())) fmt::print("  {}: {}\n", figures.name, Sentence(figures));
  std::fflush(stdout);
}

// Paths that differ between the experiments and affect a trial's computation.
void AddChanges(const nlohmann::json& from, const nlohmann::json& to, const std::string& path, BenchPoint* point) {
  if (!from.is_object() || !to.is_object()) {
    if (from != to) point->values.emplace_back(path, to);
    return;
  }
  for (const auto& [key, value] : to.items()) AddChanges(from.value(key, nlohmann::json()), value, path + "." + key, point);
}

BenchPoint PresetPoint(const Experiment& plain, const Experiment& with_preset) {
  BenchPoint point{"preset_" + with_preset.preset.value_or("none"), {}};
  for (const HostKey& key : HostKeys()) {
    const bool compared = key.path.starts_with("rollout.") || key.path == "env.options" || key.path == "learner.options" ||
                          (key.path.starts_with("resources.") && key.path != "resources.exclusive");  // as a bench needs it
    if (compared) AddChanges(key.get(key, plain), key.get(key, with_preset), key.path, &point);
  }
  return point;
}

std::vector<BenchPoint> RowPoints(const BenchArgs& args, const Experiment& experiment) {
  std::vector<uint64_t> rows(args.rows.begin(), args.rows.end());
  if (rows.empty()) {
    if (args.autotune)
      rows.assign(std::begin(kTunedRows), std::end(kTunedRows));
    else
      rows.assign(std::begin(kDefaultRows), std::end(kDefaultRows));
    rows.push_back(experiment.rollout.num_envs_per_env_runner);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<BenchPoint> points;
  for (const uint64_t n : rows) points.push_back({fmt::format("{}_envs", n), {{kRowsPath, n}}});
  return points;
}

// Rows x chunks x threads: chunks of the automatic size, a quarter and all of a runner's rows.
std::vector<BenchPoint> TuningPoints(const BenchArgs& args, const Experiment& experiment) {
  std::vector<BenchPoint> points;
  const std::set<unsigned> threads = {1, std::max(GrantedCores() / 2, 1u), GrantedCores()};
  for (const BenchPoint& rows : RowPoints(args, experiment)) {
    const auto n = rows.values.front().second.get<uint64_t>();
    for (const uint64_t chunk : std::set{AutoChunkRows(n), std::max(n / 4, AutoChunkRows(n)), n}) {
      for (const unsigned t : threads) {
        BenchPoint point{fmt::format("{}_chunk_{}_threads_{}", rows.name, chunk, t), rows.values};
        point.values.emplace_back("rollout.chunk_rows", chunk);
        point.values.emplace_back("rollout.threads", t);
        points.push_back(std::move(point));
      }
    }
  }
  return points;
}

std::vector<BenchPoint> PointsOf(const BenchArgs& args, const Experiment& plain, const std::optional<Experiment>& with_preset) {
  std::vector<BenchPoint> points;
  if (args.all || with_preset || args.autotune || !args.batch) points.push_back({"as_it_is", {}});
  if (with_preset) points.push_back(PresetPoint(plain, *with_preset));
  if (args.autotune) {
    for (BenchPoint& point : TuningPoints(args, plain)) points.push_back(std::move(point));
  } else if (args.batch) {
    for (BenchPoint& point : RowPoints(args, plain)) points.push_back(std::move(point));
  }
  return points;
}

// By the mean over seeds; null if none has a speed.
const BenchPoint* Fastest(const BatchMeasures& results, const std::vector<BenchPoint>& points, double* speed) {
  const BenchPoint* fastest = nullptr;
  for (const BenchPoint& point : points) {
    std::vector<double> speeds;
    for (const TrialMeasures& trial : results.trials) {
      const double* sps = trial.usable && trial.point == point.name ? trial.Find("SPS") : nullptr;
      if (sps && std::isfinite(*sps)) speeds.push_back(*sps);
    }
    if (speeds.empty()) continue;
    const double mean = std::accumulate(speeds.begin(), speeds.end(), 0.0) / static_cast<double>(speeds.size());
    if (fastest && mean <= *speed) continue;
    fastest = &point;
    *speed = mean;
  }
  return fastest;
}

std::string AsYaml(const BenchPoint& point) {
  nlohmann::json nested = nlohmann::json::object();
  for (const auto& [path, value] : point.values) SetAtPath(&nested, path, value);
  return YamlText(nested, {});
}

void PrintTrialsWithoutSpeed(const BatchMeasures& results) {
  for (const TrialMeasures& trial : results.trials) {
    if (!trial.usable || trial.Find("SPS")) continue;
    LogInfo("note: {} has no speed: its warm-up iteration took all the time\nhint: use a larger --seconds", trial.name);
  }
}

void PrintFastest(const BenchPoint& fastest, double speed, uint64_t seeds, const std::filesystem::path& file,
                  const std::string& program) {
  const std::string yaml = AsYaml(fastest);
  fmt::print("\nfastest: {}, {} steps/s{}\n{}", fastest.name, FormatCount(static_cast<uint64_t>(speed)),
             yaml.empty() ? "" : "; in an experiment file:", yaml);
  fmt::print("the whole file: {}\nnext: {} run {} {}\n", file.string(), program, ShellArgument(file.string()), kSomeBudget);
  if (seeds == 1) fmt::print("each setting was measured once; use --seeds 3 to separate differences from noise\n");
}

// The fastest setting as a preset for machines like this one. The file name is the preset's name.
void WritePreset(const BenchArgs& args, const Experiment& experiment, const BenchPoint& fastest, double speed,
                 const std::filesystem::path& file) {
  const std::vector<DeviceInfo> devices = DeviceFacts();
  WriteFileAtomic(file, PresetFile(experiment, fastest, speed, devices.empty() ? nullptr : &devices.front()));
  if (!args.json)
    fmt::print("the preset: {}\nnext: {} run {} --preset {}\n", file.string(), args.typed_program,
               ShellArgument(args.input.file.string()), ShellArgument(file.string()));
}

// Writes the fastest of several settings as an experiment file, and with --autotune as a preset.
void ShowResults(const Experiment& experiment, const BenchPlan& plan, const BenchArgs& args) {
  const bool quiet = args.json;
  const std::string& program = args.typed_program;
  const std::filesystem::path report = std::filesystem::path(plan.out) / "report", best = report / kBenchChoice;
  BatchMeasures results;
  try {
    results = MeasuresOf(plan.out);
  } catch (const std::exception& error) {  // the numbers exist nevertheless
    LogError("backplane: cannot find the fastest setting: {}\n  later: {} report {}", WordsOf(error), program,
             ShellArgument(plan.out));
    return;
  }
  double speed = 0;
  const BenchPoint* fastest = plan.points.size() > 1 ? Fastest(results, plan.points, &speed) : nullptr;
  if (fastest) {
    std::filesystem::create_directories(report);
    WriteFileAtomic(best, BestFile(experiment, *fastest, speed));
  }
  if (!quiet) PrintTrialsWithoutSpeed(results);
  if (fastest && !quiet) PrintFastest(*fastest, speed, plan.seeds, best, program);
  if (fastest && args.autotune) WritePreset(args, experiment, *fastest, speed, report / kBenchPreset);
  if (quiet) return;
  const std::filesystem::path numbers = report / (std::string(kBenchReport) + "_results.json");
  if (std::filesystem::exists(numbers)) fmt::print("all numbers: {}\n", numbers.string());
}

std::filesystem::path BenchFolder(const BenchArgs& args, const Experiment& experiment) {
  if (args.out.empty()) return std::filesystem::path("outputs") / (kBenchPrefix + experiment.name);
  return FolderName(args.out);  // its file is next to it: results.yaml
}

// Empty if no other data would be lost. A bench replaces `file` and moves `out` away, so both must be new or its own.
std::string WhyNotThere(const std::filesystem::path& out, const std::filesystem::path& file, const FileArgs& input) {
  std::error_code error;
  if (std::filesystem::equivalent(file, input.file, error)) return file.string() + " is the experiment file itself";
  if (IsBenchFile(ReadFile(file).value_or(""))) return "";
  if (std::filesystem::exists(file)) return file.string() + " exists, and bench did not write it";
  if (std::filesystem::exists(out) && !std::filesystem::is_empty(out))
    return fmt::format("{} is not empty, and may contain other results, because {} is missing", out.string(), file.string());
  return "";
}

int BenchCommand(const BenchArgs& args) {
  LimitOutput();
  PluginSearch search(args.input.plugin_path);
  FileArgs plain_file = args.input;
  plain_file.preset.clear();
  const std::optional<SpeedSubject> plain = ReadSubject(plain_file, &search);
  if (!plain) return kUsage;
  const Experiment& experiment = plain->experiment;
  std::vector<std::string> notes = plain->notes;
  std::optional<Experiment> with_preset;
  if (!args.input.preset.empty()) {
    const std::optional<SpeedSubject> preset = ReadSubject(args.input, &search);
    if (!preset) return kUsage;
    with_preset = preset->experiment;
    notes.insert(notes.end(), preset->notes.begin(), preset->notes.end());
  }
  const std::filesystem::path out = BenchFolder(args, experiment), file = out.string() + ".yaml";
  if (const std::string why = WhyNotThere(out, file, args.input); !why.empty()) {
    LogError(
        "backplane: bench replaces only its own files: {}\nhint: --out OUT writes to a different folder\nnothing was started",
        why);
    return kUsage;
  }
  std::set<std::string> said;
  for (const std::string& note : notes) {
    if (said.insert(note).second) LogInfo("{}", note);
  }
  const std::vector<DeviceInfo> devices = DeviceFacts();
  if (!args.json) PrintFacts(HostFacts(), devices);
  const BenchPlan plan{args.seconds, args.seeds, PointsOf(args, experiment, with_preset), out.string()};
  std::filesystem::create_directories(out.has_parent_path() ? out.parent_path() : ".");
  WriteFileAtomic(file, BenchFile(experiment, plan, !devices.empty()));
  std::vector<std::string> run = {"run", file.string(), "--out", out.string(), "--fresh", "--skip-invalid"};
  for (const std::string& folder : args.input.plugin_path) run.insert(run.end(), {"--plugin-path", folder});
  if (args.json) run.emplace_back("--json");
  const int code = RunHost(args.typed_program, std::move(run));
  if (code == kOk || code == kPartial) ShowResults(experiment, plan, args);
  return code;
}

}  // namespace

std::vector<Command> BenchCommands() {
  const auto declare = [](BenchArgs* args, Arguments* add) {
    args->typed_program = add->program();
    AddFile(add, &args->input);
    add->Flag("--all", &args->all, "Measure the unchanged experiment and find its bottleneck, even with --batch");
    add->Add("--batch", "[N,...]", "Measure the speed for N envs per runner (default: 1,4,16,64,256)",
             [args](const std::string& text) {
               args->batch = true;
               return ReadNumbers(text, &args->rows);
             })
        .MayBeEmpty();
    add->Flag("--autotune", &args->autotune, "Try rows, chunks and threads; write the fastest as a preset");
    add->Add("--seconds", "S", &args->seconds, "Training time per trial").ShowsDefault().Within(0.1, 86400.0);
    add->Add("--seeds", "N", &args->seeds, "Trials per setting; use at least three to separate differences from noise")
        .ShowsDefault()
        .Within(uint64_t{1}, uint64_t{1000});
    add->Add("-o,--out", "OUT", &args->out, "Results folder (default: outputs/bench_EXPERIMENT); OUT.yaml repeats the bench");
    add->Flag("--json", &args->json, "Print the result as JSON");
  };
  return {MakeCommand<BenchArgs>(kBenchCommand.name, kBenchCommand.help, declare, BenchCommand)};
}

}  // namespace backplane
