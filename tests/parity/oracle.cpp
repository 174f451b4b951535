#include "oracle.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "places.hpp"

namespace backplane::parity {

bool Oracle::Installed() { return std::filesystem::exists(BACKPLANE_ORACLE_PYTHON); }
const char* Oracle::HowToInstall() {
  return "the packages to compare with are not installed in .venv-oracle; `scripts/test -R Parity` installs them and runs "
         "these tests";
}

Oracle::Oracle() {
  std::signal(SIGPIPE, SIG_IGN);  // a dead oracle is an error and does not end the tests
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipes for the oracle");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("no process for the oracle");
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execl(BACKPLANE_ORACLE_PYTHON, BACKPLANE_ORACLE_PYTHON, BACKPLANE_SOURCE_DIR "/tests/parity/" BACKPLANE_ORACLE_SCRIPT,
          nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
}

Oracle::~Oracle() {
  std::fclose(to_);
  std::fclose(from_);
  waitpid(pid_, nullptr, 0);
}

nlohmann::json Oracle::Ask(const nlohmann::json& request) {
  const std::string line = request.dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), to_);
  std::fflush(to_);
  nlohmann::json answer = ReadLine();
  if (answer.contains("error")) throw std::runtime_error("the oracle says: " + answer["error"].get<std::string>());
  return answer;
}

std::vector<char> Oracle::AskBytes(const nlohmann::json& request) {
  std::vector<char> bytes(Ask(request).at("bytes").get<size_t>());
  if (std::fread(bytes.data(), 1, bytes.size(), from_) != bytes.size())
    throw std::runtime_error("the oracle ended in an answer");
  return bytes;
}

nlohmann::json Oracle::ReadLine() {
  char* text = nullptr;
  size_t capacity = 0;
  const ssize_t n = getline(&text, &capacity, from_);
  const std::string line(text, n > 0 ? static_cast<size_t>(n) : 0);
  std::free(text);
  if (line.empty()) throw std::runtime_error("the oracle ended; its last words stand above");
  return nlohmann::json::parse(line);
}

}  // namespace backplane::parity
