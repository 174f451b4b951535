#include "config/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "contract/value.hpp"

namespace backplane {
namespace {

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// A word with a slash is a path even if it is a folder or does not exist yet.
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

bool HasCommand(const Node& root) {
  const Node* command = FindPath(root, "learner.command");
  return command != nullptr && !command->IsNull();
}

PluginSlot ResolveCommand(Node* root) {
  PluginInfo info;
  info.kind = BP_KIND_LEARNER;
  info.id = kCommandLearner;
  info.summary = "your program";
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
      option.doc = "value of {" + name + "} in learner.command";
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
