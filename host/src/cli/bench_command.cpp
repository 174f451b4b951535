// bench: how fast an experiment runs here, what limits it, and which setting is faster.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "analysis/result_set.hpp"
#include "base/files.hpp"
#include "base/format_count.hpp"
#include "cli/bench_file.hpp"
#include "cli/commands.hpp"
#include "cli/load_file.hpp"
#include "cli/preset_places.hpp"
#include "config/yaml_text.hpp"
#include "plugin/loader.hpp"
#include "report/document.hpp"
#include "report/text_table.hpp"
#include "supervise/host_info.hpp"

namespace backplane {
namespace {

constexpr char kRowsPath[] = "rollout.num_envs_per_env_runner";
constexpr uint64_t kDefaultRows[] = {1, 4, 16, 64, 256};
constexpr size_t kWidth = 100;

double GiB(const nlohmann::json& bytes) { return bytes.get<double>() / (1ull << 30); }

void PrintFacts(const nlohmann::json& host, const nlohmann::json& devices) {
  std::string gpus;
  for (const auto& device : devices) {
    gpus += fmt::format("{}{}, {:.0f} GiB", gpus.empty() ? "" : "; ", device["name"].get<std::string>(), GiB(device["memory_bytes"]));
  }
  const std::string torch = TorchVersionAt(FindTorchLib());
  fmt::print("machine: {}\n  cores granted: {}   memory: {:.1f} GiB   GPUs: {}   LibTorch: {}\n  numerics: {}\n",
             host["cpu"].get<std::string>(), host["granted_cores"].get<uint64_t>(), GiB(host["memory_bytes"]),
             gpus.empty() ? "none" : gpus, torch.empty() ? "none" : torch, host["cpu_flags"].get<std::string>());
  std::fflush(stdout);
}

// Where the two differ in what a trial computes, by path.
void AddChanges(const nlohmann::json& from, const nlohmann::json& to, const std::string& path, BenchPoint* point) {
  if (!from.is_object() || !to.is_object()) {
    if (from != to) point->values.emplace_back(path, to);
    return;
  }
  for (const auto& [key, value] : to.items()) AddChanges(from.value(key, nlohmann::json()), value, path + "." + key, point);
}

BenchPoint PresetPoint(const Experiment& plain, const Experiment& with_preset) {
  const nlohmann::json from = ToJson(plain), to = ToJson(with_preset);
  BenchPoint point{"preset_" + with_preset.preset.value_or("none"), {}};
  AddChanges(from["rollout"], to["rollout"], "rollout", &point);
  for (const char* kind : {"env", "learner"})
    AddChanges(from[kind]["options"], to[kind]["options"], std::string(kind) + ".options", &point);
  return point;
}

std::vector<BenchPoint> RowPoints(const BenchArgs& args, const Experiment& experiment) {
  std::vector<uint64_t> rows = args.rows;
  if (rows.empty()) {
    rows.assign(std::begin(kDefaultRows), std::end(kDefaultRows));
    rows.push_back(experiment.rollout.num_envs_per_env_runner);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<BenchPoint> points;
  for (const uint64_t n : rows) points.push_back({fmt::format("{}_envs", n), {{kRowsPath, n}}});
  return points;
}

std::vector<BenchPoint> PointsOf(const BenchArgs& args, const Experiment& plain, const std::optional<Experiment>& with_preset) {
  if (!args.batch && !with_preset) return {{"as_it_is", {}}};
  std::vector<BenchPoint> points;
  if (with_preset) points = {{"as_it_is", {}}, PresetPoint(plain, *with_preset)};
  if (args.batch) {
    for (BenchPoint& point : RowPoints(args, plain)) points.push_back(std::move(point));
  }
  return points;
}

const Table* MainTable(const Document& document) {
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      const auto* table = std::get_if<Table>(&block);
      if (table && table->id == document.main_table) return table;
    }
  }
  return nullptr;
}

// By the mean of its seeds; null if none has a speed.
const BenchPoint* Fastest(const ResultSet& results, const std::vector<BenchPoint>& points, double* speed) {
  const BenchPoint* fastest = nullptr;
  for (const BenchPoint& point : points) {
    std::vector<Number> speeds;
    for (const TrialData& trial : results.trials) {
      const Number* sps = trial.usable() && trial.point == point.name ? trial.Find("SPS") : nullptr;
      if (sps && std::isfinite(sps->value)) speeds.push_back(*sps);
    }
    const std::optional<Number> mean = OverSeeds(speeds);
    if (!mean || (fastest && mean->value <= *speed)) continue;
    fastest = &point;
    *speed = mean->value;
  }
  return fastest;
}

std::string AsYaml(const BenchPoint& point) {
  nlohmann::json nested = nlohmann::json::object();
  for (const auto& [path, value] : point.values) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    nested[nlohmann::json::json_pointer(pointer)] = value;
  }
  return YamlText(nested, {});
}

