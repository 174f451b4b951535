#include "shim/shim_protocol.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace backplane {
namespace {

template <typename T>
T Number(std::string_view text, const std::string& argument, const char* wanted) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [read, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || read != end) throw std::runtime_error(argument + ": expected " + wanted);
  return value;
}

std::string ShortestText(double value) {
  std::string text(32, '\0');
  text.resize(static_cast<size_t>(std::to_chars(text.data(), text.data() + text.size(), value).ptr - text.data()));
  return text;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void Set(ShimOrder* order, const std::string& argument, const std::string& key, const std::string& value) {
  const auto integer = [&](std::string_view text) { return Number<int>(text, argument, "an integer"); };
  if (key == "--report-fd") {
    order->report_fd = integer(value);
  } else if (key == "--grace") {
    order->grace_s = Number<double>(value, argument, "a number of seconds");
  } else if (key == "--cores") {
    for (size_t at = 0; at <= value.size();) {
      const size_t comma = std::min(value.find(',', at), value.size());
      order->cores.push_back(integer(std::string_view(value).substr(at, comma - at)));
      at = comma + 1;
    }
  } else if (key == "--memory") {
    order->memory_bytes = Number<uint64_t>(value, argument, "a number of bytes");
  } else if (key == "--lock-fd") {
    order->lock_fd = integer(value);
  } else if (key == "--cgroup") {
    order->cgroup = value;
  } else if (key == "--status") {
    order->status_file = value;
  } else if (key == "--silence-limit") {
    order->silence_limit_s = Number<double>(value, argument, "a number of seconds");
  } else {
    throw std::runtime_error("unknown option '" + argument + "'");
  }
}

}  // namespace

std::string JoinedCores(const std::vector<int>& cores, const char* between) {
  std::string text;
  for (const int core : cores) text += (text.empty() ? "" : between) + std::to_string(core);
  return text;
}

std::vector<std::string> ToArguments(const ShimOrder& order) {
  std::vector<std::string> arguments{"--report-fd=" + std::to_string(order.report_fd),
                                     "--grace=" + ShortestText(order.grace_s)};
  if (!order.cores.empty()) {
    arguments.push_back("--cores=" + JoinedCores(order.cores, ","));
  }
  if (order.memory_bytes) {
    arguments.push_back("--memory=" + std::to_string(*order.memory_bytes));
  }
  if (order.lock_fd >= 0) {
    arguments.push_back("--lock-fd=" + std::to_string(order.lock_fd));
  }
  if (!order.cgroup.empty()) {
    arguments.push_back("--cgroup=" + order.cgroup.string());
  }
  if (order.silence_limit_s > 0 && !order.status_file.empty()) {
    arguments.push_back("--status=" + order.status_file.string());
    arguments.push_back("--silence-limit=" + ShortestText(order.silence_limit_s));
  }
  arguments.insert(arguments.end(), {"--", order.program.string()});
  arguments.insert(arguments.end(), order.arguments.begin(), order.arguments.end());
  return arguments;
}

ShimOrder OrderFromArguments(const std::vector<std::string>& arguments) {
  ShimOrder order;
  auto at = arguments.begin();
  for (; at != arguments.end() && *at != "--"; ++at) {
    const size_t equals = at->find('=');
    Set(&order, *at, at->substr(0, equals), equals == std::string::npos ? "" : at->substr(equals + 1));
  }
  if (order.report_fd < 0 || arguments.end() - at < 2) {
    throw std::runtime_error("expected --report-fd=N and `-- PROGRAM ARGUMENTS`; this program is for the supervisor only");
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
       << end.over_memory << ' ' << end.over_silence << ' ' << end.left << ' ' << end.memory_enforced_by << '\n';
  return line.str();
}

std::string ToLine(const KeepFailure& failure) { return "failure " + OneLine(failure.sentence) + "\n"; }

std::string ToLine(const KeepStuck& stuck) {
  return "stuck " + std::to_string(stuck.pid) + (stuck.is_trial ? " 1 " : " 0 ") + stuck.letter + ' ' + OneLine(stuck.name) +
         "\n";
}

std::string SentenceOf(const KeepStuck& stuck) {
  const std::string who = stuck.is_trial ? "it" : "its process " + std::to_string(stuck.pid) + " (" + stuck.name + ")";
  const bool waits = stuck.letter == 'D';
  return who + (waits ? " waited for a disk" : " was stopped") + " (state " + stuck.letter + ")";
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
    KeepStuck stuck;
    if (kind == "stuck" && words >> stuck.pid >> stuck.is_trial >> stuck.letter) {
      std::getline(words >> std::ws, stuck.name);
      report.stuck = stuck;
    }
    if (kind == "end" && words >> end.code >> end.signal >> end.peak_rss_bytes >> end.peak_memory_bytes >> end.over_memory >>
                             end.over_silence >> end.left) {
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

std::string ToVariable(const ShimLink& link) {
  std::string text = kShimVariable;
  char before = '=';
  for (const int fd : {link.alive_fd, link.kill_fd, link.lock_fd}) {
    text += before + std::to_string(fd);
    before = ' ';
  }
  return text;
}

}  // namespace backplane
