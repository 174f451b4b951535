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

std::string TextOf(const Name& name) {
  std::string text;
  for (const std::string& word : name.own) text += (text.empty() ? "" : " ") + word;
  for (const auto& [key, value] : name.values) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text;
}

}  // namespace

std::vector<std::string> ShortTrialNames(const std::vector<PlanLine>& plan) {
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
  std::vector<std::string> names;
  for (size_t i = 0; i < parsed.size(); ++i) {
    std::string name = TextOf(parsed[i]);
    if (!seeds[i].empty()) name += (name.empty() ? "" : " ") + seeds[i];
    names.push_back(std::move(name));
  }
  const std::set<std::string> distinct(names.begin(), names.end());
  return distinct.size() < names.size() || distinct.contains("") ? whole : names;
}

}  // namespace backplane
