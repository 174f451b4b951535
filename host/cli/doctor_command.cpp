#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <sstream>

#include "base/colour.hpp"
#include "base/files.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "cli/commands.hpp"
#include "cli/tools.hpp"
#include "cluster/make_engine.hpp"
#include "machine/cpu.hpp"
#include "machine/gpus.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_search.hpp"
#include "plugin/torch_folder.hpp"
#include "record/gpu_figures.hpp"
#include "record/host_info.hpp"
#include "search/side_process.hpp"
#include "shim/shim_protocol.hpp"

namespace backplane {
namespace {

struct DoctorArgs {
  std::vector<std::string> plugin_path;
  bool json = false;
};

enum class Health { kOk = 1, kWarn, kFail };

struct Check {
  std::string name;
  Health health = Health::kOk;
  std::string text, fix;
};

const char* Word(Health health) { return health == Health::kOk ? "OK" : health == Health::kWarn ? "WARN" : "FAIL"; }

Tone ToneOf(Health health) {
  return health == Health::kOk ? Tone::kGood : health == Health::kWarn ? Tone::kWarning : Tone::kBad;
}

Check Torch() {
  const std::filesystem::path lib = FindTorchLib();
  if (lib.empty() || !std::filesystem::exists(lib / "libtorch.so")) {
    return {"LibTorch", Health::kWarn, lib.empty() ? "not found" : "no libtorch.so in " + lib.string(),
            std::string("plugins with LibTorch cannot run: ") + kSetUpTorch};
  }
  const std::string version = TorchVersionAt(lib);
  if (version.empty()) {
    return {"LibTorch", Health::kWarn, "unknown version in " + lib.string(),
            "plugins built for a different version of LibTorch are rejected"};
  }
  return {"LibTorch", Health::kOk, version + " in " + lib.string(), ""};
}

// Version of the kernel module: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ...". Empty: there is none.
std::string DriverVersion() {
  std::istringstream words(ReadFile("/proc/driver/nvidia/version").value_or(""));
  for (std::string word; words >> word;) {
    const bool is_version = word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version) return word;
  }
  return "";
}

// The newest CUDA that the driver serves, as 13000 for 13.0; 0: no driver.
int CudaOfDriver() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return 0;
  int version = 0;
  auto* const ask = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  return ask != nullptr && ask(&version) == 0 ? version : 0;
}

// A machine without a GPU is a normal case.
std::vector<Check> Graphics() {
  const std::vector<Gpu> gpus = FindGpus();
  std::vector<Check> checks;
  const std::vector<GpuFigures> figures = FiguresOf(gpus);
  for (size_t i = 0; i < gpus.size(); ++i)
    checks.push_back({"GPU", Health::kOk,
                      fmt::format("{}: {}, {:.0f} GiB; {}", gpus[i].index, gpus[i].name,
                                  static_cast<double>(gpus[i].memory_bytes) / (1ull << 30), Sentence(figures[i])),
                      ""});
  if (gpus.empty()) checks.push_back({"GPU", Health::kOk, "none found", ""});
  const std::string driver = DriverVersion();
  checks.push_back({"driver", Health::kOk, driver.empty() ? "no NVIDIA driver" : "NVIDIA " + driver, ""});
  const int served = CudaOfDriver();
  const std::filesystem::path torch = FindTorchLib();
  const bool built = !torch.empty() && std::filesystem::exists(torch / "libtorch_cuda.so");
  const std::string text = (served > 0 ? fmt::format("the driver supports up to {}.{}", served / 1000, served % 1000 / 10)
                                       : std::string("no driver")) +
                           (built           ? "; LibTorch is built for CUDA"
                            : torch.empty() ? "; no LibTorch"
                                            : "; LibTorch is built only for the CPU");
  const bool unused = !gpus.empty() && !built;
  checks.push_back(
      {"CUDA", unused ? Health::kWarn : Health::kOk, text,
       unused ? "learners cannot use the GPU: `backplane setup torch --help` explains how to choose a CUDA build" : ""});
  return checks;
}

// A command for a missing part of Backplane, which every package contains.
std::string PartHint(const std::string& in_clone) {
  return IsBuildTree() ? fmt::format("run `{}`", in_clone) : std::string("install Backplane's package again with pip or apt");
}

Check Physics(const std::vector<std::filesystem::path>& folders) {
  constexpr std::string_view kPrefix = "libmujoco.so.";
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(kPrefix)) {
        return {"MuJoCo", Health::kOk, name.substr(kPrefix.size()) + " in " + folder.string(), ""};
      }
    }
  }
  return {"MuJoCo", Health::kWarn, "no libmujoco next to the plugins",
          "envs with MuJoCo cannot run: " + PartHint("scripts/bootstrap && scripts/build")};
}

Check Figures() {
  const std::filesystem::path program = BesideProgram("backplane-figures.py");
  if (program.empty())
    return {"figures", Health::kWarn, "no backplane-figures.py next to this program",
            "reports lack figures: install all programs into one folder"};
  const ProcessEnd run = RunProcess({{FindPython(), program.string(), "--version"}});
  const std::string said = (run.out + run.err).substr(0, (run.out + run.err).find('\n'));
  if (run.ok() && said.starts_with("vl-convert")) return {"figures", Health::kOk, said, ""};
  return {"figures", Health::kWarn,
          !run.started    ? "no Python: " + said
          : run.timed_out ? "vl-convert did not end in time"
          : run.signal    ? "vl-convert failed: " + std::string(strsignal(run.signal))
                          : "no vl-convert: " + FindPython() + " does not have it",
          "reports lack figures: " + PipHint("vl-convert-python")};
}

