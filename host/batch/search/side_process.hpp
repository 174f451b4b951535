// The process that answers a search (optuna_side.py): one for as long as a batch asks, with its study in memory.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/child.hpp"
#include "base/line_peer.hpp"

namespace backplane {

// The process could not be started, it has ended, or its answer cannot be used: a sentence.
class SearchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr char kInstallSearch[] =
    "in a clone, run `scripts/bootstrap --with search`; elsewhere, run `python3 -m pip install optuna cmaes scipy` with that "
    "Python, or set BACKPLANE_PYTHON to a different one";

// Why a search by this method would not be answered here, and what to do; empty: nothing is missing. Loads no package.
std::string WhyNoSearch(const std::string& method);

// The part of the batch in a wait for an answer.
struct SearchWait {
  double limit_s = 300;                       // resources.hang_timeout: a process that is silent for longer is ended
  std::function<bool()> meanwhile = nullptr;  // called many times a second while a reply is late; false: stop waiting
};

class SideProcess {
 public:
  // `log` gets what it prints. Throws SearchError.
  SideProcess(std::filesystem::path log, SearchWait wait);
  ~SideProcess();
  SideProcess(const SideProcess&) = delete;

  // Sends the request and waits for its reply. Throws SearchError; after that the process has ended, unless it has rejected the
  // request itself.
  nlohmann::json Ask(const nlohmann::json& request);
  // Kills it. Later requests are errors.
  void End();

 private:
  using Clock = std::chrono::steady_clock;

  std::string Exchange(const std::string& line, const std::string& op);
  void LookAround();
  [[noreturn]] void Fail(const std::string& why);
  [[noreturn]] void FailAsEnded();

  const std::filesystem::path log_;
  const SearchWait wait_;
  std::string python_;
  std::unique_ptr<LinePeer> peer_;
  int log_fd_ = -1;               // to read its last words: its folder may have been moved aside since
  std::unique_ptr<Child> child_;  // NULL: it was ended
  Clock::time_point row_began_, last_reply_;
};

}  // namespace backplane
