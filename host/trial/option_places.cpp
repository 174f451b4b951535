#include "trial/option_places.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace backplane {
namespace {

bool InWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The position of `word` as a whole word (`lr` is no part of `already`); npos: none.
size_t FindWord(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !InWord(text[at - 1])) && (end == text.size() || !InWord(text[end]))) return at;
  }
  return std::string::npos;
}

}  // namespace

std::vector<NamedOption> OptionsNamed(const std::string& sentence, const std::map<std::string, std::string>& origin,
                                      const std::string& section) {
  std::map<size_t, NamedOption> by_position;  // one per word
  for (const auto& [path, place] : origin) {
    const size_t options = path.find(".options.");
    if (options == std::string::npos) continue;
    const size_t at = FindWord(sentence, path.substr(options + 9));
    if (at == std::string::npos) continue;
    const auto [known, fresh] = by_position.try_emplace(at, NamedOption{path, place});
    if (!fresh && path.starts_with(section + ".")) known->second = {path, place};
  }
  std::vector<NamedOption> named;
  for (auto& [at, option] : by_position) named.push_back(std::move(option));
  return named;
}

std::optional<NamedOption> MonitorNamed(const std::string& section, const std::string& plugin,
                                        const std::map<std::string, std::string>& origin) {
  if (!section.starts_with("monitors.") || !plugin.starts_with("monitor.")) return std::nullopt;
  const auto found = origin.find(section.substr(0, section.rfind('.')) + ".plugin");
  return found == origin.end() ? std::nullopt : std::optional(NamedOption{found->first, found->second});
}

std::string PlacesText(const std::string& sentence, const std::vector<NamedOption>& options) {
  std::string text;
  for (const NamedOption& option : options) {
    if (sentence.find(option.place) != std::string::npos) continue;
    text += (text.empty() ? " (" : ", ") + option.path + " at " + option.place;
  }
  return text.empty() ? "" : text + ")";
}

}  // namespace backplane
