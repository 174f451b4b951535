#include "study/compare_rules.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "record/results_folder.hpp"
#include "yaml/errors.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {

using nlohmann::json;

std::optional<CompareTerms> RulesOfResults(const std::filesystem::path& out) {
  const std::filesystem::path trials = ResultsFolder{out}.trials();
  // An unstarted batch had no look.
  if (!std::filesystem::exists(trials) || std::filesystem::is_empty(trials)) return std::nullopt;
  const std::filesystem::path file = ResultsFolder{out}.config();
  const std::optional<std::string> text = ReadFile(file);
  if (!text) return std::nullopt;
  Errors errors;
  const std::optional<Node> root = ParseDocument(*text, MakeSource(file.string(), "", *text, 0), &errors);
  const Node* compare = root && errors.empty() ? FindPath(*root, "compare") : nullptr;
  return compare ? std::optional(ReadTolerantly<CompareTerms>(PlainJson(*compare))) : std::nullopt;
}

std::string ChangedRule(const CompareTerms& then, const CompareTerms& now) {
  const json before = ToJson(then), after = ToJson(now);
  json keys = before;
  keys.update(after);
  const auto change = [&](const std::string& key) -> std::string {
    const json was = before.value(key, json()), is = after.value(key, json());
    // The better direction changes no test, and a comparison may be invalid until it is set.
    if (was == is || (key == "direction" && was.is_null())) return "";
    return fmt::format("{}: {} and not {}", key, was.dump(), is.dump());
  };
  // The tasks first, because they also contain the direction.
  if (std::string text = change("tasks"); !text.empty()) return text;
  for (const auto& [key, value] : keys.items())
    if (std::string text = change(key); !text.empty()) return text;
  return "";
}

}  // namespace backplane
