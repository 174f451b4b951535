#include "cli/tools.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "arguments/complete.hpp"
#include "arguments/parse.hpp"
#include "base/printable.hpp"
#include "base/run_process.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "backplane-";
constexpr std::chrono::milliseconds kAboutLimit{1000};
constexpr size_t kAboutColumns = 100;
// Programs that only other programs start, and words that are no commands in --help.
constexpr std::string_view kNoTools[] = {"shim", "report", "seal", "complete", "help", "play", "trial", "work"};

bool IsToolName(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !name.empty() && name.front() != '-' && name.find_first_not_of(kLetters) == name.npos &&
         std::ranges::find(kNoTools, name) == std::end(kNoTools);
}

bool IsProgram(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

// Returns the first backplane-NAME in the folders; empty if there is none.
fs::path FindProgram(const std::string& name, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    if (fs::path file = folder / (kPrefix.data() + name); IsProgram(file)) return file;
  }
  return {};
}

std::map<std::string, fs::path> FindTools() {
  std::map<std::string, fs::path> tools;
  for (const fs::path& folder : ToolFolders()) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string file = it->path().filename().string();
      if (!file.starts_with(kPrefix)) continue;
      const std::string name = file.substr(kPrefix.size());
      if (IsToolName(name) && IsProgram(it->path())) tools.emplace(name, it->path());
    }
  }
  return tools;
}

// The first line that it prints for --about.
std::string AboutLine(const fs::path& file) {
  ProcessCall call{{file.string(), "--about"}};
  call.limit = kAboutLimit;
  try {
    const ProcessEnd end = RunProcess(call);
    return end.ok() ? Printable(std::string_view(end.out).substr(0, end.out.find('\n')), kAboutColumns) : "";
  } catch (const std::exception&) {
    return "";
  }
}

// All at the same time, so that a tool that hangs costs no other its line.
void AddAboutLines(const std::map<std::string, fs::path>& tools, std::vector<Command>* commands) {
  std::vector<std::thread> threads;
  for (Command& command : *commands) {
    threads.emplace_back([&tools, &command] { command.help = AboutLine(tools.at(command.name)); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Skips options of the program itself, and the words of a completion.
size_t PlaceOfCommand(const std::vector<std::string>& words) {
  constexpr std::string_view kOptions[] = {"-h", "--help", "--version"};
  size_t at = 0;
  if (!words.empty() && words.front() == "complete") return words.size() > 1 && words[1] == "help" ? 2 : 1;
  while (at < words.size() && std::ranges::find(kOptions, words[at]) != std::end(kOptions)) ++at;
  return at;
}

// Returns whether a command was typed. Its name may be two words.
bool IsTyped(const std::string& name, const std::vector<std::string>& typed) {
  const std::vector<std::string> parts = SplitWords(name, ' ');
  return parts.size() <= typed.size() && std::equal(parts.begin(), parts.end(), typed.begin());
}

std::string MissingTool(const Command& command) {
  const std::string program = kPrefix.data() + command.tool;
  return fmt::format("`{}` needs {}, which is neither in {} nor on PATH\nhint: {}", command.name, program,
                     OwnProgram().parent_path().string(), InstallHint(program));
}

// Returns only if it fails.
int Execute(const fs::path& file, std::string name, std::vector<std::string> words) {
  std::vector<char*> argv = {name.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  setenv("BACKPLANE_PROGRAM", OwnProgram().c_str(), 1);
  execv(file.c_str(), argv.data());
  LogError("backplane: cannot start {}: {}", file.string(), std::strerror(errno));
  return kFailed;
}

}  // namespace

std::vector<fs::path> ToolFolders() {
  std::vector<fs::path> folders = FoldersOf("PATH");
  folders.insert(folders.begin(), OwnProgram().parent_path());
  return folders;
}

fs::path FindTool(const std::string& name, const std::vector<fs::path>& folders) {
  return IsToolName(name) ? FindProgram(name, folders) : fs::path();
}

std::vector<Command> ToolCommands(const std::vector<Command>& commands, bool with_about) {
  std::map<std::string, fs::path> tools = FindTools();
  for (const Command& command : commands) tools.erase(FirstWord(command.name)), tools.erase(command.tool);
  std::vector<Command> found;
  for (const auto& [name, file] : tools) found.push_back({name, "", nullptr, name, "Tools"});
  if (with_about) AddAboutLines(tools, &found);
  return found;
}

std::optional<int> StartTool(const std::string& program, const std::vector<std::string>& words,
                             const std::vector<Command>& commands) {
  const size_t at = PlaceOfCommand(words);
  const bool completes = !words.empty() && words.front() == "complete";
  if (at + (completes ? 1 : 0) >= words.size()) return std::nullopt;
  const std::vector<std::string> typed(words.begin() + static_cast<std::ptrdiff_t>(at), words.end() - (completes ? 1 : 0));
  const Command* own = nullptr;  // "import policy" rather than "import"
  for (const Command& command : commands) {
    const bool fits = !command.tool.empty() && IsTyped(command.name, typed);
    if (fits && (own == nullptr || command.name.size() > own->name.size())) own = &command;
  }
  if (own != nullptr) {
    const fs::path file = FindProgram(own->tool, ToolFolders());
    if (!file.empty()) return Execute(file, program, words);
    LogError("backplane: {}", MissingTool(*own));
    return kFailed;
  }
  if (std::ranges::any_of(commands, [&](const Command& command) { return FirstWord(command.name) == typed.front(); }))
    return std::nullopt;
  const fs::path file = FindTool(words[at], ToolFolders());
  if (completes || file.empty()) return std::nullopt;
  std::vector<std::string> others = words;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
  return Execute(file, file.string(), others);
}

}  // namespace backplane
