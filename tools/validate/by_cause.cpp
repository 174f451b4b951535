#include "validate/by_cause.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "validate/case_table.hpp"

namespace backplane {
namespace {

constexpr std::string_view kCauses[] = {kCrashCause, kExitCause, kHangCause, kErrorCause, ""};

auto Rank(const CaseResult& result) {
  const Case* const one = FindCase(result.name);
  const auto cause = std::ranges::find(kCauses, result.cause) - std::begin(kCauses);
  return std::tuple(cause, result.cause.empty() ? one->evidence : Evidence::kBasic, one - AllCases().data());
}

bool Is(const CaseResult& result, Evidence evidence) {
  return result.cause.empty() && FindCase(result.name)->evidence == evidence;
}

// "step of rows [0, 4) in slot 1" -> "step"
std::string Function(const std::string& place) {
  size_t end = place.size();
  for (const char* word : {" of ", " with ", " in ", " for ", " by ", " before ", " after ", ","})
    end = std::min(end, place.find(word));
  return place.substr(0, end);
}

std::string WithoutNumbers(std::string text) {
  text.resize(std::min(text.size(), text.find("; it printed")));
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

bool IsSame(const CaseResult& a, const CaseResult& b) {
  if (a.cause != b.cause || WithoutNumbers(a.found) != WithoutNumbers(b.found)) return false;
  return a.cause.empty() ? a.place == b.place && a.wanted == b.wanted : Function(a.place) == Function(b.place);
}

// A case that calls the same functions passed, so only this case's rule explains the failure.
bool IsOfRule(const CaseResult& result, const std::vector<CaseResult>& results) {
  if (result.cause.empty()) return true;
  const CallSet calls = FindCase(result.name)->calls;
  return std::ranges::any_of(results, [&](const CaseResult& other) {
    return other.verdict == CaseVerdict::kPassed && (FindCase(other.name)->calls & calls) == calls;
  });
}

}  // namespace

std::vector<Failure> ByCause(const std::vector<CaseResult>& results) {
  std::vector<const CaseResult*> bad;
  for (const CaseResult& result : results)
    if (result.bad()) bad.push_back(&result);
  std::ranges::sort(bad, {}, [](const CaseResult* result) { return Rank(*result); });
  std::vector<Failure> failures;
  for (const CaseResult* result : bad) {
    const auto same = std::ranges::find_if(failures, [&](const Failure& one) { return IsSame(*one.first, *result); });
    const auto basic = std::ranges::find_if(failures, [&](const Failure& one) { return Is(*one.first, Evidence::kBasic); });
    if (same != failures.end()) {
      ++same->same, same->is_of_rule &= result->cause.empty();
    } else if (basic != failures.end() && Is(*result, Evidence::kCompares)) {
      ++basic->hidden;
    } else {
      failures.push_back({result, 0, 0, IsOfRule(*result, results)});
    }
  }
  return failures;
}

}  // namespace backplane
