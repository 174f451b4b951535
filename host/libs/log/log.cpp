#include "log/log.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "base/colour.hpp"

namespace backplane {
namespace {

std::unique_ptr<spdlog::logger> session;
std::atomic<bool> session_failed = false, shows_debug = false;

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

// In one piece, as several threads may log. In a batch it waits only so long for its reader (base/patient_output.hpp).
void Print(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void GiveUp(const std::string& why) {
  if (!session_failed.exchange(true)) Print("warning: the session is not logged: " + why);
}

}  // namespace

void Log(LogLevel level, std::string_view text) {
  LogToFile(level, text);
  if (level != LogLevel::kDebug || shows_debug) Print(WithSeverity(std::string(text)));
}

void LogToFile(LogLevel level, std::string_view text) {
  if (!session || session_failed) return;
  spdlog::logger& logger = *session;
  logger.log(SpdlogLevel(level), spdlog::string_view_t(text.data(), text.size()));
}

void ShowDebug() { shows_debug = true; }
bool ShowsDebug() { return shows_debug; }

SessionLog::SessionLog(const std::filesystem::path& file) {
  session_failed = false;
  spdlog::file_event_handlers events;
  events.after_open = [](const spdlog::filename_t&, std::FILE* opened) { fcntl(fileno(opened), F_SETFD, FD_CLOEXEC); };
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string(), /*truncate=*/false, events);
    session = std::make_unique<spdlog::logger>("session", std::move(sink));
    session->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
    session->set_level(spdlog::level::debug);
    session->flush_on(spdlog::level::debug);  // the log is complete up to a crash
    session->set_error_handler(GiveUp);
  } catch (const spdlog::spdlog_ex& error) {
    GiveUp(error.what());
  }
}

SessionLog::~SessionLog() { session.reset(); }

}  // namespace backplane