// A requirement of only some experiment files, so its absence is normal. The line below it explains how to get it.
Check ForSome(const char* name, const std::string& there, const std::string& why_not) {
  if (why_not.empty()) return {name, Health::kOk, there, ""};
  return {name, Health::kOk, "not installed", why_not};
}

std::vector<Check> SearchAndEngines() {
  std::vector<Check> checks = {ForSome("search", "Optuna in " + FindPython(), WhyNoSearch(""))};
  for (const std::string& kind : EngineKinds()) {
    if (kind == kLocalEngine) continue;
    EngineConfig config;
    config.kind = kind;
    checks.push_back(ForSome(kind.c_str(), "engine.kind: " + kind, WhyNoEngine(config)));
  }
  return checks;
}

// A program that this one starts.
Check ProgramFor(const char* what, const char* name, const std::string& without) {
  const std::filesystem::path file = OwnProgram().parent_path() / name;
  if (access(file.c_str(), X_OK) == 0) return {what, Health::kOk, file.string(), ""};
  return {what, Health::kFail, "no " + file.string(), without + ": install all programs into one folder"};
}

// A program that `backplane` runs commands with, next to it or on PATH.
Check ToolFor(const char* what, const std::string& tool, const std::string& without) {
  const std::filesystem::path file = FindTool(tool, ToolFolders());
  if (!file.empty()) return {what, Health::kOk, file.string(), ""};
  const std::string program = "backplane-" + tool;
  return {what, Health::kWarn, fmt::format("no {} next to this program or on PATH", program),
          without + ": " + InstallHint(program)};
}

std::vector<Check> Plugins(PluginSearch* search) {
  const Catalog& catalog = search->All();
  std::string folders;
  for (const std::filesystem::path& folder : search->folders()) {
    folders += (folders.empty() ? "" : ", ") + folder.string() + (std::filesystem::is_directory(folder) ? "" : " (missing)");
  }
  const bool none = catalog.plugins().empty();
  std::vector<Check> checks = {
      {"plugins", none ? Health::kFail : Health::kOk,
       fmt::format("{} on the plugin path: {}", catalog.plugins().size(), folders),
       none ? PartHint("scripts/build") + ", or name a folder with --plugin-path or BACKPLANE_PLUGIN_PATH" : ""}};
  for (const Refusal& refusal : catalog.refusals()) {
    checks.push_back(
        {"plugin", Health::kWarn, refusal.file.string() + ": " + refusal.reason, "build it again, or remove the file"});
  }
  return checks;
}

Check Disk() {
  constexpr uint64_t kLow = 1ull << 30;
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(std::filesystem::current_path(), error);
  if (error) {
    return {"disk", Health::kWarn, "free space unknown: " + error.message(), ""};
  }
  const std::string text =
      fmt::format("{:.1f} GiB free in the current folder", static_cast<double>(space.available) / (1ull << 30));
  return space.available < kLow ? Check{"disk", Health::kFail, text, "free some space, or choose a different disk with --out"}
                                : Check{"disk", Health::kOk, text, ""};
}

std::vector<Check> Examine(const DoctorArgs& args) {
  const HostInfo host = HostFacts();
  PluginSearch search(args.plugin_path);
  search.All();
  std::vector<Check> checks = {
      {"backplane", Health::kOk, BACKPLANE_VERSION, ""},
      {"compiler", Health::kOk, kCompiler, ""},
      {"host", Health::kOk, host.cpu + ", " + host.kernel, ""},
      {"cores", Health::kOk, fmt::format("{} granted by affinity and control group", GrantedCores()), ""},
      Torch(),
      Physics(search.folders()),
      ProgramFor("trials", kShimProgram, "trials cannot start"),
      ProgramFor("trial", kTrialProgram, "trials cannot start"),
      ProgramFor("reports", "backplane-report", "reports cannot be written"),
      Figures(),
      ToolFor("validate", "validate", "plugins cannot be validated"),
      ToolFor("archives", "archive", "pack, unpack, verify and gc cannot run"),
      ToolFor("studies", "study", "bench, tune, compare and gate cannot run"),
      Disk(),
  };
  for (Check& check : SearchAndEngines()) checks.push_back(std::move(check));
  for (Check& check : Graphics()) checks.push_back(std::move(check));
  for (Check& check : Plugins(&search)) {
    checks.push_back(std::move(check));
  }
  return checks;
}

int DoctorCommand(const DoctorArgs& args) {
  bool failed = false;
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : Examine(args)) {
    failed = failed || check.health == Health::kFail;
    list.push_back({{"name", check.name}, {"health", Word(check.health)}, {"text", check.text}, {"fix", check.fix}});
    if (!args.json) {
      const std::string word = fmt::format("{:<5}", Word(check.health));
      fmt::print("{} {:<10} {}\n", ShowsColour(STDOUT_FILENO) ? Toned(word, ToneOf(check.health)) : word, check.name,
                 check.text);
      std::string fix = check.fix;
      for (size_t end = fix.find('\n'); end != std::string::npos; end = fix.find('\n', end + 1)) fix.insert(end + 1, 20, ' ');
      fmt::print("{}", fix.empty() ? "" : fmt::format("{:<17}-> {}\n", "", fix));
    }
  }
  if (args.json) {
    fmt::print("{}\n", list.dump(1));
  }
  return failed ? kFailed : kOk;
}

}  // namespace

std::vector<Command> DoctorCommands() {
  const auto declare = [](DoctorArgs* args, Arguments* add) {
    add->Flag("--json", &args->json, "Print JSON");
    add->PluginPath(&args->plugin_path);
  };
  return {MakeCommand<DoctorArgs>("doctor", "Check this machine and suggest fixes", declare, DoctorCommand)};
}

}  // namespace backplane
