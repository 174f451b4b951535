#include "arguments/mistake.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>

#include "arguments/find_option.hpp"
#include "arguments/help_page.hpp"
#include "base/shell_argument.hpp"

namespace backplane {
namespace {

using Words = std::vector<std::string>;

// Options of other tools that this program replaces by a default: the answer, and the option to use, if any.
struct OtherOption {
  std::string_view name, answer, option;
};
constexpr OtherOption kOtherOptions[] = {
    {"--resume", "the same command resumes the experiment", ""},
    {"--continue", "the same command resumes the experiment", ""},
    {"--restore", "the same command resumes the experiment", ""},
    {"--overwrite", "--fresh moves old results aside", "--fresh"},
};

std::string Joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + ShellArgument(word);
  return text;
}

// Options stand before `--`.
void AddOptions(const Words& options, Words* words) {
  words->insert(std::ranges::find(*words, "--"), options.begin(), options.end());
}

// `words` with `count` of them, from `at` on, replaced.
Words Replaced(Words words, size_t at, size_t count, const Words& by) {
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
  const auto next = words.erase(first, first + static_cast<std::ptrdiff_t>(std::min(count, words.size() - at)));
  words.insert(next, by.begin(), by.end());
  return words;
}

Words CommandNames(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : CommandsBelow(app)) names.push_back(command->get_name());
  return names;
}

Words OptionNames(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); }))
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool HasPlaces(const CLI::App& app) {
  return !app.get_options([](const CLI::Option* option) { return option->get_positional(); }).empty();
}

bool IsFile(const std::string& word) {
  std::error_code error;
  return std::filesystem::is_regular_file(word, error);
}

bool IsUnclosed(const std::string& value) {
  const auto count = [&](char c) { return std::count(value.begin(), value.end(), c); };
  return count('[') > count(']') || count('{') > count('}') || count('(') > count(')');
}

class Explainer {
 public:
  Explainer(const CLI::App& root, const Words& words, const Meanings& meant) : root_(root), words_(words), meant_(meant) {}

