// Runs a monitor from a Python file in its own process (common/python_env).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backplane/monitor.hpp"
#include "python_env/worker_source.hpp"
#include "python_env/workers.hpp"

namespace backplane::python_env {

struct MonitorOptions {
  std::filesystem::path file;
  std::string class_name, python;
  bp::AnyValue kwargs;
  double timeout = 60;

  std::string Interpreter() const {
    if (!python.empty()) return python;
    const char* const active = std::getenv("VIRTUAL_ENV");
    return active != nullptr && *active != '\0' ? std::string(active) + "/bin/python" : "python3";
  }
};

nlohmann::json Described(const bp::Iteration& iteration) {
  nlohmann::json metrics = nlohmann::json::object(), episodes = nlohmann::json::array(), phases = nlohmann::json::array();
  for (const bp::IterationMetric& metric : iteration.metrics) metrics[std::string(metric.name)] = metric.value;
  for (const bp::IterationEpisode& episode : iteration.episodes) episodes.push_back({episode.row, episode.episode_return});
  for (const bp::IterationPhase& phase : iteration.phases)
    phases.push_back(
        {phase.thread, phase.name, static_cast<double>(phase.begin_ns) * 1e-9, static_cast<double>(phase.duration_ns) * 1e-9});
  return {{"number", iteration.number},     {"env_steps", iteration.env_steps},
          {"seconds", iteration.seconds()}, {"sps", iteration.sps},
          {"ended", iteration.ended},       {"metrics", metrics},
          {"episodes", episodes},           {"phases", phases},
          {"left_out", iteration.left_out}};
}

class PythonMonitor : public bp::MonitorPlugin<PythonMonitor> {
 public:
  static constexpr bp::About kAbout{
      .id = "monitor.python", .version = "1.0.0", .summary = "Calls functions of a Python file, which may end the trial."};
  static constexpr bp::OptionTable kOptions{
      bp::Opt("file", &MonitorOptions::file, "Python file with on_iteration, sample or finish.", {.flags = BP_PARAM_REQUIRED}),
      bp::Opt("class", &MonitorOptions::class_name, "Class in `file` that has these functions; empty: the file itself."),
      bp::Opt("kwargs", &MonitorOptions::kwargs, "mapping", "Arguments of the constructor of `class`."),
      bp::Opt("python", &MonitorOptions::python,
              "Interpreter of the monitor's process; empty: the active virtual environment's, else python3."),
      bp::Opt("timeout", &MonitorOptions::timeout, "(0,86400]",
              "Time limit of each call; a monitor that exceeds it is switched off.", {.unit = "s"}),
  };

  explicit PythonMonitor(const bp::MonitorSetup& setup) : PythonMonitor(setup, kOptions.Read(setup.config)) {}

  bp::IterationParts Wants() const override { return wants_; }

  void OnIteration(const bp::Iteration& iteration) override {
    if (Has("on_iteration")) Call("on_iteration", Described(iteration));
  }
  void Sample(int64_t t_ns) override {
    if (Has("sample")) Call("sample", static_cast<double>(t_ns) * 1e-9);
  }
  void Finish(const std::string& out_dir) override {
    if (std::exchange(finished_, true) || !Has("finish")) return;
    Call("finish", out_dir);
  }

 private:
  PythonMonitor(const bp::MonitorSetup& setup, const MonitorOptions& options)
      : MonitorPlugin(setup),
        worker_(setup.host, options.Interpreter(), {kMonitorSource, "the monitor's process"}, options.timeout, 1, 1) {
    const bp_host_trial_1& trial = setup.Trial();
    const nlohmann::json config = {{"file", options.file.string()},
                                   {"class", options.class_name},
                                   {"kwargs", nlohmann::json::parse(options.kwargs.json)},
                                   {"trial",
                                    {{"id", trial.trial_id},
                                     {"attempt", trial.attempt},
                                     {"attempt_dir", trial.attempt_dir},
                                     {"trial_dir", trial.trial_dir}}}};
    const nlohmann::json said = nlohmann::json::parse(worker_.AskAll('C', {config.dump()}).front());
    said.at("calls").get_to(calls_);
    const std::vector<std::string> parts = said.at("wants");
    const auto wants = [&](const char* part) { return std::ranges::find(parts, part) != parts.end(); };
    wants_ = {.metrics = wants("metrics"), .phases = wants("phases"), .episodes = wants("episodes")};
  }

  bool Has(const char* call) const { return std::ranges::find(calls_, call) != calls_.end(); }

  // A text in reply ends the trial.
  void Call(const char* name, const nlohmann::json& argument) {
    const std::string said = worker_.Ask(0, 'M', nlohmann::json::array({name, argument}).dump());
    const nlohmann::json reason = nlohmann::json::parse(said, nullptr, /*allow_exceptions=*/false);
    if (reason.is_string()) EndTrial(reason);
  }

  Workers worker_;
  std::vector<std::string> calls_;  // that the file has
  bp::IterationParts wants_;
  bool finished_ = false;
};

}  // namespace backplane::python_env

BP_PLUGINS(backplane::python_env::PythonMonitor);
