#include "input/report_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "base/colour.hpp"
#include "base/interrupt.hpp"
#include "base/run_process.hpp"
#include "base/screen.hpp"
#include "contract/schema.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {
namespace {

constexpr char kName[] = "backplane-report", kSpeaker[] = "backplane: ";
constexpr std::chrono::minutes kLimit{10};  // each figure has one, thousands of trials are read in one
constexpr int kNarrowest = 40;
constexpr size_t kUnlimited = 1000;  // of a file: notes are folded still

// Throws unless it ended by itself.
void RequireEnd(const ProcessEnd& end, const std::filesystem::path& file, std::chrono::milliseconds limit) {
  if (end.cancelled) throw Interrupted();
  if (!end.started) throw std::runtime_error(fmt::format("cannot start {}: {}", file.string(), end.err));
  if (end.timed_out)
    throw std::runtime_error(fmt::format("{} did not end within {:g} s", kName, static_cast<double>(limit.count()) / 1000));
  if (end.signal != 0) throw std::runtime_error(fmt::format("{} was ended by: {}", kName, strsignal(end.signal)));
}

std::string WhyItFailed(const ProcessEnd& end) {
  std::string why = end.err;
  if (why.starts_with(kSpeaker)) why.erase(0, std::strlen(kSpeaker));
  why.erase(why.find_last_not_of('\n') + 1);
  return why.empty() ? fmt::format("{} ended with exit code {}", kName, end.code) : why;
}

}  // namespace

ReportProgram::ReportProgram() : ReportProgram(OwnProgram().parent_path() / kName, kLimit) {}

ReportProgram ReportProgram::AfterStop(std::chrono::milliseconds limit) { return {OwnProgram().parent_path() / kName, limit}; }

std::string ReportProgram::Ask(const std::string& command, const nlohmann::json& request) const {
  ProcessCall call{{file_.string(), command}};
  call.input = request.dump();
  call.limit = limit_;
  call.cancelled = [] { return InterruptScope::Count() > 0; };
  const ProcessEnd end = RunProcess(call);
  RequireEnd(end, file_, limit_);
  if (end.code != 0) throw std::runtime_error(WhyItFailed(end));
  std::fputs(end.err.c_str(), stderr);
  return end.out;
}

int ReportProgram::Show(const std::string& command, const nlohmann::json& request) const {
  ProcessCall call{{file_.string(), command}};
  call.input = request.dump();
  call.shows_output = true;
  call.limit = limit_;
  call.cancelled = [] { return InterruptScope::Count() > 0; };
  std::fflush(stdout);
  const ProcessEnd end = RunProcess(call);
  RequireEnd(end, file_, limit_);
  return end.code;
}

ReportRequest RequestFor(const std::filesystem::path& out, const std::string& typed_program) {
  ReportRequest request;
  request.folders = {out};
  request.program = typed_program;
  request.outside_identity = PathsOutsideIdentity();
  request.colour = ShowsColour(STDOUT_FILENO);
  return request;
}

BatchMeasures MeasuresOf(const std::filesystem::path& out, const std::string& measure, bool diagnose) {
  const std::string answer = ReportProgram().Ask("--measures", ToJson(MeasuresRequest{out, measure, diagnose}));
  return RecordFromJson<BatchMeasures>(nlohmann::json::parse(answer));
}

size_t ReportWidth() {
  const Screen screen = DetectScreen(STDOUT_FILENO);
  return screen.live ? static_cast<size_t>(std::max(screen.width, kNarrowest)) - 1 : kUnlimited;
}

}  // namespace backplane
