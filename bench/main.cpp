// Measures the host around one env plugin and prints one JSON object. scripts/bench runs it and makes the table.
//
//   bench_host cost FILE     cost per env step, actions prefilled, autoreset and statistics on; allocations; use of the threads
//   bench_host raw FILE      a MuJoCo task under the host against the bare loop of mj_step over the same trace, in turn
//   bench_host candidates FILE  the same for an evaluation of candidates: an episode of `horizon` steps for each row, actions 0
//   bench_host cartpole FILE env.cartpole under the host against a plain C loop over the same episodes, in turn, one thread
//   bench_host threads FILE  threads=T against one thread over the same trace, in turn: S_T
//   bench_host start FILE    milliseconds until a plugin is loaded and all rows are reset: the first step can begin
//   bench_host count FILE    one rollout inside backplane_bench_measured, for an instruction counter; loop=raw: the bare loop,
//                            loop=candidates: an evaluation of candidates (with still=1, comparable with raw)
//   bench_host shim FILE   cost of the shim above each trial; FILE is the program `backplane`, pairs=N the repeats
//   bench_host plan FOLDER   milliseconds to plan a sweep of 10,000 points, with the plugins of that folder
//   bench_host events        milliseconds to read 100,000 events of a batch
//   bench_host facts         compiler, libmujoco
//
// followed by KEY=NUMBER: rows chunk_rows horizon threads pairs pin spin masked still (see tests/support/rollout_host.hpp),
// loop=host|raw|candidates, or env.OPTION=VALUE. `cost` with masked=1 records the actions first and measures their replay, so
// that drawing is not measured.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "cartpole_loop.h"
#include "measure.hpp"
#include "plan.hpp"
#include "record/batch_record.hpp"
#include "shim.hpp"
#include "support/rollout_host.hpp"
#ifdef HAS_MUJOCO
#include "physics.hpp"
#endif

namespace backplane::bench {
namespace {

using test_support::Host, test_support::Setting;

constexpr uint64_t kEvents = 100'000;

struct Command {
  Setting setting;
  uint64_t pairs = 15;
  bool raw_loop = false, candidates = false;
};

Command Parse(const std::vector<std::string>& words) {
  Command command;
  Setting& s = command.setting;
  uint64_t threads = 1, pin = 0, masked = 0, still = 0;
  const std::map<std::string, uint64_t*> numbers = {
      {"rows", &s.rows}, {"chunk_rows", &s.chunk_rows}, {"horizon", &s.horizon}, {"spin", &s.spin}, {"threads", &threads},
      {"pin", &pin},     {"pairs", &command.pairs},     {"masked", &masked},     {"still", &still}};
  for (const std::string& word : words) {
    const std::string key = word.substr(0, word.find('='));
    const std::string value = word.size() > key.size() ? word.substr(key.size() + 1) : "";
    if (key == "loop" && (value == "host" || value == "raw" || value == "candidates")) {
      command.raw_loop = value == "raw";
      command.candidates = value == "candidates";
      continue;
    }
    if (key.starts_with("env.")) {
      const auto json = nlohmann::json::parse(value, nullptr, false);
      s.options[key.substr(4)] = json.is_discarded() ? nlohmann::json(value) : json;
      continue;
    }
    const auto number = numbers.find(key);
    const char* end = value.data() + value.size();
    if (number == numbers.end() || std::from_chars(value.data(), end, *number->second).ptr != end || value.empty())
      throw std::runtime_error("'" + word + "' should be KEY=NUMBER; see the head of bench/main.cpp");
  }
  s.threads = static_cast<unsigned>(threads);
  s.pin = pin != 0;
  s.masked = masked != 0;
  s.still = still != 0;
  return command;
}

double Steps(const Setting& s) { return static_cast<double>(s.rows * s.horizon); }

// Pairs of measurements in turn, A B A B, and the ratios of their costs.
class Pairs {
 public:
  // The values a / b of one pair, by name.
  void Add(const Cost& a, const Cost& b, const std::map<std::string, double>& ratios) {
    ++pairs_;
    const double others = std::max(a.others, b.others);
    others_.push_back(others);
    for (const auto& [name, value] : ratios) {
      all_[name].push_back(value);
      if (others <= kQuiet) quiet_[name].push_back(value);
    }
  }
  // Ratios over the pairs in which other programs took at most 5 % of the machine, and over all of them.
  nlohmann::json Json() const {
    nlohmann::json out = {{"pairs", pairs_}, {"others", Spread(others_)}};
    size_t kept = 0;
    for (const auto& [name, values] : all_) {
      out["all"][name] = Spread(values);
      const auto quiet = quiet_.find(name);
      out["quiet"][name] = quiet == quiet_.end() ? nlohmann::json(nullptr) : Spread(quiet->second);
      kept = quiet == quiet_.end() ? 0 : quiet->second.size();
    }
    out["dropped"] = pairs_ - kept;
    return out;
  }

