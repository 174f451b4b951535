// The process that answers a search (optuna_side.py). It lives as long as the batch needs suggestions and keeps the study in
// memory.
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

// The process did not start, has ended, or sent an unusable answer. A sentence.
class SearchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A sentence with a fix if this machine cannot search by this method. Empty: no package is missing. Loads no package.
std::string WhyNoSearch(const std::string& method);

// The batch's behaviour while it waits for an answer.
struct SearchWait {
  double limit_s = 300;                       // resources.hang_timeout: a process that is silent for longer is ended
  std::function<bool()> meanwhile = nullptr;  // called many times per second while a reply is late; false: stop waiting
};

class SideProcess {
 public:
  // `log` receives the output of the process. Throws SearchError.
  SideProcess(std::filesystem::path log, SearchWait wait);
  ~SideProcess();
  SideProcess(const SideProcess&) = delete;

  // Sends the request and waits for its reply. Throws SearchError; then the process has ended, unless it rejected the request
  // itself.
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
  int log_fd_ = -1;               // to read its last output even if its folder was moved
  std::unique_ptr<Child> child_;  // NULL: it has ended
  Clock::time_point row_began_, last_reply_;
};

}  // namespace backplane
