#include "trace_file.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace backplane::trace {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Microseconds with all digits of the nanoseconds: a rounded end could be later than the next span's start.
std::string Microseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%" PRId64 ".%03d", ns / 1000, static_cast<int>(ns % 1000));
  return text;
}

std::string Name(const char* kind, uint32_t track, const std::string& name) {
  return std::string(R"({"ph":"M","pid":1,"tid":)") + std::to_string(track) + R"(,"name":")" + kind + R"(","args":{"name":)" +
         Quoted(name) + "}}";
}

// Prints integers without a fraction.
std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

void TraceFile::AddSpan(uint32_t track, std::string_view name, int64_t begin_ns, int64_t duration_ns, const char* argument,
                        uint64_t value) {
  events_.push_back({'X', track, name, begin_ns, duration_ns, argument, static_cast<double>(value)});
}

void TraceFile::AddCounter(std::string_view name, int64_t t_ns, double value) {
  if (std::isfinite(value)) events_.push_back({'C', 0, name, t_ns, 0, "value", value});
}

int64_t TraceFile::Earliest() const {
  const auto first =
      std::min_element(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
  return first == events_.end() ? 0 : first->at_ns;
}

void TraceFile::Write(const std::string& path) const {
  const std::string temporary = path + ".tmp";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(temporary.c_str(), "w"), std::fclose);
  if (!file) throw std::runtime_error("cannot write " + temporary);
  const int64_t origin_ns = Earliest();
  std::fprintf(file.get(), "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n%s", Name("process_name", 0, process_name_).c_str());
  for (const auto& [track, name] : tracks_) std::fprintf(file.get(), ",\n%s", Name("thread_name", track, name).c_str());
  for (const Event& e : events_) {
    std::string line = std::string(",\n{\"ph\":\"") + e.kind + R"(","pid":1,"tid":)" + std::to_string(e.track) + R"(,"name":)" +
                       Quoted(e.name) + R"(,"ts":)" + Microseconds(e.at_ns - origin_ns);
    if (e.kind == 'X') line += R"(,"dur":)" + Microseconds(e.duration_ns);
    if (e.argument != nullptr) line += R"(,"args":{")" + std::string(e.argument) + "\":" + Number(e.value) + "}";
    std::fprintf(file.get(), "%s}", line.c_str());
  }
  std::fputs("\n]}\n", file.get());
  const bool failed = std::ferror(file.get()) != 0;
  if (std::fclose(file.release()) != 0 || failed) throw std::runtime_error("cannot write " + temporary);
  std::filesystem::rename(temporary, path);
}

}  // namespace backplane::trace
