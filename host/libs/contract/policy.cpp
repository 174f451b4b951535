#include "contract/policy.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "text/units.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, FailureAction> kWords[] = {{"fail", FailureAction::kFail},
                                                            {"infeasible", FailureAction::kInfeasible},
                                                            {"shrink", FailureAction::kShrink},
                                                            {"keep_partial", FailureAction::kKeepPartial}};
constexpr const char* kIn = " in ";

}  // namespace

std::optional<FailureRule> ParseFailurePolicy(const json& written) {
  for (const auto& [word, action] : kWords) {
    if (written == word) return FailureRule{action, 0};
  }
  if (!written.is_object() || written.size() != 1 || !written.contains("retry")) return std::nullopt;
  const json& retries = written["retry"];
  if (!retries.is_number_integer() || retries.get<int64_t>() < 1) return std::nullopt;
  return FailureRule{FailureAction::kRetry, retries.get<uint64_t>()};
}

json FormatFailurePolicy(const FailureRule& policy) {
  for (const auto& [word, action] : kWords) {
    if (policy.action == action) return word;
  }
  return {{"retry", policy.retries}};
}

std::optional<FlappingLimit> ParseFlapping(const json& written) {
  if (written.is_number_integer() && written == 0) return FlappingLimit{0, 0};
  if (!written.is_string()) return std::nullopt;
  const std::string text = written.get<std::string>();
  const size_t in = text.find(kIn);
  if (in == std::string::npos) return std::nullopt;
  const std::optional<int64_t> failures = ParseInteger(text.substr(0, in));
  const std::optional<double> window_s = ParseDuration(text.substr(in + std::string_view(kIn).size()));
  if (!failures || *failures < 1 || !window_s || *window_s <= 0) return std::nullopt;
  return FlappingLimit{static_cast<uint64_t>(*failures), *window_s};
}

json FormatFlapping(const FlappingLimit& limit) {
  if (limit.failures == 0) return 0;
  return fmt::format("{}{}{}", limit.failures, kIn, FormatDuration(limit.window_s));
}

}  // namespace backplane
