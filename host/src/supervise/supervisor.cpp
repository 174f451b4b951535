#include "supervise/supervisor.hpp"

#include <cstdio>
#include <memory>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "config/yaml_text.hpp"
#include "supervise/child.hpp"
#include "supervise/host_info.hpp"
#include "supervise/layout.hpp"
#include "supervise/outcome.hpp"
#include "supervise/watch.hpp"
#include "sweep/identity.hpp"
#include "trial/contract.hpp"

namespace backplane {
namespace {

constexpr size_t kLogTailLines = 10;
constexpr int kJsonIndent = 1;

TrialPlugin FileOf(const PluginInfo& info) { return {info.file, info.id}; }

nlohmann::json IdentityOf(const LoadedExperiment& loaded) {
  return TrialIdentity(PointIdentity(loaded, {}), loaded.experiment.seed, FileHashes().Of(loaded));
}

class Supervisor {
 public:
  explicit Supervisor(const SuperviseRequest& request) : request_(request), identity_(IdentityOf(request.loaded)) {
    const Experiment& experiment = request.loaded.experiment;
    spec_.trial_id = IdOf(identity_);
    spec_.experiment = experiment;
    spec_.env = FileOf(*request.loaded.env);
    spec_.learner = FileOf(*request.loaded.learner);
    for (const auto& monitor : request.loaded.monitors) {
      spec_.monitors.push_back(FileOf(*monitor));
    }
    spec_.origin = request.loaded.origin;
    spec_.torch_lib = request.torch_lib;
    folder_ = TrialFolderOf(request.out, spec_.trial_id);
    progress_ = std::make_unique<Progress>(stderr, DetectScreen(fileno(stderr)), experiment.budget);
  }

  SuperviseReport Run() {
    if (request_.fresh) {
      if (const auto moved = MoveAside(request_.out)) {
        Note("the old results are now in " + moved->string());
      }
    }
    lock_ = std::make_unique<OutLock>(request_.out);
    if (FinishedBefore()) {
      return report_;
    }
    CloseStaleAttempt();
    OpenAttempt();
    const InterruptScope interrupts;  // over both children: a Ctrl-C between them counts
    // What is resumed has run before: only a first start tries the pair of env and learner.
    if (spec_.resume || RunChild({"run-trial", "--check", folder_.trial_json().string()}, /*check=*/true)) {
      RunChild({"run-trial", folder_.trial_json().string()}, /*check=*/false);
    }
    return report_;
  }

 private:
  void Note(const std::string& text) {
    if (!request_.quiet) {
      progress_->Note(text);
    }
  }

  void Describe(unsigned attempt) {
    report_.context = {request_.loaded.experiment.name, request_.out, folder_.attempt(attempt), {}};
  }

  bool FinishedBefore() {
    const unsigned last = folder_.LastAttempt();
    const auto result = last > 0 ? ReadResultJson(folder_.attempt(last) / "result.json") : std::nullopt;
    if (!result || result->at("state") != "COMPLETED") {
      return false;
    }
    report_.result = *result;
    report_.already_complete = true;
    Describe(last);
    return true;
  }

  // An attempt without a result: its supervisor died with it (power, kill -9). We hold the lock, so nobody is still at it.
  void CloseStaleAttempt() {
    const unsigned last = folder_.LastAttempt();
    if (last == 0 || ReadResultJson(folder_.attempt(last) / "result.json")) {
      return;
    }
    WriteFileAtomic(folder_.attempt(last) / "result.json",
                    nlohmann::json{{"schema", kTrialSchema},
                                   {"trial_id", spec_.trial_id},
                                   {"state", "KILLED"},
                                   {"outcome", "stale"},
                                   {"error", "the supervisor ended before the trial did"}}
                        .dump(kJsonIndent));
  }

  void OpenAttempt() {
    spec_.attempt = folder_.LastAttempt() + 1;
    spec_.attempt_dir = folder_.attempt(static_cast<unsigned>(spec_.attempt));
    spec_.checkpoint_dir = folder_.checkpoint();
    spec_.resume = folder_.HasCheckpoint();
    std::filesystem::create_directories(spec_.attempt_dir);
    Describe(static_cast<unsigned>(spec_.attempt));
    // Complete, so that it gives the same trial again from any folder.
    WriteFileAtomic(request_.out / "config.yaml", YamlText(ToJson(spec_.experiment), {}));
    WriteFileAtomic(request_.out / "run.json", RunFacts().dump(kJsonIndent));
    WriteFileAtomic(folder_.folder / "identity.json", identity_.dump(kJsonIndent));
    WriteFileAtomic(folder_.trial_json(), ToJson(spec_).dump(kJsonIndent));
    Note(spec_.resume ? "going on from the checkpoint (attempt " + std::to_string(spec_.attempt) + ")"
                      : "trial " + spec_.trial_id + ", results in " + request_.out.string());
  }

