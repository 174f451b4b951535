// bp_embed_error: the text of the calling thread's last error.
#pragma once

#include <string>
#include <utility>

#include "backplane/base.h"
#include "rollout/failure.hpp"

namespace backplane {

// Returns `status`. A constant text can be said by a signal handler too: nothing is allocated.
bp_status SayError(bp_status status, const char* constant) noexcept;
bp_status SayError(bp_status status, const std::string& text) noexcept;
void ForgetError() noexcept;
const char* LastError() noexcept;
const char* UnknownOptions() noexcept;

// Options were given that the env does not have: their names as a list in JSON.
class UnknownOptionsError : public TrialFailure {
 public:
  UnknownOptionsError(std::string names, const std::string& text)
      : TrialFailure(BP_E_CONFIG, "", text), names_(std::move(names)) {}
  const std::string& names() const { return names_; }

 private:
  std::string names_;
};

// A text that is handed out until the thread's next call of the same function.
const char* LendText(std::string text);

// Runs `body` and turns what it throws into a status with a sentence: where exceptions end.
bp_status StatusOfException() noexcept;
template <class Body>
bp_status Answer(Body&& body) noexcept {
  ForgetError();
  try {
    body();
    return BP_OK;
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace backplane
