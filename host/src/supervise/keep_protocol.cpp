#include "supervise/keep_protocol.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "config/unknown_keys.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

template <typename T>
T Wanted(const std::optional<T>& value, const std::string& argument, const char* wanted) {
  if (!value) {
    throw std::runtime_error("keep: " + argument + " should be " + wanted);
  }
  return *value;
}

void Set(KeepOrder* order, const std::string& argument, const std::string& key, const std::string& value) {
  const auto integer = [&](const std::string& text) { return Wanted(ParseInteger(text), argument, "an integer"); };
  if (key == "--report-fd") {
    order->report_fd = static_cast<int>(integer(value));
  } else if (key == "--grace") {
    order->grace_s = Wanted(ParseDuration(value), argument, "a duration");
  } else if (key == "--cores") {
    for (const std::string& core : SplitList(value)) {
      order->cores.push_back(static_cast<int>(integer(core)));
    }
  } else if (key == "--memory") {
    order->memory_bytes = Wanted(ParseSize(value), argument, "a size");
  } else if (key == "--lock-fd") {
    order->lock_fd = static_cast<int>(integer(value));
  } else if (key == "--cgroup") {
    order->cgroup = value;
  } else {
    throw std::runtime_error("keep: unknown option '" + argument + "'");
  }
}

}  // namespace

std::vector<std::string> ToArguments(const KeepOrder& order) {
  std::vector<std::string> arguments{"--report-fd=" + std::to_string(order.report_fd),
                                     "--grace=" + FormatDuration(order.grace_s)};
  if (!order.cores.empty()) {
    arguments.push_back(fmt::format("--cores={}", fmt::join(order.cores, ",")));
  }
  if (order.memory_bytes) {
    arguments.push_back("--memory=" + FormatSize(*order.memory_bytes));
  }
  if (order.lock_fd >= 0) {
    arguments.push_back("--lock-fd=" + std::to_string(order.lock_fd));
  }
  if (!order.cgroup.empty()) {
    arguments.push_back("--cgroup=" + order.cgroup.string());
  }
  arguments.insert(arguments.end(), {"--", order.program.string()});
  arguments.insert(arguments.end(), order.arguments.begin(), order.arguments.end());
  return arguments;
}

KeepOrder OrderFromArguments(const std::vector<std::string>& arguments) {
  KeepOrder order;
  auto at = arguments.begin();
  for (; at != arguments.end() && *at != "--"; ++at) {
    const size_t equals = at->find('=');
    Set(&order, *at, at->substr(0, equals), equals == std::string::npos ? "" : at->substr(equals + 1));
  }
  if (order.report_fd < 0 || arguments.end() - at < 2) {
    throw std::runtime_error("keep: wanted --report-fd=N and `-- PROGRAM ARGUMENTS`; this command is for the supervisor only");
  }
  order.program = *++at;
  order.arguments.assign(++at, arguments.end());
  return order;
}

std::string ToLine(const KeepStart& start) {
  return "start " + std::to_string(start.pid) + " " + std::to_string(start.start_time) + "\n";
}

std::string ToLine(const KeepEnd& end) {
  std::ostringstream line;
  line << "end " << end.code << ' ' << end.signal << ' ' << end.peak_rss_bytes << ' ' << end.peak_memory_bytes << ' '
       << end.over_memory << ' ' << end.memory_enforced_by << '\n';
  return line.str();
}

std::string ToLine(const KeepFailure& failure) {
  std::string sentence = failure.sentence;
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  return "failure " + sentence + "\n";
}

KeepReport ReportFromText(const std::string& text) {
  KeepReport report;
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  for (std::string line, kind; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> kind;
    KeepStart start;
    KeepEnd end;
    if (kind == "start" && words >> start.pid >> start.start_time) {
      report.start = start;
    }
    if (kind == "end" && words >> end.code >> end.signal >> end.peak_rss_bytes >> end.peak_memory_bytes >> end.over_memory) {
      std::getline(words >> std::ws, end.memory_enforced_by);
      report.end = end;
    }
    if (kind == "failure") {
      report.failure.emplace();
      std::getline(words >> std::ws, report.failure->sentence);
    }
  }
  return report;
}

}  // namespace backplane
