#include "program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "places.hpp"

namespace backplane::end_to_end {

const std::string kShim = BACKPLANE_BINARY_DIR "/bin/backplane-shim";

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& file) {
  std::ifstream in(file);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::vector<nlohmann::json> Lines(const fs::path& file) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(ReadFile(file));
  for (std::string line; std::getline(text, line);)
    lines.push_back(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false));
  return lines;
}

bool Until(const std::function<bool()>& condition, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

namespace {

// Arguments and environment of a process; empty if it has ended.
std::set<std::string> WordsOf(const fs::path& process) {
  std::set<std::string> words;
  for (const char* name : {"cmdline", "environ"}) {
    std::istringstream text(ReadFile(process / name));
    for (std::string word; std::getline(text, word, '\0');) words.insert(word);
  }
  return words;
}

struct CheckpointFile {
  explicit CheckpointFile(const fs::path& trial) {
    const std::string file = ReadFile(trial / "checkpoint/checkpoint.bin");
    constexpr size_t kMagic = 8, kDigest = 32;
    uint64_t size = 0;
    if (file.size() < kMagic + sizeof size + kDigest) return;
    std::memcpy(&size, file.data() + kMagic, sizeof size);
    header = nlohmann::json::parse(file.substr(kMagic + sizeof size + kDigest, size));
    parts = file.substr(kMagic + sizeof size + kDigest + size);
  }
  nlohmann::json header;
  std::string parts;
};

}  // namespace

std::string LearnerState(const fs::path& trial) {
  const CheckpointFile file(trial);
  size_t at = 0;
  for (const nlohmann::json& part : file.header["parts"]) {
    if (part["name"] == "learner") return file.parts.substr(at, part["bytes"]);
    at += part["bytes"].get<size_t>();
  }
  return "";
}

std::string CheckpointWithoutTimes(const fs::path& trial) {
  CheckpointFile file(trial);
  if (file.header.is_null()) return "";
  file.header.erase("seconds");
  file.header.erase("metrics_parts");  // lines contain times
  return file.header.dump() + file.parts;
}

bool HasPlugin(const std::string& file_name) { return fs::exists(fs::path(BACKPLANE_PLUGIN_DIR) / file_name); }

ProgramTest::ProgramTest() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  // Other builds and clones run the same tests.
  const std::string build = std::to_string(std::hash<std::string>()(BACKPLANE_BINARY_DIR) % 1'000'000);
  dir_ = fs::path(testing::TempDir()) / ("backplane-" + build + "-" + info->test_suite_name() + "-" + info->name());
  fs::remove_all(dir_);
  fs::create_directories(dir_);
  dir_ = fs::canonical(dir_);  // as /proc names it
  // Fixtures break rules, but only in the trial. Tests do not share validated files.
  setenv("BACKPLANE_VALIDATE", "off", 1);
  setenv("XDG_CACHE_HOME", (dir_ / "cache").c_str(), 1);
}

