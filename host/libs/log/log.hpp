// Messages in addition to the results: to stderr without decoration, and to the file of a session, if any, with time and level.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace backplane {

enum class LogLevel { kDebug = 1, kInfo, kWarning, kError };

// A line, or several, on stderr and in the session's file. Debug lines come to stderr after ShowDebug() only. [thread-safe]
void Log(LogLevel level, std::string_view text);
// Only to the file: for messages that the terminal shows in a different way, or need not show. [thread-safe]
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

// The file of one session. If it cannot be written, a warning appears once, and the session continues without it. [one at a
// time; create and destroy it while nothing else logs]
class SessionLog {
 public:
  explicit SessionLog(const std::filesystem::path& file);
  ~SessionLog();
  SessionLog(const SessionLog&) = delete;
};

}  // namespace backplane
