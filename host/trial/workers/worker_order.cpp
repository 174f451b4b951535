#include "workers/worker_order.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>

namespace backplane {
namespace {

uint64_t NumberOf(const std::string& name, const std::string& text, uint64_t most) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most)
    throw std::runtime_error("backplane-trial play " + name + ": expected a number up to " + std::to_string(most) + ", got \"" +
                             text + "\"");
  return number;
}

}  // namespace

std::vector<std::string> ToArguments(const WorkerOrder& order) {
  std::vector<std::string> arguments{"play",      order.trial_json.string(),    "--number", std::to_string(order.number),
                                     "--threads", std::to_string(order.threads)};
  if (order.fd >= 0) arguments.insert(arguments.end(), {"--fd", std::to_string(order.fd)});
  if (order.memory_fd >= 0) arguments.insert(arguments.end(), {"--memory", std::to_string(order.memory_fd)});
  if (!order.connect.empty()) arguments.insert(arguments.end(), {"--connect", order.connect});
  return arguments;
}

WorkerOrder WorkerOrderFromArguments(const std::vector<std::string>& arguments) {
  WorkerOrder order;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!name.starts_with("--")) {
      order.trial_json = name;
      continue;
    }
    if (i + 1 == arguments.size()) throw std::runtime_error("backplane-trial play " + name + ": expected a value, got none");
    const std::string& value = arguments[++i];
    constexpr uint64_t kMost = std::numeric_limits<int32_t>::max();
    if (name == "--number") {
      order.number = NumberOf(name, value, kMost);
    } else if (name == "--threads") {
      order.threads = NumberOf(name, value, 1024);
    } else if (name == "--fd") {
      order.fd = static_cast<int>(NumberOf(name, value, kMost));
    } else if (name == "--memory") {
      order.memory_fd = static_cast<int>(NumberOf(name, value, kMost));
    } else if (name == "--connect") {
      order.connect = value;
    } else {
      throw std::runtime_error("backplane-trial play: unknown argument " + name);
    }
  }
  if (order.trial_json.empty()) throw std::runtime_error("backplane-trial play: expected a trial.json, got none");
  if ((order.fd >= 0) != order.connect.empty())
    throw std::runtime_error("backplane-trial play: expected --fd or --connect, got " +
                             std::string(order.fd >= 0 ? "both" : "neither"));
  return order;
}

}  // namespace backplane
