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
// If one of these fails, results of two runs may differ for this reason.
constexpr std::string_view kBasic[] = {"stays-in-its-buffers",  "writes-only-its-rows", "writes-every-output",
                                       "act-writes-its-rows",   "same-seed-same-bytes", "act-repeats",
                                       "same-seed-same-learner"};
constexpr std::string_view kComparing[] = {
    "uses-strides",        "reset-forgets",      "instances-share-nothing", "rows-are-independent",
    "split-ranges",        "threads-same-bytes", "slots-same-bytes",        "snapshot-continues",
    "act-reads-its-rows",  "row-exact",          "act-in-threads",          "threads-change-nothing",
    "rows-change-nothing", "state-comes-back",   "state-continues",         "state-replaces",
    "two-threads",         "newer-host",         "pictures-change-nothing"};

size_t PlaceIn(const auto& list, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(list, name) - std::begin(list));
}

size_t PlaceInTable(const CaseResult& result) {
  const auto& all = AllCases();
  return static_cast<size_t>(std::ranges::find(all, result.name, [](const Case& one) { return std::string(one.name); }) -
                             all.begin());
}

auto Rank(const CaseResult& result) {
  const size_t basic = PlaceIn(kBasic, result.name), comparing = PlaceIn(kComparing, result.name);
  return std::tuple(PlaceIn(kCauses, result.cause), result.cause.empty() ? basic : 0, result.cause.empty() ? comparing : 0,
                    PlaceInTable(result));
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
    const auto basic = std::ranges::find_if(failures, [&](const Failure& one) {
      return one.first->cause.empty() && std::ranges::find(kBasic, one.first->name) != std::end(kBasic);
    });
    const bool compares = std::ranges::find(kComparing, result->name) != std::end(kComparing);
    if (same != failures.end()) {
      ++same->same, same->is_of_rule &= result->cause.empty();
    } else if (basic != failures.end() && compares && result->cause.empty()) {
      ++basic->hidden;
    } else {
      failures.push_back({result, 0, 0, IsOfRule(*result, results)});
    }
  }
  return failures;
}

}  // namespace backplane