 private:
  static constexpr double kQuiet = 0.05;
  size_t pairs_ = 0;
  std::vector<double> others_;
  std::map<std::string, std::vector<double>> all_, quiet_;
};

// The actions of `rollouts` rollouts, drawn by a policy that respects the mask.
std::vector<std::vector<std::byte>> RecordMasked(const Setting& setting, uint64_t rollouts) {
  Host host(setting);
  std::vector<std::vector<std::byte>> out;
  while (out.size() < rollouts) host.Collect(), out.push_back(host.Actions());
  return out;
}

nlohmann::json RunCost(const Command& command) {
  Setting setting = command.setting;
  setting.masked = false;
  Host host(setting);
  std::vector<std::vector<std::byte>> actions;
  if (command.setting.masked) actions = RecordMasked(command.setting, command.pairs + 1);
  if (!actions.empty()) host.SetActions(actions[0]);
  host.Collect();  // the first one resets every row and touches the buffers
  std::vector<double> wall, cpu, others, balance, wall_eff;
  uint64_t allocations = 0, episodes = 0;
  for (uint64_t i = 0; i < command.pairs; ++i) {
    if (!actions.empty()) host.SetActions(actions[i + 1]);
    const Cost cost = Measure([&] { host.Collect(); });
    wall.push_back(cost.wall_s * 1e6 / Steps(command.setting));
    cpu.push_back(cost.cpu_s * 1e6 / Steps(command.setting));
    others.push_back(cost.others);
    balance.push_back(host.use().balance);
    wall_eff.push_back(host.use().wall_eff);
    allocations += cost.allocations;
    episodes += host.collector().episodes().size();
  }
  const double steps = Steps(command.setting) * static_cast<double>(command.pairs);
  return {{"wall_us", Spread(wall)},
          {"cpu_us", Spread(cpu)},
          {"others", Spread(others)},
          {"balance", Spread(balance)},
          {"wall_eff", Spread(wall_eff)},
          {"allocations_per_rollout", static_cast<double>(allocations) / static_cast<double>(command.pairs)},
          {"allocations_per_step", static_cast<double>(allocations) / steps},
          {"agents", host.env().agents()},
          {"episodes", episodes}};
}

nlohmann::json RunThreads(const Command& command) {
  Setting one = command.setting;
  one.threads = 1;
  const double threads = command.setting.threads;
  Pairs pairs;
  std::vector<double> balance, wall_eff, sps;
  for (uint64_t i = 0; i < command.pairs; ++i) {
    // New instances repeat the same episodes.
    Host many(command.setting), single(one);
    const Cost a = Measure([&] { many.Collect(); });
    const PoolUse use = many.use();
    const Cost b = Measure([&] { single.Collect(); });
    balance.push_back(use.balance);
    wall_eff.push_back(use.wall_eff);
    sps.push_back(Steps(command.setting) / a.wall_s);
    pairs.Add(a, b, {{"S_wall", b.wall_s / (threads * a.wall_s)}, {"cpu", b.cpu_s / a.cpu_s}});
  }
  nlohmann::json out = pairs.Json();
  out["balance"] = Spread(balance);
  out["wall_eff"] = Spread(wall_eff);
  out["sps"] = Spread(sps);
  return out;
}

nlohmann::json RunStart(const Command& command) {
  Setting setting = command.setting;
  setting.horizon = 1;
  std::unique_ptr<Host> host;
  const std::vector<uint64_t> seeds(setting.rows, 1);
  const Cost ready = Measure([&] {
    host = std::make_unique<Host>(setting);
    const bp_status status = host->env().Reset(static_cast<uint32_t>(setting.horizon), 0, setting.rows, nullptr, seeds.data());
    if (status != BP_OK) host->env().Fail(status, "reset");
  });
  return {{"wall_ms", ready.wall_s * 1e3}, {"cpu_ms", ready.cpu_s * 1e3}, {"others", ready.others}};
}

void RequireWhole(bool whole, const std::string& id) {
  if (!whole) throw std::runtime_error(id + ": an episode ended before `horizon` steps; take a smaller one");
}

#ifdef HAS_MUJOCO
void RequireSame(bool same, const std::string& id) {
  if (!same)
    throw std::runtime_error(id +
                             ": the bare loop does not end in the plugin's states; the ratio would compare different work");
}

nlohmann::json RunRaw(const Command& command) {
  const Setting& setting = command.setting;
  const Trace trace = Record(setting);
  Pairs pairs;
  std::vector<double> host_us, raw_us;
  for (uint64_t i = 0; i < command.pairs; ++i) {
    Host host(setting);
    const Cost a = Measure([&] { host.Collect(); });
    RequireSame(States(host) == trace.end, host.id());
    Replay replay(trace);
    const Cost b = Measure([&] { replay.Run(setting.threads); });
    RequireSame(replay.EndsAsRecorded(), host.id());
    pairs.Add(a, b, {{"E_cpu", b.cpu_s / a.cpu_s}, {"E_wall", b.wall_s / a.wall_s}});
    host_us.push_back(a.cpu_s * 1e6 / Steps(setting));
    raw_us.push_back(b.cpu_s * 1e6 / Steps(setting));
  }
  nlohmann::json out = pairs.Json();
  out["host_cpu_us"] = Spread(host_us);
  out["raw_cpu_us"] = Spread(raw_us);
  out["mujoco"] = MuJoCoFacts();
  return out;
}

// The bare loop runs the same episodes, so only the number of mj_step calls must match; `raw` checks the final states.
nlohmann::json RunCandidates(const Command& command) {
  Setting setting = command.setting;
  setting.still = true;
  const Trace trace = Record(setting);
  Pairs pairs;
  std::vector<double> host_us, raw_us, balance, wall_eff;
  for (uint64_t i = 0; i < command.pairs; ++i) {
    Host host(setting);
    bool whole = true;
    const Cost a = Measure([&] { whole = host.Score(); });
    RequireWhole(whole, host.id());
    Replay replay(trace);
    const Cost b = Measure([&] { replay.Run(setting.threads); });
    pairs.Add(a, b, {{"E_cpu", b.cpu_s / a.cpu_s}, {"E_wall", b.wall_s / a.wall_s}});
    host_us.push_back(a.cpu_s * 1e6 / Steps(setting));
    raw_us.push_back(b.cpu_s * 1e6 / Steps(setting));
    balance.push_back(host.use().balance);
    wall_eff.push_back(host.use().wall_eff);
  }
  nlohmann::json out = pairs.Json();
  out["host_cpu_us"] = Spread(host_us);
  out["raw_cpu_us"] = Spread(raw_us);
  out["balance"] = Spread(balance);
  out["wall_eff"] = Spread(wall_eff);
  out["mujoco"] = MuJoCoFacts();
  return out;
}
#endif

// Compares the host's rows with the loop's: {key, stream, x, x_dot, theta, theta_dot} of a snapshot.
bool SameStates(Host& host, const std::vector<cartpole_row>& rows) {
  for (uint64_t r = 0; r < rows.size(); ++r) {
    const std::vector<char> snapshot = host.Snapshot(r);
    constexpr size_t kState = sizeof(uint64_t) + sizeof(bp_rng), kBytes = 4 * sizeof(double);
    if (snapshot.size() < kState + kBytes) return false;
    const char* const state = &snapshot[kState];
    if (!std::equal(state, state + kBytes, reinterpret_cast<const char*>(&rows[r]))) return false;
  }
  return true;
}

// Both write observations, rewards and ends of every step to the learner's place. The host also adds up returns.
nlohmann::json RunCartPole(const Command& command) {
  const Setting& setting = command.setting;
  Pairs pairs;
  std::vector<double> host_us, loop_us;
  Host host(setting);
  std::vector<int32_t> actions(setting.rows * setting.horizon);
  const std::vector<std::byte> recorded = host.Actions();
  std::memcpy(actions.data(), recorded.data(), recorded.size());
  std::vector<cartpole_row> rows(setting.rows);
  for (uint64_t r = 0; r < rows.size(); ++r) cartpole_start(&rows[r], test_support::kEnvSeed, static_cast<uint32_t>(r));
  std::vector<float> obs(4 * actions.size()), rewards(actions.size());
  std::vector<uint8_t> ended(actions.size());
  for (uint64_t i = 0; i <= command.pairs; ++i) {
    const Cost a = Measure([&] { host.Collect(); });
    const Cost b = Measure([&] {
      cartpole_loop(rows.data(), setting.rows, setting.horizon, test_support::kEnvSeed, actions.data(), obs.data(),
                    rewards.data(), ended.data());
    });
    if (!SameStates(host, rows))
      throw std::runtime_error(host.id() + ": the plain loop does not end in the plugin's states; is it env.cartpole?");
    if (i == 0) continue;  // the first one resets every row and touches the buffers
    pairs.Add(a, b, {{"ratio_cpu", b.cpu_s / a.cpu_s}});
    host_us.push_back(a.cpu_s * 1e6 / Steps(setting));
    loop_us.push_back(b.cpu_s * 1e6 / Steps(setting));
  }
  nlohmann::json out = pairs.Json();
  out["host_cpu_us"] = Spread(host_us);
  out["loop_cpu_us"] = Spread(loop_us);
  return out;
}

nlohmann::json RunCount(const Command& command) {
  const nlohmann::json out = {{"steps", Steps(command.setting)}};
#ifdef HAS_MUJOCO
  if (command.raw_loop) {
    const Trace trace = Record(command.setting);
    Replay replay(trace);
    backplane_bench_measured([&] { replay.Run(1); });
    RequireSame(replay.EndsAsRecorded(), command.setting.file);
    return out;
  }
#endif
  if (command.raw_loop) throw std::runtime_error("loop=raw: this build has no MuJoCo");
  Host host(command.setting);
  bool whole = true;
  backplane_bench_measured([&] { command.candidates ? void(whole = host.Score()) : host.Collect(); });
  RequireWhole(whole, host.id());
  return out;
}

// The events of 50,000 attempts, as a batch writes them.
void WriteEvents(const std::filesystem::path& file) {
  std::ofstream out(file);
  uint64_t seq = 0;
  const auto add = [&](uint64_t trial, const char* kind, nlohmann::json body) {
    body.update({{"v", 1}, {"seq", ++seq}, {"t", 1.8e9 + 0.25 * static_cast<double>(seq)}, {"kind", kind}, {"attempt", 1}});
    body["boot_id"] = "1bd0f8c2-6b0e-4f43-9a53-2c1f6a9e5d70";
    body["trial_id"] = "0123456789a" + std::to_string(10000 + trial);
    out << body.dump() << '\n';
  };
  for (uint64_t trial = 0; trial < kEvents / 2; ++trial) {
    add(trial, "attempt.start", {{"pid", 12345}, {"cores", {0, 1}}, {"gpus", nlohmann::json::array()}, {"resumed", false}});
    add(trial, "attempt.end",
        {{"outcome", "ok"},
         {"state", "COMPLETED"},
         {"why", ""},
         {"exit", 0},
         {"signal", ""},
         {"wall_s", 12.5},
         {"peak_rss_bytes", 123456789},
         {"adopted", false}});
  }
}

nlohmann::json RunEvents(const Command& command) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / ("bench_events_" + std::to_string(getpid()));
  WriteEvents(file);
  std::vector<double> wall_ms, cpu_ms;
  for (uint64_t i = 0; i < command.pairs; ++i) {
    const Cost cost = Measure([&] {
      if (ReadBatchRecord(file).last_seq != kEvents) throw std::runtime_error("events were lost");
    });
    wall_ms.push_back(cost.wall_s * 1e3);
    cpu_ms.push_back(cost.cpu_s * 1e3);
  }
  std::filesystem::remove(file);
  return {{"wall_ms", Spread(wall_ms)}, {"cpu_ms", Spread(cpu_ms)}};
}

nlohmann::json Facts() {
  nlohmann::json out = {{"compiler", BENCH_COMPILER}, {"build_type", BENCH_BUILD_TYPE}};
  utsname names{};
  if (uname(&names) == 0) out["kernel"] = std::string(names.sysname) + " " + names.release + " " + names.machine;
#ifdef HAS_MUJOCO
  out["mujoco"] = MuJoCoFacts();
#endif
  return out;
}

nlohmann::json Run(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "facts") return Facts();
  if (!words.empty() && words[0] == "events") return RunEvents(Parse({words.begin() + 1, words.end()}));
  if (words.size() < 2)
    throw std::runtime_error(
        "usage: bench_host cost|raw|candidates|cartpole|threads|start|count|shim|plan FILE [KEY=NUMBER...], bench_host "
        "events "
        "[pairs=N], or bench_host facts");
  Command command = Parse({words.begin() + 2, words.end()});
  command.setting.file = words[1];
  if (words[0] == "cost") return RunCost(command);
  if (words[0] == "cartpole") return RunCartPole(command);
  if (words[0] == "threads") return RunThreads(command);
  if (words[0] == "start") return RunStart(command);
  if (words[0] == "count") return RunCount(command);
  if (words[0] == "shim") return MeasureShim(words[1], command.pairs);
  if (words[0] == "plan") return RunPlan(words[1], command.pairs);
#ifdef HAS_MUJOCO
  if (words[0] == "raw") return RunRaw(command);
  if (words[0] == "candidates") return RunCandidates(command);
#endif
  throw std::runtime_error("unknown measurement '" + words[0] + "'");
}

}  // namespace
}  // namespace backplane::bench

int main(int argc, char** argv) {
  try {
    std::printf("%s\n", backplane::bench::Run({argv + 1, argv + argc}).dump().c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_host: %s\n", e.what());
    return 1;
  }
}
