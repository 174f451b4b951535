#include "command/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "base/bounded.hpp"
#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "base/signal_text.hpp"
#include "contract/placeholders.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownLine = 500;  // bytes of the last line
constexpr int kShellSignals = 128,
              kLastShellSignal = 159;  // a shell exits with 128 + signal if a signal ended its program

bool IsExecutableFile(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

std::string FindProgram(const std::string& key, const std::string& name) {
  if (name.find('/') != name.npos) {
    std::error_code error;
    if (IsExecutableFile(name)) return name;
    throw std::runtime_error(fmt::format("{}: expected an executable program, got {} at '{}'", key,
                                         fs::exists(name, error) ? "something else" : "nothing", name));
  }
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t from = 0; from <= folders.size();) {
    const size_t end = std::min(folders.find(':', from), folders.size());
    const fs::path file = fs::path(folders.substr(from, end - from)) / name;
    if (end > from && IsExecutableFile(file)) return fs::absolute(file).string();
    from = end + 1;
  }
  throw std::runtime_error(
      fmt::format("{}: expected a program on PATH, got none called '{}' (PATH: {})", key, name, Bounded(folders, kShownLine)));
}

std::vector<std::string> FunctionWords(const CommandConfig& command) {
  const char* const active = std::getenv("VIRTUAL_ENV");
  const bool is_active = active != nullptr && *active != '\0';
  const std::string python = command.python.value_or(is_active ? std::string(active) + "/bin/python" : "python3");
  return {FindProgram(kPythonKey, python), OwnShare() / "client/backplane_function.py", *command.function};
}

// A text without JSON's quotes.
std::string TextOf(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : JsonText(value); }

bool HoldsAny(const std::string& line, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return line.find(word) != line.npos; });
}

// The last line that reports out of memory; empty: none does.
std::string LineOfMemory(const std::vector<std::string>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (HoldsAny(*line, {"OutOfMemoryError", "MemoryError", "CUDA out of memory", "HIP out of memory", "std::bad_alloc",
                         "RESOURCE_EXHAUSTED"}))
      return *line;
  return "";
}

bool IsOfDevice(const std::string& line) { return HoldsAny(line, {"CUDA", "cuda", "HIP out of memory", "RESOURCE_EXHAUSTED"}); }

}  // namespace

std::vector<std::string> CommandWords(const TrialSpec& spec, size_t cpus) {
  const Experiment& experiment = spec.experiment;
  if (experiment.command.function) return FunctionWords(experiment.command);
  const auto value_of = [&](const std::string& name) -> std::string {
    if (name == "seed") return std::to_string(experiment.seed);
    if (name == "trial_dir") return fs::absolute(spec.checkpoint_dir.parent_path()).string();
    if (name == "checkpoint_dir") return fs::absolute(spec.checkpoint_dir).string();
    if (name == "attempt") return std::to_string(spec.attempt);
    if (name == "rows") return std::to_string(experiment.rollout.rows());
    if (name == "cpus") return std::to_string(cpus);
    if (experiment.command.written.contains(name)) return TextOf(experiment.command.written[name]);
    return experiment.learner.options.contains(name) ? TextOf(experiment.learner.options[name]) : "";
  };
  std::vector<std::string> words;
  for (const std::string& word : experiment.command.words) words.push_back(FillPlaceholders(word, value_of));
  words[0] = FindProgram(kCommandLearner, words[0]);
  return words;
}

ExitReason ReasonOfEnd(const std::string& program, const ChildExit& exit, const std::vector<std::string>& last_lines,
                       bool oom_killed) {
  if (exit.signal == 0 && exit.code == 0) return {};
  const std::string name = fs::path(program).filename().string();
  const bool by_shell = exit.code > kShellSignals && exit.code <= kLastShellSignal;
  const int signal = exit.signal != 0 ? exit.signal : by_shell ? exit.code - kShellSignals : 0;
  const std::string how = signal != 0 ? fmt::format("{} died of {}", name, SignalText(signal))
                                      : fmt::format("{} ended with exit code {}", name, exit.code);
  const std::string of_memory = LineOfMemory(last_lines);
  if (signal == SIGKILL && oom_killed) return {kExitHostOom, Outcome::kOom, "", how + ": the kernel ran out of memory"};
  if (!of_memory.empty())
    return {IsOfDevice(of_memory) ? kExitGpuOom : kExitHostOom, Outcome::kOom, "",
            fmt::format("{}: {}", how, Printable(of_memory, kShownLine))};
  const std::string last = last_lines.empty() ? "" : "; its last line: " + Printable(last_lines.back(), kShownLine);
  const auto code = static_cast<TrialExit>(signal != 0 ? kShellSignals + signal : static_cast<int>(kExitPlugin));
  return {code, signal != 0 ? Outcome::kSignal : Outcome::kPlugin, "", how + last};
}

}  // namespace backplane
