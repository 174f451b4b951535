#include "program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "places.hpp"

namespace backplane::end_to_end {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& file) {
  std::ifstream in(file);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

namespace {

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
  file.header.erase("metrics_parts");  // lines hold times
  return file.header.dump() + file.parts;
}

bool HasPlugin(const std::string& file_name) { return fs::exists(fs::path(BACKPLANE_PLUGIN_DIR) / file_name); }

ProgramTest::ProgramTest() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  dir_ = fs::path(testing::TempDir()) / (std::string("backplane-") + info->test_suite_name() + "-" + info->name());
  fs::remove_all(dir_);
  fs::create_directories(dir_);
}

ProgramTest::~ProgramTest() {
  if (!HasFailure()) fs::remove_all(dir_);
}

fs::path ProgramTest::Write(const std::string& name, const std::string& text) {
  const fs::path file = dir_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
  return file;
}

pid_t ProgramTest::Start(const std::string& arguments) {
  const std::string command = "exec " BACKPLANE_BINARY_DIR "/bin/backplane " + arguments;
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (chdir(dir_.c_str()) != 0) _exit(99);
  const auto to = [](const char* name, int fd) { dup2(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644), fd); };
  to("out.txt", 1);
  to("err.txt", 2);
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(99);
}

Finished ProgramTest::Wait(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {exit, ReadFile(dir_ / "out.txt"), ReadFile(dir_ / "err.txt")};
}

Finished ProgramTest::Run(const std::string& arguments) { return Wait(Start(arguments)); }

fs::path ProgramTest::Attempt(const std::string& experiment, int number) {
  const fs::path trials = dir_ / "outputs" / experiment / "trials";
  if (!fs::exists(trials)) return dir_ / "no-trial";
  for (const auto& trial : fs::directory_iterator(trials)) return trial.path() / ("attempt-" + std::to_string(number));
  return dir_ / "no-trial";
}

nlohmann::json ProgramTest::Result(const std::string& experiment) {
  const std::string text = ReadFile(Attempt(experiment) / "result.json");
  return text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text);
}

std::string ProgramTest::Values(const std::string& experiment) {
  std::istringstream lines(ReadFile(Attempt(experiment) / "metrics.jsonl"));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json json = nlohmann::json::parse(line);
    json.erase("time");
    out += json.dump() + "\n";
  }
  return out;
}

}  // namespace backplane::end_to_end
