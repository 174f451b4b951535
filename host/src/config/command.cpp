#include "config/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "config/value.hpp"

namespace backplane {
namespace {

// A piece of a word: text as it stands, or a placeholder's name.
struct Piece {
  bool placeholder = false;
  std::string text;
};

bool IsPlaceholderName(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
  });
}

std::optional<std::vector<Piece>> PiecesOf(std::string_view word, std::string* why_not) {
  std::vector<Piece> pieces(1);
  for (size_t at = 0; at < word.size(); ++at) {
    const char c = word[at];
    const bool doubled = at + 1 < word.size() && word[at + 1] == c;
    if ((c != '{' && c != '}') || doubled) {
      pieces.back().text += c;
      at += c == '{' || c == '}' ? 1 : 0;
      continue;
    }
    const size_t end = c == '{' ? word.find('}', at) : word.npos;
    const std::string_view name = end == word.npos ? "" : word.substr(at + 1, end - at - 1);
    if (!IsPlaceholderName(name)) {
      *why_not = fmt::format("'{}' has a '{}' that begins no placeholder such as {{seed}} or {{lr}}; a brace itself is '{}{}'",
                             word, c, c, c);
      return std::nullopt;
    }
    pieces.push_back({true, std::string(name)});
    pieces.emplace_back();
    at = end;
  }
  return pieces;
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// A word that says by a slash that it is a path is one also where it is a folder, or nothing yet.
void MakeWordAbsolute(Node* word, bool is_program) {
  const std::string plain = PlainWord(word->text);
  const bool is_path = plain.find('/') != std::string::npos;
  if (plain.empty() || plain.front() == '-' || (is_program && !is_path)) return;
  const std::string path = AbsolutePath(plain, word->mark);
  std::error_code error;
  const bool there = is_path ? std::filesystem::exists(path, error) : IsFile(path);
  if (!there && !(is_program && is_path)) return;
  std::string text;
  for (const char c : path) text += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  word->text = std::move(text);
}

}  // namespace

bool IsHostPlaceholder(std::string_view name) {
  return std::find(kHostPlaceholders.begin(), kHostPlaceholders.end(), name) != kHostPlaceholders.end();
}

std::optional<std::vector<std::string>> PlaceholdersIn(std::string_view word, std::string* why_not) {
  const auto pieces = PiecesOf(word, why_not);
  if (!pieces) return std::nullopt;
  std::vector<std::string> names;
  for (const Piece& piece : *pieces)
    if (piece.placeholder) names.push_back(piece.text);
  return names;
}

std::string FillPlaceholders(std::string_view word, const std::function<std::string(const std::string& name)>& value_of) {
  std::string why_not, text;
  for (const Piece& piece : PiecesOf(word, &why_not).value_or(std::vector<Piece>()))
    text += piece.placeholder ? value_of(piece.text) : piece.text;
  return text;
}

std::string PlainWord(std::string_view word) {
  std::string why_not;
  const auto pieces = PiecesOf(word, &why_not);
  return pieces && pieces->size() == 1 ? pieces->front().text : "";
}

bool HasCommand(const Node& root) {
  const Node* command = FindPath(root, "learner.command");
  return command != nullptr && !command->IsNull();
}

PluginSlot ResolveCommand(Node* root) {
  PluginInfo info;
  info.kind = BP_KIND_LEARNER;
  info.id = kCommandLearner;
  info.summary = "a program of the user's";
  Node* command = FindPath(root, "learner.command");
  std::set<std::string> known;
  for (size_t i = 0; i < command->items.size(); ++i) {
    Node& word = command->items[i];
    if (!word.IsScalar()) continue;
    MakeWordAbsolute(&word, i == 0);
    std::string why_not;
    for (const std::string& name : PlaceholdersIn(word.text, &why_not).value_or(std::vector<std::string>())) {
      if (IsHostPlaceholder(name) || !known.insert(name).second) continue;
      OptionInfo option;
      option.path = name;
      option.type = static_cast<uint16_t>(ValueType::kScalar);
      option.flags = BP_PARAM_REQUIRED;
      option.doc = "stands for {" + name + "} in learner.command";
      info.options.push_back(std::move(option));
    }
  }
  PluginSlot slot{BP_KIND_LEARNER, "learner", std::make_shared<OptionTable>(info)};
  if (command->mark.source) slot.folder = command->mark.source->folder;
  return slot;
}

PluginSlot SlotWithoutEnv() {
  PluginInfo info;
  info.kind = BP_KIND_ENV;
  info.id = kNoEnv;
  return {BP_KIND_ENV, "env", std::make_shared<OptionTable>(info)};
}

}  // namespace backplane