  std::optional<Mistake> Find() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "--") break;  // only positional words follow
      const Words commands = CommandNames(*app_);
      if (IsOptionWord(word)) {
        const CLI::Option* option = OptionCalled(*app_, word);
        if (option == nullptr) return UnknownOption();
        const bool is_name_only = word.starts_with("--") ? word.find('=') == word.npos : word.size() == 2;
        if (is_name_only && option->get_items_expected_min() > 0) ++at_;
      } else if (const CLI::App* command = CommandCalled(*app_, word)) {
        app_ = command;
      } else if (!commands.empty() && (app_ == &root_ || !HasPlaces(*app_))) {
        return UnknownCommand(commands);
      }
    }
    return std::nullopt;
  }

  // A missing argument, or a word too many.
  std::optional<Mistake> FindLeftOver(const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return Missing();
    for (size_t i = 0; i + 2 < words_.size() && words_[i] != "--"; ++i) {
      const CLI::Option* option = OptionCalled(*app_, words_[i]);
      if (option == nullptr || option->get_items_expected_max() == 0 || words_[i].find('=') != std::string::npos) continue;
      if (const std::optional<Mistake> split = SplitValue(i, *option)) return split;
    }
    return std::nullopt;
  }

 private:
  // `--batch 1 4 16`, or a value that the shell split at its spaces.
  std::optional<Mistake> SplitValue(size_t at, const CLI::Option& option) const {
    std::string value = words_[at + 1];
    const bool is_list = ShownType(option).find("...") != std::string::npos;
    if (!IsUnclosed(value) && !is_list) return std::nullopt;
    const char* between = IsUnclosed(value) ? " " : ",";
    size_t end = at + 2;
    while (end < words_.size() &&
           (is_list ? words_[end].find('=') == std::string::npos && !IsOptionWord(words_[end]) && !IsFile(words_[end])
                    : IsUnclosed(value)))
      value += between + words_[end++];
    if (end == at + 2) return std::nullopt;
    const Words by = is_list ? Words{words_[at] + "=" + value} : Words{words_[at], value};
    return Mistake{fmt::format("expected one value of {}, got '{}' as a further word", words_[at], words_[at + 2]),
                   Joined(Replaced(words_, at, end - at, by))};
  }

  std::optional<Mistake> Missing() const {
    const auto missing = app_->get_options([](const CLI::Option* one) { return one->get_required() && one->count() == 0; });
    if (missing.empty()) return std::nullopt;
    const CLI::Option& first = *missing.front();
    return Mistake{fmt::format("expected {}, got none", first.get_positional() ? ShownType(first) : first.get_name()), ""};
  }

  Mistake UnknownCommand(const Words& commands) const {
    const std::string& word = words_[at_];
    const auto from = words_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto later = std::find_first_of(from, words_.end(), commands.begin(), commands.end());
    const std::string what = "unknown command '" + word + "'";
    if (later != words_.end()) {  // `export OUT csv`
      Words moved = words_;
      moved.erase(moved.begin() + (later - words_.begin()));
      return {what, Joined(Replaced(moved, at_, 0, {*later}))};
    }
    const std::string meant = at_ == 0 && meant_.command ? meant_.command(word) : "";
    if (!meant.empty()) return {what, Filled(meant)};
    Words names = commands;
    if (app_ == &root_) names.push_back("help");  // TypedWords makes an option of it
    const Words near = Nearest(word, Candidates(names));
    if (near.empty()) return {what, ""};
    return {what + DidYouMean(near), Joined(Replaced(words_, at_, 1, {near.front()}))};
  }

  // "run FILE" with the words behind the command that it replaces.
  std::string Filled(const std::string& meant) const {
    Words rest(words_.begin() + 1, words_.end()), line;
    const auto take = [&](const auto& fits) -> std::string {
      const auto found = std::find_if(rest.begin(), rest.end(), fits);
      if (found == rest.end()) return "";
      std::string word = std::move(*found);
      rest.erase(found);
      return word;
    };
    std::error_code error;
    bool is_whole = true;
    for (size_t from = 0; from < meant.size();) {
      const size_t end = std::min(meant.find(' ', from), meant.size());
      std::string word = meant.substr(from, end - from), filled = word;
      from = end + 1;
      if (word == "FILE") {
        filled = take(IsFile);
        if (filled.empty() && meant_.file) filled = meant_.file(rest), rest.clear();
      } else if (word == "OUT") {
        filled = take([&](const std::string& one) { return std::filesystem::is_directory(one, error); });
      } else if (word == "ID") {
        filled = take([](const std::string& one) { return !IsOptionWord(one); });
      }
      is_whole = is_whole && !filled.empty();
      line.push_back(filled.empty() ? word : filled);
    }
    if (is_whole) line.insert(line.end(), rest.begin(), rest.end());
    return Joined(line);
  }

  // An option of another tool is often a value of the experiment.
  Mistake UnknownOption() const {
    const std::string& word = words_[at_];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool has_next = equals == word.npos && at_ + 1 < words_.size() && !IsOptionWord(words_[at_ + 1]);
    const std::string value = equals != word.npos ? word.substr(equals + 1) : has_next ? words_[at_ + 1] : "";
    const size_t count = has_next ? 2 : 1;
    Mistake mistake{"unknown option '" + name + "'", ""};
    for (const OtherOption& other : kOtherOptions) {
      if (other.name != name) continue;
      mistake.what += fmt::format("; {}", other.answer);
      mistake.hint =
          Joined(other.option.empty() ? Resumed(value, count) : Replaced(words_, at_, 1, {std::string(other.option)}));
      return mistake;
    }
    if (const std::optional<Words> moved = OfCommand(count)) return {mistake.what + " before the command", Joined(*moved)};
    const Words near = name.starts_with("--") ? Nearest(name, Candidates(OptionNames(*app_))) : Words();
    const bool is_begun = !near.empty() && near.front().starts_with(name);
    if (meant_.option && !is_begun) {
      Words others = Replaced(words_, at_, count, {});
      if (app_ == &root_ && !others.empty() && IsFile(others.front())) others.insert(others.begin(), "run");
      const size_t before = others.size();
      const Words by = meant_.option(name, value, &others);
      if (!by.empty() || others.size() != before) {
        AddOptions(by, &others);
        return {mistake.what, Joined(others)};
      }
    }
    const Words set = is_begun ? Words() : MeantSettings(name, value, /*in_full=*/!near.empty());
    if (!set.empty()) {
      const bool is_value = has_next && !IsFile(value);
      mistake.hint = Joined(Replaced(words_, at_, is_value ? 2 : 1, {"--set", set.front()}));
      if (set.size() > 1) mistake.what += DidYouMean(set);
    } else if (!near.empty()) {
      mistake.what += DidYouMean(near);
      mistake.hint = Joined(Replaced(words_, at_, 1, {near.front() + (equals == word.npos ? "" : word.substr(equals))}));
    }
    return mistake;
  }

  // `run FILE --resume OUT` is `run OUT`. Any other value is dropped, unless it is the only file.
  Words Resumed(const std::string& value, size_t count) const {
    std::error_code error;
    Words line = Replaced(words_, at_, count, {});
    const auto file = std::ranges::find_if(line, IsFile);
    if (std::filesystem::is_directory(value, error)) {
      if (file == line.end()) return Replaced(line, at_, 0, {value});
      *file = value;
    } else if (file == line.end() && count > 1) {
      return Replaced(line, at_, 0, {value});
    }
    return line;
  }

  // The line with an option of the command that stands before it, as in `backplane --verbose run FILE`.
  std::optional<Words> OfCommand(size_t count) const {
    for (const size_t used : {size_t{1}, count}) {
      const CLI::App* command = at_ == 0 && used < words_.size() ? CommandCalled(root_, words_[used]) : nullptr;
      if (command == nullptr || OptionCalled(*command, words_[0]) == nullptr) continue;
      Words line(words_.begin() + static_cast<std::ptrdiff_t>(used), words_.end());
      AddOptions(Words(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(used)), &line);
      return line;
    }
    return std::nullopt;
  }

  // {"learner.options.lr=1e-3"} for `--lr 1e-3`; empty: no name is near. in_full: only for the same name.
  Words MeantSettings(const std::string& option, const std::string& value, bool in_full) const {
    if (!meant_.names_to_set) return {};
    std::vector<Candidate> names = meant_.names_to_set(words_);
    std::string key = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    std::ranges::replace(key, '-', '_');
    if (in_full) std::erase_if(names, [&](const Candidate& name) { return name.word != key; });
    Words settings;
    for (const std::string& name : Nearest(key, names))
      settings.push_back(name + "=" + (value.empty() || IsFile(value) ? "VALUE" : value));
    return settings;
  }

  const CLI::App& root_;
  const Words& words_;
  const Meanings& meant_;
  const CLI::App* app_ = &root_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Mistake> FindMistake(const CLI::App& root, const Words& words, const Meanings& meant,
                                   const CLI::ParseError& error) {
  Explainer explainer(root, words, meant);
  std::optional<Mistake> mistake = explainer.Find();
  return mistake || error.get_exit_code() == 0 ? mistake : explainer.FindLeftOver(error);
}

std::string CommandTyped(const CLI::App& root, const Words& words) {
  std::string text;
  const CLI::App* app = &root;
  for (const std::string& word : words) {
    app = CommandCalled(*app, word);
    if (app == nullptr) break;
    text += word + " ";
  }
  return text;
}

}  // namespace backplane