ProgramTest::~ProgramTest() {
  for (const auto& [pid, number] : running_) {
    kill(pid, SIGCONT);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  if (!HasFailure()) fs::remove_all(dir_);
}

fs::path ProgramTest::Write(const std::string& name, const std::string& text) {
  const fs::path file = dir_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
  return file;
}

fs::path ProgramTest::OutputOf(int number, const char* name) const {
  return dir_ / (name + ("-" + std::to_string(number)) + ".txt");
}

pid_t ProgramTest::Start(const std::string& arguments) {
  return StartCommand("exec " BACKPLANE_BINARY_DIR "/bin/backplane " + arguments);
}

pid_t ProgramTest::StartCommand(const std::string& command) {
  ++started_;
  const pid_t pid = fork();
  if (pid != 0) {
    running_[pid] = started_;
    return pid;
  }
  if (chdir(dir_.c_str()) != 0) _exit(99);
  const auto to = [&](const char* name, int fd) {
    dup2(open(OutputOf(started_, name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), fd);
  };
  to("out", 1);
  to("err", 2);
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(99);
}

Finished ProgramTest::Wait(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const int number = running_.at(pid);
  running_.erase(pid);
  return {exit, ReadFile(OutputOf(number, "out")), ReadFile(OutputOf(number, "err"))};
}

std::optional<Finished> ProgramTest::RunWithSmallDisk(const std::string& size, const std::string& script) {
  fs::create_directories(dir_ / "disk");
  // With flags that root could not drop in a remount of its own.
  Write("mount.sh", "mount -t tmpfs -o nosuid,nodev,size=" + size + " small disk");
  Write("script.sh", ". ./mount.sh\nbackplane=" BACKPLANE_BINARY_DIR "/bin/backplane\n" + script);
  const std::string alone = "exec unshare --map-root-user --mount --propagation private sh ";
  if (Wait(StartCommand(alone + "mount.sh")).exit != 0) return std::nullopt;
  return Wait(StartCommand(alone + "script.sh"));
}

Finished ProgramTest::RunBesideReportProgram(const std::string& script, const std::string& arguments) {
  fs::create_directories(dir_ / "bin");
  for (const char* program : {"backplane", "backplane-shim", "backplane-study", "backplane-trial"})
    fs::copy_file(fs::path(BACKPLANE_BINARY_DIR "/bin") / program, dir_ / "bin" / program,
                  fs::copy_options::overwrite_existing);
  fs::permissions(Write("bin/backplane-report", "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
  return Wait(StartCommand("BACKPLANE_PLUGIN_PATH=" BACKPLANE_PLUGIN_DIR " exec bin/backplane " + arguments));
}

std::string ProgramTest::ErrorsOf(pid_t pid) const { return ReadFile(OutputOf(running_.at(pid), "err")); }

Finished ProgramTest::Run(const std::string& arguments) { return Wait(Start(arguments)); }

std::vector<pid_t> ProgramTest::Processes(const std::vector<std::string>& words,
                                          const std::vector<std::string>& without) const {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    std::error_code gone_or_not_ours;
    if (!std::isdigit(static_cast<unsigned char>(name[0])) || fs::read_symlink(entry.path() / "cwd", gone_or_not_ours) != dir_)
      continue;
    const std::set<std::string> all = WordsOf(entry.path());
    const auto has = [&](const std::string& word) { return all.contains(word); };
    if (std::all_of(words.begin(), words.end(), has) && std::none_of(without.begin(), without.end(), has))
      found.push_back(std::stoi(name));
  }
  return found;
}

std::vector<pid_t> ProgramTest::TrialProcesses() const { return Processes({"run-trial"}, {kShim, "--check"}); }

fs::path ProgramTest::Out(const std::string& experiment) const { return dir_ / "outputs" / experiment; }

fs::path ProgramTest::Attempt(const std::string& experiment, int number) const {
  std::error_code none_yet;
  for (const auto& trial : fs::directory_iterator(Out(experiment) / "trials", none_yet))
    return trial.path() / ("attempt-" + std::to_string(number));
  return dir_ / "no-trial";
}

nlohmann::json ProgramTest::Result(const std::string& experiment) const {
  const std::string text = ReadFile(Attempt(experiment) / "result.json");
  return text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text);
}

std::vector<nlohmann::json> ProgramTest::Metrics(const std::string& experiment, int attempt) const {
  std::vector<nlohmann::json> lines = Lines(Attempt(experiment, attempt) / "metrics.jsonl");
  for (nlohmann::json& line : lines)
    if (line.is_object()) line.erase("time");
  return lines;
}

std::string ProgramTest::Values(const std::string& experiment, int attempt) const {
  std::string out;
  for (const nlohmann::json& line : Metrics(experiment, attempt)) out += line.dump() + "\n";
  return out;
}

bool ProgramTest::Begins(const std::string& experiment) const {
  return Until([&] { return !ReadFile(Attempt(experiment) / "metrics.jsonl").empty(); });
}

}  // namespace backplane::end_to_end
