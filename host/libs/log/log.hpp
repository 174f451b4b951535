// What the program says beside its results: to the person on stderr, in the words of the caller and nothing added; and, while a
// session has a file, into that with the time of day and the level.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace backplane {

enum class LogLevel { kDebug = 1, kInfo, kWarning, kError };

// A line, or several, on stderr and in the session's file. Debug lines come to stderr after ShowDebug() only. [thread-safe]
void Log(LogLevel level, std::string_view text);
// In the file alone: for what the terminal shows in another way, or need not show. [thread-safe]
void LogToFile(LogLevel level, std::string_view text);

template <class... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}

void ShowDebug();  // --verbose [before threads are started]
bool ShowsDebug();

// The file of one session. A file that can not be written is said once, and the session goes on without it.
// [one at a time, made and destroyed while nothing else logs]
class SessionLog {
 public:
  explicit SessionLog(const std::filesystem::path& file);
  ~SessionLog();
  SessionLog(const SessionLog&) = delete;
};

}  // namespace backplane