  nlohmann::json RunFacts() const {
    nlohmann::json plugins = nlohmann::json::object();
    const auto add = [&plugins](const PluginInfo& info) { plugins[info.id] = info.version; };
    add(*request_.loaded.env);
    add(*request_.loaded.learner);
    for (const auto& monitor : request_.loaded.monitors) {
      add(*monitor);
    }
    return {{"schema", kTrialSchema},
            {"host", HostFacts()},
            {"versions",
             {{"backplane", BACKPLANE_VERSION},
              {"compiler", kCompiler},
              {"torch", TorchVersionAt(request_.torch_lib)},
              {"plugins", plugins}}},
            {"config_file", request_.config_file.string()},
            {"set", request_.set}};
  }

  ChildCommand Command(std::vector<std::string> arguments, const std::string& log_prefix) const {
    ChildCommand command;
    command.program = request_.program;
    command.arguments = std::move(arguments);
    // Threads belong to the host: libraries that start their own would take the runners' cores.
    command.environment = {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
    command.stdout_file = spec_.attempt_dir / (log_prefix + "stdout.log");
    command.stderr_file = spec_.attempt_dir / (log_prefix + "stderr.log");
    command.inherit_fd = lock_->fd();
    return command;
  }

  // True if it ended well. A check leaves a record only if it failed.
  bool RunChild(std::vector<std::string> arguments, bool check) {
    const ChildCommand command = Command(std::move(arguments), check ? "check." : "");
    const ResourceConfig& resources = request_.loaded.experiment.resources;
    const long oom_before = OomKillCount();
    StatusReader status(spec_.attempt_dir / "status");
    Child child(command);
    const Watched watched = WatchTrial(child, status, {resources.hang_timeout_s, resources.wall_time_s},
                                       request_.quiet || check ? nullptr : progress_.get());
    progress_->Clear();
    if (check && watched.exit.code == kExitOk && watched.exit.signal == 0 && watched.stop == StopReason::kNone) {
      return true;
    }
    Conclude(watched, OomKillCount() > oom_before, command.stderr_file, check);
    return report_.completed();
  }

  void Conclude(const Watched& watched, bool oom_killed, const std::filesystem::path& stderr_file, bool check) {
    const std::filesystem::path file = spec_.attempt_dir / "result.json";
    const auto written = ReadResultJson(file);
    Ending ending{watched.exit, watched.stop, std::nullopt, oom_killed};
    if (written && !check) {
      ending.result_state = written->at("state").get<std::string>();
    }
    const Verdict verdict = Classify(ending);
    report_.result = Record(written.value_or(nlohmann::json::object()), verdict, watched, stderr_file);
    if (check && report_.result["error"].is_string()) {
      // The exit code tells the class only; what the check said last tells the cause.
      const std::vector<std::string> said = report_.result.value("log_tail", std::vector<std::string>());
      const bool by_itself = watched.exit.signal == 0 && watched.stop == StopReason::kNone && !said.empty();
      report_.result["error"] =
          "the check before the first trial: " + (by_itself ? said.back() : report_.result["error"].get<std::string>());
    }
    if (report_.result != written.value_or(nullptr)) {
      WriteFileAtomic(file, JsonText(report_.result, kJsonIndent));
    }
    report_.interrupted = watched.stop == StopReason::kInterrupt && !report_.completed();
  }

  // The trial's own words stay; what only the supervisor can know is added, and its verdict on the state counts.
  nlohmann::json Record(nlohmann::json record, const Verdict& verdict, const Watched& watched,
                        const std::filesystem::path& stderr_file) {
    if (verdict.state == "COMPLETED" || verdict.state == "PRUNED") {
      return record;
    }
    const nlohmann::json defaults = {{"schema", kTrialSchema}, {"trial_id", spec_.trial_id}, {"wall_s", watched.wall_s}};
    for (const auto& [key, value] : defaults.items()) {
      record.emplace(key, value);
    }
    if (watched.last) {
      record.emplace("iterations", watched.last->iteration);
      record.emplace("env_steps", watched.last->env_steps);
      record.emplace("episodes", watched.last->episodes);
      record.emplace("phase", watched.last->phase);
      record.emplace("plugin", watched.last->plugin);
    }
    if (!record.contains("error") || !record["error"].is_string()) {
      record["error"] = verdict.why;
    }
    record["state"] = verdict.state;
    record["outcome"] = verdict.outcome;
    record["hang"] = watched.stop == StopReason::kHang;
    record["signal"] = verdict.signal.empty() ? nlohmann::json(nullptr) : nlohmann::json(verdict.signal);
    record["log_tail"] = LogTail(watched, stderr_file);
    return record;
  }

  static std::vector<std::string> LogTail(const Watched& watched, const std::filesystem::path& stderr_file) {
    std::vector<std::string> lines = LastLines(stderr_file, kLogTailLines);
    if (lines.empty() && watched.last && watched.last->line[0] != '\0') {
      lines.push_back(watched.last->line);
    }
    return lines;
  }

  const SuperviseRequest& request_;
  nlohmann::json identity_;
  TrialSpec spec_;
  TrialFolder folder_;
  std::unique_ptr<OutLock> lock_;
  std::unique_ptr<Progress> progress_;
  SuperviseReport report_;
};

}  // namespace

bool SuperviseReport::completed() const {
  const std::string state = ParseResult(result).state;
  return state == "COMPLETED" || state == "PRUNED";
}

SuperviseReport SuperviseTrial(const SuperviseRequest& request) { return Supervisor(request).Run(); }

}  // namespace backplane
