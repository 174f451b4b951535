#include "record/trial_names.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "record/plan_file.hpp"

namespace backplane {
namespace {

struct Name {
  std::vector<std::string> own;                             // "before"
  std::vector<std::pair<std::string, std::string>> values;  // of its axes
};

Name Parse(const std::string& text) {
  constexpr const char* kBlanks = " \t\n\v\f\r";
  Name name;
  for (size_t from = text.find_first_not_of(kBlanks); from != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, from), text.size());
    const std::string word = text.substr(from, end - from);
    from = text.find_first_not_of(kBlanks, end);
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      name.own.push_back(word);
    else
      name.values.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return name;
}

void DropWhatAllShare(std::vector<Name>* names) {
  std::map<std::string, size_t> own;
  std::map<std::pair<std::string, std::string>, size_t> values;
  for (const Name& name : *names) {
    for (const std::string& word : std::set<std::string>(name.own.begin(), name.own.end())) ++own[word];
    for (const auto& value : std::set(name.values.begin(), name.values.end())) ++values[value];
  }
  for (Name& name : *names) {
    std::erase_if(name.own, [&](const std::string& word) { return own[word] == names->size(); });
    std::erase_if(name.values, [&](const auto& value) { return values[value] == names->size(); });
  }
}

std::vector<std::string> KeysOf(const Name& name) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : name.values) keys.push_back(key);
  return keys;
}

std::string Join(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string TextOf(const Name& name, bool values_alone) {
  std::vector<std::string> values, words = name.own;
  for (const auto& [key, value] : name.values) values.push_back(values_alone ? value : key + "=" + value);
  if (!values.empty()) words.push_back(Join(values, values_alone ? " x " : " "));
  return Join(words, " ");
}

}  // namespace

TrialNames ShortTrialNames(const std::vector<PlanLine>& plan) {
  const bool several_seeds = HasSeveralSeeds(plan);
  std::vector<Name> parsed;
  std::vector<std::string> whole, seeds;
  for (const PlanLine& line : plan) {
    if (line.dropped) continue;
    parsed.push_back(Parse(line.name));
    whole.push_back(DisplayName(line, several_seeds));
    seeds.push_back(several_seeds || line.name.empty() ? "seed=" + std::to_string(line.seed) : "");
  }
  DropWhatAllShare(&parsed);
  const bool alike = std::ranges::all_of(parsed, [&](const Name& name) { return KeysOf(name) == KeysOf(parsed.front()); });
  TrialNames result;
  const bool values_alone = alike && !parsed.empty() && parsed.front().values.size() > 1;
  if (values_alone) result.heading = Join(KeysOf(parsed.front()), " x ");
  for (size_t i = 0; i < parsed.size(); ++i) {
    std::string name = TextOf(parsed[i], values_alone);
    if (!seeds[i].empty()) name += (name.empty() ? "" : " ") + seeds[i];
    result.names.push_back(std::move(name));
  }
  const std::set<std::string> distinct(result.names.begin(), result.names.end());
  if (distinct.size() < result.names.size() || distinct.contains("")) return {"trial", std::move(whole)};
  return result;
}

}  // namespace backplane
