#include "log/log.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "base/colour.hpp"

namespace backplane {
namespace {

std::unique_ptr<spdlog::logger> session;
std::atomic<bool> session_failed = false;

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Made at the first line, as most processes say none, and not of spdlog's registry, which would make loggers of its own. Never
// destroyed: threads may still be about when the process leaves.
spdlog::logger& Terminal() {
  static spdlog::logger& logger = *[] {
    auto* made = new spdlog::logger("terminal", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    return made;
  }();
  return logger;
}

void Write(spdlog::logger& logger, LogLevel level, std::string_view text) {
  logger.log(SpdlogLevel(level), spdlog::string_view_t(text.data(), text.size()));
}

void GiveUp(const std::string& why) {
  if (session_failed.exchange(true)) return;
  Terminal().warn("warning: the session is not logged: {}", why);
}

}  // namespace

void Log(LogLevel level, std::string_view text) {
  LogToFile(level, text);
  Write(Terminal(), level, WithSeverity(std::string(text)));
}

void LogToFile(LogLevel level, std::string_view text) {
  if (session && !session_failed) Write(*session, level, text);
}

void ShowDebug() { Terminal().set_level(spdlog::level::debug); }
bool ShowsDebug() { return Terminal().should_log(spdlog::level::debug); }

SessionLog::SessionLog(const std::filesystem::path& file) {
  session_failed = false;
  spdlog::file_event_handlers events;
  events.after_open = [](const spdlog::filename_t&, std::FILE* opened) { fcntl(fileno(opened), F_SETFD, FD_CLOEXEC); };
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string(), /*truncate=*/false, events);
    session = std::make_unique<spdlog::logger>("session", std::move(sink));
    session->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
    session->set_level(spdlog::level::debug);
    session->flush_on(spdlog::level::debug);  // what kills this process leaves what was said until then
    session->set_error_handler(GiveUp);
  } catch (const spdlog::spdlog_ex& error) {
    GiveUp(error.what());
  }
}

SessionLog::~SessionLog() { session.reset(); }

}  // namespace backplane
