// The process that a search is asked of (optuna_side.py): one for as long as a batch asks, with its study in memory.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/child.hpp"

namespace backplane {

// The process could not be started, it has ended, or it answers with an error: a sentence.
class SearchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr char kInstallSearch[] =
    "in a clone call scripts/bootstrap --with search, elsewhere `python3 -m pip install optuna cmaes scipy` with that Python; "
    "BACKPLANE_PYTHON names another one";

// Why a search by this method would not be answered here, and what to do; empty: nothing is missing. Loads no package.
std::string WhyNoSearch(const std::string& method);

class SideProcess {
 public:
  // `log` gets what it prints. Throws SearchError.
  explicit SideProcess(std::filesystem::path log);
  ~SideProcess();
  SideProcess(const SideProcess&) = delete;

  // Sends the request and waits for its reply. Throws SearchError.
  nlohmann::json Ask(const nlohmann::json& request);

 private:
  std::string NextLine();
  [[noreturn]] void SayThatItEnded();

  std::filesystem::path log_;
  std::string python_;
  int fd_ = -1;  // of the socket to it
  std::string unread_;
  std::unique_ptr<Child> child_;
};

}  // namespace backplane
