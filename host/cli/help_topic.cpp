#include "cli/help_topic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "arguments/help_page.hpp"
#include "arguments/parse.hpp"
#include "base/shell_argument.hpp"
#include "base/suggest.hpp"
#include "base/text_columns.hpp"
#include "cli/reference_text.hpp"
#include "cli/tools.hpp"
#include "contract/schema.hpp"
#include "log/log.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {
namespace {

// Shown without the bars and backquotes of a table's cells.
std::string PlainCell(const std::string& cell) {
  std::string text;
  for (size_t i = 0; i < cell.size(); ++i)
    if (cell[i] != '`' && !(cell[i] == '\\' && i + 1 < cell.size() && cell[i + 1] == '|')) text += cell[i];
  for (size_t at = 0; (at = text.find("&lt;", at)) != text.npos;) text.replace(at, 4, "<");
  return text;
}

// Each row of a Markdown table as its first cell, the meaning below it, and the other cells behind their titles.
std::string PlainTable(const std::string& table, const std::vector<std::string>& keys) {
  const size_t width = HelpWidth() - 4;
  std::vector<std::vector<std::string>> rows;
  std::string text;
  for (const std::string& line : SplitWords(table, '\n')) {
    std::vector<std::string> cells;
    for (size_t from = line.find('|'); from != line.npos;) {
      size_t end = line.find('|', from + 1);
      while (end != line.npos && line[end - 1] == '\\') end = line.find('|', end + 1);
      if (end == line.npos) break;
      const std::string cell = PlainCell(line.substr(from + 1, end - from - 1));
      const size_t begin = std::min(cell.find_first_not_of(' '), cell.size());
      cells.push_back(cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
      from = end;
    }
    if (!cells.empty()) rows.push_back(std::move(cells));
  }
  for (size_t i = 2; i < rows.size(); ++i) {
    if (!keys.empty() && std::find(keys.begin(), keys.end(), rows[i][0]) == keys.end()) continue;
    std::string facts;
    for (size_t k = 1; k + 1 < rows[i].size(); ++k)
      if (!rows[i][k].empty()) facts += (facts.empty() ? "" : "; ") + rows[0][k] + " " + rows[i][k];
    text += (text.empty() ? "" : "\n") + rows[i][0] + "\n" + WrapAfter("    ", "    ", rows[i].back(), width) +
            WrapAfter("    ", "    ", facts, width);
  }
  return text;
}

std::vector<std::string> KeysBelow(const std::string& topic) {
  std::vector<std::string> keys;
  for (const HostKey& key : HostKeys())
    if (key.path == topic || key.path.starts_with(topic + ".")) keys.push_back(key.path);
  return keys;
}

// "sweep.seeds" is a part of the key `sweep`; empty: there is none above it.
std::string KeyAbove(std::string topic) {
  while (!topic.empty() && !FindHostKey(topic)) topic.resize(topic.rfind('.') == topic.npos ? 0 : topic.rfind('.'));
  return topic;
}

std::vector<const PluginInfo*> PluginsCalled(const std::string& name, PluginSearch* search) {
  std::vector<const PluginInfo*> found;
  for (const PluginInfo& info : search->All().plugins())
    if (info.id == name || info.short_id() == name) found.push_back(&info);
  return found;
}

std::string PluginText(const PluginInfo& info) {
  return fmt::format("{}: {}\n\n{}", info.id, info.summary, PlainTable(OptionsMarkdown(info), {}));
}

std::vector<std::string> Topics(PluginSearch* search) {
  std::vector<std::string> topics = {"environment", "exit-codes"};
  for (const HostKey& key : HostKeys())
    for (std::string path = key.path; !path.empty(); path.resize(path.rfind('.') == path.npos ? 0 : path.rfind('.')))
      topics.push_back(path);
  for (const PluginInfo& info : search->All().plugins()) topics.insert(topics.end(), {info.id, info.short_id()});
  return topics;
}

int Unknown(const std::string& topic, const std::vector<std::string>& commands, PluginSearch* search) {
  std::vector<std::string> names = commands, topics = Topics(search);
  names.insert(names.end(), topics.begin(), topics.end());
  const std::vector<std::string> near = Nearest(topic, Candidates(names));
  LogError("backplane: expected a command, key or plugin after `help`, got '{}'{}\nhint: backplane {}", topic, DidYouMean(near),
           near.empty() ? "--help" : "help " + near.front());
  return kUsage;
}

}  // namespace

std::optional<std::string> TopicAsked(const std::vector<std::string>& words, const std::vector<Command>& commands) {
  if (words.size() < 2 || words[0] != "help" || words[1].starts_with('-')) return std::nullopt;
  const auto is_command = [&](const Command& command) { return FirstWord(command.name) == words[1]; };
  if (std::any_of(commands.begin(), commands.end(), is_command) || !FindTool(words[1], ToolFolders()).empty())
    return std::nullopt;
  return words[1];
}

int PrintTopic(const std::string& topic, const std::vector<Command>& commands, const std::vector<std::string>& more) {
  PluginSearch search({});
  std::string text;
  const bool is_table = topic == "environment" || topic == "exit-codes";
  const bool markdown = is_table && !more.empty() && more.front() == "--markdown";
  if (more.size() > (markdown ? 1 : 0)) {
    LogError("backplane: expected one topic after `help`, got '{}' as a further word\nhint: backplane help {}",
             more[markdown ? 1 : 0], ShellArgument(topic));
    return kUsage;
  }
  if (is_table) {
    const std::string table = topic == "environment" ? EnvironmentMarkdown() : ExitCodesMarkdown();
    text = markdown ? table : PlainTable(table, {});
  } else if (const std::vector<std::string> keys = KeysBelow(topic); !keys.empty()) {
    text = PlainTable(KeysMarkdown(), keys);
  } else {
    for (const PluginInfo* info : PluginsCalled(topic, &search)) text += (text.empty() ? "" : "\n") + PluginText(*info);
    if (const std::string above = KeyAbove(topic); text.empty() && !above.empty()) text = PlainTable(KeysMarkdown(), {above});
  }
  if (!text.empty()) return std::fputs(text.c_str(), stdout) < 0 ? kFailed : kOk;
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(FirstWord(command.name));
  return Unknown(topic, names, &search);
}

}  // namespace backplane
