// The reference implementation in a Python process: the script of this folder that the test program names
// (BACKPLANE_ORACLE_SCRIPT). It ends when its stdin does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane::parity {

class Oracle {
 public:
  // Throws std::runtime_error if the process cannot be started.
  Oracle();
  ~Oracle();
  Oracle(const Oracle&) = delete;

  static bool Installed();
  // The command that installs it, as a sentence.
  static const char* HowToInstall();

  // Sends a request and returns the answer (see the head of the script). Throws std::runtime_error with the oracle's error.
  nlohmann::json Ask(const nlohmann::json& request);
  // The same for a request with a binary answer.
  std::vector<char> AskBytes(const nlohmann::json& request);

 private:
  nlohmann::json ReadLine();

  pid_t pid_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

// One for the whole test program, from the first call to the end of main.
Oracle& TheOracle();

}  // namespace backplane::parity
