#include "record/stacks.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "base/run_process.hpp"

namespace backplane {
namespace {

constexpr size_t kMaxText = 1 << 20, kMaxNameColumns = 100;
constexpr char kIn[] = ", in ";
constexpr std::chrono::milliseconds kTimeToName{3'000};  // limits the supervisor's wait for large debug information

struct Call {
  std::string file, address, symbol;
};

std::string Demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : symbol;
}

std::string Short(const std::string& name) { return Printable(name, kMaxNameColumns); }

// Resolves addresses with a file's debug information: "Walker::Step (walker.cpp:40)". For an inlined call, ", in Loop (...)"
// names the enclosing function and omits the frames between.
std::map<std::string, std::string> NamesIn(const std::string& file, const std::set<std::string>& asked) {
  const std::vector<std::string> addresses(asked.begin(), asked.end());
  std::map<std::string, std::string> names;
  ProcessCall call{{"addr2line", "-aCfi", "-e", file}};
  call.limit = kTimeToName;
  call.words.insert(call.words.end(), addresses.begin(), addresses.end());
  std::istringstream lines(RunProcess(call).out);
  std::string line, place;
  for (size_t at = 0; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      if (at++ == addresses.size()) break;
      continue;
    }
    if (at == 0 || !std::getline(lines, place) || line == "??") continue;
    std::string& name = names[addresses[at - 1]];
    name.resize(std::min(name.find(kIn), name.size()));
    place = place.substr(place.rfind('/') + 1, place.rfind(" (discriminator") - place.rfind('/') - 1);
    name += (name.empty() ? "" : kIn) + Short(line) + (place.starts_with("??") ? "" : " (" + place + ")");
  }
  return names;
}

// Resolves the libraries in parallel, so that the total time is the slowest library's.
std::map<std::string, std::map<std::string, std::string>> NamesInAll(
    const std::map<std::string, std::set<std::string>>& asked) {
  std::vector<std::pair<std::string, std::future<std::map<std::string, std::string>>>> answers;
  for (const auto& [library, addresses] : asked)
    answers.emplace_back(library, std::async(std::launch::async, NamesIn, library, addresses));
  std::map<std::string, std::map<std::string, std::string>> names;
  for (auto& [library, answer] : answers) names[library] = answer.get();
  return names;
}

// "env.walk" of "thread 3 (backplane) in env.walk", as trial/crash.cpp writes it; empty: it was in no plugin.
std::string PluginOfThread(const std::string& line) {
  constexpr std::string_view kBefore = ") in ";
  const size_t at = line.rfind(kBefore);
  return at == std::string::npos ? "" : line.substr(at + kBefore.size());
}

}  // namespace

std::vector<std::string> ReadStacks(const std::filesystem::path& file) {
  const std::string text = ReadFile(file).value_or("").substr(0, kMaxText);
  std::vector<std::pair<std::string, std::vector<Call>>> threads;
  std::map<std::string, std::set<std::string>> unnamed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('\t')) {
      threads.push_back({line, {}});
      continue;
    }
    if (threads.empty()) continue;
    Call call;
    std::istringstream parts(line.substr(1));
    std::getline(parts, call.address, '\t');
    std::getline(parts, call.symbol, '\t');
    std::getline(parts, call.file, '\t');
    if (call.symbol.empty() && !call.file.empty()) unnamed[call.file].insert(call.address);
    threads.back().second.push_back(std::move(call));
  }
  std::map<std::string, std::map<std::string, std::string>> names = NamesInAll(unnamed);
  std::vector<std::string> shown;
  for (const auto& [thread, calls] : threads) {
    shown.push_back(Printable(thread));
    for (const Call& call : calls) {
      const std::string known = call.symbol.empty() ? names[call.file][call.address] : Short(Demangled(call.symbol));
      const std::string library = std::filesystem::path(call.file).filename().string();
      shown.push_back("  " + (known.empty() ? call.address : known) + (library.empty() ? "" : ", " + Printable(library)));
    }
  }
  return shown;
}

std::vector<std::string> StackOf(const std::vector<std::string>& stacks, const std::string& plugin) {
  const auto is_thread = [](const std::string& line) { return !line.starts_with(' '); };
  std::string file = plugin;  // "env.NAME" is in env_NAME.so
  std::replace(file.begin(), file.end(), '.', '_');
  file = ", " + file + ".so";
  std::vector<std::string> shown;
  int best = -1;
  for (auto at = stacks.begin(); at != stacks.end();) {
    const auto end = std::find_if(at + 1, stacks.end(), is_thread);
    const std::string in = PluginOfThread(*at);
    const bool calls_it = std::any_of(at + 1, end, [&](const std::string& call) { return call.ends_with(file); });
    const int rank = in.empty() ? 0 : in == plugin ? 2 + calls_it : 1;
    if (rank > best) best = rank, shown.assign(at, end);
    at = end;
  }
  return shown;
}

}  // namespace backplane
