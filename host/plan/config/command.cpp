#include "config/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/suggest.hpp"
#include "contract/value.hpp"

namespace backplane {
namespace {

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::filesystem::path FolderOf(const Node& node) { return node.mark.source ? node.mark.source->folder : ""; }

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

bool IsGiven(const Node& root, const char* path) {
  const Node* node = FindPath(root, path);
  return node != nullptr && !node->IsNull();
}

// The nearest names of Python files next to a missing one.
std::string NearestFiles(const std::filesystem::path& missing) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(missing.parent_path(), error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".py") names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return DidYouMean(Nearest(missing.filename().string(), Candidates(names)));
}

// The trial process looks for the function in the file (trial/command/check_commands.cpp).
void CheckFunction(Node* function, Errors* errors) {
  if (!function->IsScalar() || function->reported) return;
  const size_t colon = function->text.rfind(':');
  const std::string file = function->text.substr(0, colon), name = function->text.substr(std::min(colon, file.size()));
  if (name.size() < 2 || file.empty() || name.find('/') != name.npos) {
    errors->Add(function->mark,
                fmt::format("learner.function: expected FILE:NAME such as train.py:train, got '{}'", function->text));
    function->reported = true;
    return;
  }
  const std::string path = AbsolutePath(file, function->mark);
  if (!IsFile(path)) {
    errors->Add(function->mark, fmt::format("learner.function: expected a Python file at '{}', got none{}", path,
                                            errors->WantsHint(function->mark) ? NearestFiles(path) : ""));
    function->reported = true;
  }
  function->text = path + name;
}

// It accepts options of any name, because it gets them as one mapping.
PluginSlot ResolveFunction(PluginInfo info, Node* root, Errors* errors) {
  info.id = kFunctionLearner;
  info.summary = "your function";
  CheckFunction(FindPath(root, kFunctionLearner), errors);
  if (Node* python = FindPath(root, "learner.python");
      python && python->IsScalar() && python->text.find('/') != std::string::npos)
    python->text = AbsolutePath(python->text, python->mark);
  return {BP_KIND_LEARNER, "learner", std::make_shared<OptionTable>(info), FolderOf(*FindPath(*root, kFunctionLearner))};
}

}  // namespace

bool HasCommand(const Node& root) { return IsGiven(root, kCommandLearner) || IsGiven(root, kFunctionLearner); }

bool IsOfCommand(const OptionTable& table) { return table.info().id == kCommandLearner || table.info().id == kFunctionLearner; }

PluginSlot ResolveCommand(Node* root, Errors* errors) {
  PluginInfo info;
  info.kind = BP_KIND_LEARNER;
  info.id = kCommandLearner;
  info.summary = "your program";
  if (IsGiven(*root, kFunctionLearner)) return ResolveFunction(std::move(info), root, errors);
  Node* command = FindPath(root, kCommandLearner);
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
  return {BP_KIND_LEARNER, "learner", std::make_shared<OptionTable>(info), FolderOf(*command)};
}

PluginSlot SlotWithoutEnv() {
  PluginInfo info;
  info.kind = BP_KIND_ENV;
  info.id = kNoEnv;
  return {BP_KIND_ENV, "env", std::make_shared<OptionTable>(info)};
}

}  // namespace backplane
