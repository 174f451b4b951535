// The result of one case of `backplane plugin validate`.
#pragma once

#include <string>
#include <utility>

#include "record/fields.hpp"
#include "validate/plugin_call.hpp"

namespace backplane {

enum class CaseVerdict { kPassed = 1, kSkipped, kWarning, kFailed, kCrashed };

constexpr auto WordsOf(CaseVerdict) {
  return std::to_array<WordOf<CaseVerdict>>({{CaseVerdict::kPassed, "PASSED"},
                                             {CaseVerdict::kSkipped, "SKIPPED"},
                                             {CaseVerdict::kWarning, "WARNING"},
                                             {CaseVerdict::kFailed, "FAILED"},
                                             {CaseVerdict::kCrashed, "CRASHED"}});
}

inline constexpr char kCrashCause[] = "crash", kExitCause[] = "exit", kHangCause[] = "hang", kErrorCause[] = "error";

struct CaseResult {
  std::string name;
  CaseVerdict verdict = CaseVerdict::kPassed;
  std::string note;                  // reason of a skip, or a measurement
  std::string place, wanted, found;  // of the error
  std::string mend;
  std::string cause;  // crash, exit, hang or error, if the rule could not be tested; empty: the rule is broken
  double seconds = 0;
  double steps_per_s = 0;  // from the case that measures speed
  CallSet stuck = {};      // functions of the plugin that did not return, if the case took too long

  bool bad() const { return verdict == CaseVerdict::kFailed || verdict == CaseVerdict::kCrashed; }

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("case", self.name);
    visit("verdict", self.verdict);
    visit("note", LeftOutIfEmpty(self.note));
    visit("place", LeftOutIfEmpty(self.place));
    visit("wanted", LeftOutIfEmpty(self.wanted));
    visit("found", LeftOutIfEmpty(self.found));
    visit("mend", LeftOutIfEmpty(self.mend));
    visit("cause", LeftOutIfEmpty(self.cause));
    visit("seconds", self.seconds);
    visit("steps_per_s", LeftOutIfEmpty(self.steps_per_s));
  }
};

// Thrown by a case to end with a verdict other than PASSED.
struct CaseEnd {
  CaseResult result;
};

// `mend` empty: uses the text in the table of cases.
[[noreturn]] inline void FailCase(std::string place, std::string wanted, std::string found, std::string mend = "") {
  throw CaseEnd{{"", CaseVerdict::kFailed, "", std::move(place), std::move(wanted), std::move(found), std::move(mend)}};
}
// A call of the plugin returned an error, so the rule was not tested.
[[noreturn]] inline void FailCall(std::string call, std::string found) {
  CaseResult result;
  result.verdict = CaseVerdict::kFailed;
  result.place = std::move(call), result.wanted = "BP_OK", result.found = std::move(found), result.cause = kErrorCause;
  throw CaseEnd{std::move(result)};
}
[[noreturn]] inline void WarnCase(std::string place, std::string wanted, std::string found, std::string mend = "") {
  throw CaseEnd{{"", CaseVerdict::kWarning, "", std::move(place), std::move(wanted), std::move(found), std::move(mend)}};
}
[[noreturn]] inline void SkipCase(std::string why) { throw CaseEnd{{"", CaseVerdict::kSkipped, std::move(why)}}; }

}  // namespace backplane