void PrintSlowIterations(const ResultSet& results) {
  for (const TrialData& trial : results.trials) {
    if (!trial.usable() || trial.Find("SPS")) continue;
    std::fprintf(stderr, "note: %s has no speed: its first iteration, which warms up, took all the time; a larger --seconds helps\n",
                 PointName(trial).c_str());
  }
}

void PrintResults(const std::filesystem::path& out, const BenchPlan& plan) {
  const ResultSet results = ReadResultSet(out);
  PrintSlowIterations(results);
  const std::filesystem::path report = out / "report", numbers = report / (std::string(kBenchReport) + "_results.json");
  const auto text = ReadFile(numbers);
  if (!text) return;  // why there is no report was said
  const Document document = DocumentFromJson(nlohmann::json::parse(*text));
  if (const Table* table = MainTable(document)) fmt::print("\n{}", FormatTextTable(*table, kWidth));
  double speed = 0;
  const BenchPoint* fastest = Fastest(results, plan.points, &speed);
  if (fastest && !fastest->values.empty())
    fmt::print("\nfastest: {}, {} steps/s; in an experiment file:\n{}", fastest->name, FormatCount(static_cast<uint64_t>(speed)),
               AsYaml(*fastest));
  if (fastest && plan.points.size() > 1) fmt::print("the whole file: {}\n", (report / kBenchChoice).string());
  fmt::print("all numbers: {}\n", numbers.string());
}

// Absent after Complain.
std::optional<Plan> PlanOrComplain(const FileArgs& file, PluginSearch* search) {
  PlanResult planned = PlanFile(file.file, {file.set, {}, search->Lookup(), PresetsFor(file)});
  if (!planned.plan) Complain(planned.errors, file.file);
  return std::move(planned.plan);
}

}  // namespace

int BenchCommand(const BenchArgs& args) {
  PluginSearch search(args.input.plugin_path);
  FileArgs plain_file = args.input;
  plain_file.preset.clear();
  const std::optional<Plan> plain = PlanOrComplain(plain_file, &search);
  if (!plain) return kUsage;
  const Experiment& experiment = plain->base.experiment;
  if (plain->swept) std::fprintf(stderr, "note: the file's own sweep is left out\n");
  std::optional<Experiment> with_preset;
  if (!args.input.preset.empty()) {
    const std::optional<Plan> preset = PlanOrComplain(args.input, &search);
    if (!preset) return kUsage;
    for (const std::string& note : preset->notes) std::fprintf(stderr, "%s\n", note.c_str());
    with_preset = preset->base.experiment;
  }
  const nlohmann::json devices = DeviceFacts();
  if (!args.json) PrintFacts(HostFacts(), devices);
  const BenchPlan plan{args.seconds, args.seeds, PointsOf(args, experiment, with_preset)};
  RunArgs run;
  run.out = args.out.empty() ? std::filesystem::path("outputs") / (kBenchPrefix + experiment.name) : args.out;
  run.input.file = run.out.string() + ".yaml";
  run.input.plugin_path = args.input.plugin_path;
  run.typed_program = args.typed_program;
  run.fresh = true;
  run.skip_invalid = true;
  run.json = args.json;
  std::filesystem::create_directories(run.out.has_parent_path() ? run.out.parent_path() : ".");
  WriteFileAtomic(run.input.file, BenchFile(experiment, plan, !devices.empty()));
  const int code = RunCommand(run);
  if (!args.json && (code == kOk || code == kPartial)) PrintResults(run.out, plan);
  return code;
}

}  // namespace backplane
