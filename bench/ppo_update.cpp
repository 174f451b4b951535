// Measures the gain of a second thread in an update of learner.ppo and prints one JSON object.
//
//   bench_ppo_update [pairs=15] [round_ms=300] [only=[64,64]/128] [quick]
//   bench_ppo_update amp [pairs=15] [round_ms=300] [quick]
//
// Compares, in turn, one update shared by two threads with two updates side by side, one thread each. `share` is the speed of
// the first as a share of the second's, per net and minibatch. It covers pairs in which other programs used at most 5 % of the
// machine. Without any such pair, it covers all and is "disturbed". `of_best` compares the fastest rounds. Both learners start
// alike and must end with the same bits.
//
// `amp`: CPU time of an update by one thread in float32 and with use_amp: true, in turn, two nets of 256-256 with ReLU,
// minibatch 2,048.
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "backplane/rng.h"
#include "machine/cpu.hpp"
#include "measure.hpp"
#include "plugin/host_services.hpp"
#include "plugins/learners/fake_host.hpp"
#include "rollout/parallel.hpp"
#include "rollout/phase_service.hpp"

namespace backplane::bench {
namespace {

using test_support::Buffer, test_support::FakeHost;

constexpr int64_t kRows = 64, kSteps = 32, kObs = 27, kActions = 8;  // Ant
constexpr uint64_t kSeed = 1;

struct Case {
  const char* hidden;
  int64_t minibatch;
  double bar;
  const char* activation = "tanh";
};
constexpr Case kCases[] = {{"[64,64]", 128, 0.80},   {"[64,64]", 256, 0.88},   {"[64,64]", 1024, 0.92},
                           {"[256,256]", 128, 0.80}, {"[256,256]", 256, 0.88}, {"[256,256]", 1024, 0.92}};

// Random data with the shape of a rollout.
class Rollout {
 public:
  Rollout() {
    bp_rng rng{kSeed, 0};
    const auto fill = [&](Buffer<float>& to, double scale, double shift) {
      for (float& x : to.data) x = static_cast<float>(shift + scale * bp_rng_normal(&rng));
    };
    fill(obs_, 1, 0), fill(raw_, 1, 0), fill(reward_, 1, 0), fill(logp_, .5, -11), fill(value_, 1, 0);
  }
  bp_delivery delivery() {
    bp_delivery d{sizeof(bp_delivery), BP_REQ_ROLLOUT};
    d.n_tensors = std::size(kNames), d.names = kNames, d.tensors = tensors_;
    return d;
  }

 private:
  static constexpr const char* kNames[] = {"obs", "raw_action", "reward", "logp", "value", "terminated", "truncated"};
  Buffer<float> obs_{{kSteps + 1, kRows, kObs}}, raw_{{kSteps, kRows, kActions}}, reward_{{kSteps, kRows}},
      logp_{{kSteps, kRows}}, value_{{kSteps, kRows}};
  Buffer<uint8_t> terminated_{{kSteps, kRows}}, truncated_{{kSteps, kRows}};
  bp_tensor* tensors_[std::size(kNames)] = {&obs_.tensor,   &raw_.tensor,        &reward_.tensor,   &logp_.tensor,
                                            &value_.tensor, &terminated_.tensor, &truncated_.tensor};
};

// The plugin as in a trial, with that many threads.
class Trial {
 public:
  Trial(const Case& c, int epochs, unsigned threads, bool use_amp = false)
      : options_(*bp_module_v1()->descriptor(0), {{"hidden", c.hidden},
                                                  {"train_batch_size", std::to_string(kRows * kSteps)},
                                                  {"minibatch_size", std::to_string(c.minibatch)},
                                                  {"num_epochs", std::to_string(epochs)},
                                                  {"activation", c.activation},
                                                  {"use_amp", use_amp ? "true" : "false"},
                                                  {"lr", "1.0e-7"}}),
        pool_(threads),
        clocks_(threads),
        parallel_(pool_, clocks_),
        api_(static_cast<const bp_learner_api*>(bp_module_v1()->api(bp_module_v1()->descriptor(0)->id))) {
    sinks_.phase = PhaseService();
    sinks_.parallel = [this](uint64_t n, void (*piece)(void*, uint64_t), void* context) { parallel_.Run(n, piece, context); };
    const bp_channel channels[] = {
        {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "obs", &kObs},
        {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "action", &kActions},
        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, bp::DtypeOf<float>(), "reward"}};
    const bp_env_spec spec{sizeof(bp_env_spec), 1, channels, 3, 1000, {BP_DEVICE_CPU, 0}};
    if (api_->create(services_.get(), &options_.config, &spec, kRows, kSeed, &learner_) != BP_OK)
      throw std::runtime_error(services_.TakeError());
  }
  ~Trial() { api_->destroy(learner_); }
  Trial(const Trial&) = delete;

  void Take(Rollout* rollout) {
    Plan();
    const bp_delivery delivery = rollout->delivery();
    Consume(delivery);
  }
  // All steps of an update after Take.
  void Update() {
    const PhaseSpan span(clocks_[0], Phase::kUpdateBackward);
    bp_delivery tick{sizeof(bp_delivery), BP_REQ_TICK};
    while (Plan() == BP_REQ_TICK) Consume(tick);
  }
  std::string Saved() const { return test_support::SaveState(api_, learner_); }

 private:
  uint32_t Plan() {
    const bp_limits limits{sizeof(bp_limits), 0, kRows};
    bp_request request{sizeof(bp_request)};
    if (api_->plan(learner_, &limits, &request) != BP_OK) throw std::runtime_error(services_.TakeError());
    return request.kind;
  }
  void Consume(const bp_delivery& delivery) {
    if (api_->consume(learner_, &delivery) != BP_OK) throw std::runtime_error(services_.TakeError());
  }

  FakeHost options_;
  RunnerPool pool_;
  std::vector<PhaseClock> clocks_;
  ParallelFor parallel_;
  HostSinks sinks_;
  HostServices services_{"learner.ppo", &sinks_};
  const bp_learner_api* api_;
  bp_learner* learner_ = nullptr;
};

void KeepTo(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

struct Round {
  double wall_s = 0, others = 0;
};

// Runs `updates` updates and times only their steps: loading the rollout happens in one place for both sides.
Round Shared(Trial* trial, Rollout* rollout, int updates) {
  Round round;
  const Cost all = Measure([&] {
    for (int i = 0; i < updates; ++i) {
      trial->Take(rollout);
      const int64_t begin = NowNs();
      trial->Update();
      round.wall_s += static_cast<double>(NowNs() - begin) * 1e-9;
    }
  });
  round.others = all.others;
  return round;
}

// The same number on each of two threads; the time until both are done.
Round SideBySide(std::unique_ptr<Trial>* trials, Rollout* rollout, int updates) {
  Round round;
  const std::vector<int> cores = GrantedCpus();
  const Cost all = Measure([&] {
    std::atomic<int> ready{0};
    double wall_s[2] = {};
    const auto run = [&](int which) {
      KeepTo(cores[static_cast<size_t>(which) % cores.size()]);
      ++ready;
      while (ready < 2) std::this_thread::yield();
      for (int i = 0; i < updates; ++i) {
        trials[which]->Take(rollout);
        const int64_t begin = NowNs();
        trials[which]->Update();
        wall_s[which] += static_cast<double>(NowNs() - begin) * 1e-9;
      }
    };
    std::thread one(run, 0), two(run, 1);
    one.join(), two.join();
    round.wall_s = std::max(wall_s[0], wall_s[1]);
  });
  round.others = all.others;
  return round;
}

nlohmann::json Measured(const Case& c, Rollout* rollout, int pairs, double round_s, int epochs) {
  constexpr double kQuiet = 0.05;
  Trial shared(c, epochs, 2);
  std::unique_ptr<Trial> apart[] = {std::make_unique<Trial>(c, epochs, 1), std::make_unique<Trial>(c, epochs, 1)};
  const Round first = Shared(&shared, rollout, 1), beside = SideBySide(apart, rollout, 1);
  if (shared.Saved() != apart[0]->Saved() || shared.Saved() != apart[1]->Saved())
    throw std::runtime_error("two threads end with other bits than one");
  const int updates = std::max(1, static_cast<int>(round_s / std::max(first.wall_s, beside.wall_s / 2)));
  std::vector<double> all, quiet;
  double best_shared = first.wall_s, best_beside = beside.wall_s;
  for (int i = 0; i < pairs; ++i) {
    const Round a = Shared(&shared, rollout, updates), b = SideBySide(apart, rollout, updates);
    best_shared = std::min(best_shared, a.wall_s / updates), best_beside = std::min(best_beside, b.wall_s / updates);
    all.push_back(b.wall_s / (2 * a.wall_s));
    if (std::max(a.others, b.others) <= kQuiet) quiet.push_back(all.back());
  }
  const bool disturbed = quiet.empty();
  return {{"share", Spread(disturbed ? all : quiet)},
          {"of_best", best_beside / (2 * best_shared)},
          {"best_update_ms", best_shared * 1e3},
          {"bar", c.bar},
          {"dropped", pairs - static_cast<int>(quiet.size())},
          {"verdict", disturbed                          ? "disturbed"
                      : Spread(quiet)["median"] >= c.bar ? "ok"
                                                         : "BELOW"}};
}

// CPU seconds of one update's steps.
double UpdateSeconds(Trial* trial, Rollout* rollout, int updates) {
  int64_t spent = 0;
  for (int i = 0; i < updates; ++i) {
    trial->Take(rollout);
    const int64_t begin = ThreadCpuNs();
    trial->Update();
    spent += ThreadCpuNs() - begin;
  }
  return static_cast<double>(spent) * 1e-9 / updates;
}

nlohmann::json Amp(Rollout* rollout, int pairs, double round_s, int epochs) {
  const Case c{"[256,256]", kRows * kSteps, 0, "relu"};
  Trial plain(c, epochs, 1), mixed(c, epochs, 1, true);
  const double first = UpdateSeconds(&plain, rollout, 1) + UpdateSeconds(&mixed, rollout, 1);
  const int updates = std::max(1, static_cast<int>(2 * round_s / first));
  std::vector<double> gain, plain_ms, mixed_ms;
  for (int i = 0; i < pairs; ++i) {
    plain_ms.push_back(UpdateSeconds(&plain, rollout, updates) * 1e3);
    mixed_ms.push_back(UpdateSeconds(&mixed, rollout, updates) * 1e3);
    gain.push_back(plain_ms.back() / mixed_ms.back());
  }
  return {{"gain", Spread(gain)}, {"float32_ms", Spread(plain_ms)}, {"bf16_ms", Spread(mixed_ms)}};
}

int Main(const std::vector<std::string>& words) {
  int pairs = 15, round_ms = 300, epochs = 10;
  bool amp = false;
  std::string only;
  for (const std::string& word : words) {
    if (word == "amp") {
      amp = true;
      continue;
    }
    if (word == "quick") {
      pairs = epochs = round_ms = 1;
      continue;
    }
    if (word.starts_with("only=")) {
      only = word.substr(5);
      continue;
    }
    const size_t equals = std::min(word.find('='), word.size() - 1);
    int* number = word.starts_with("pairs=") ? &pairs : word.starts_with("round_ms=") ? &round_ms : nullptr;
    const char* end = word.data() + word.size();
    if (!number || std::from_chars(word.data() + equals + 1, end, *number).ptr != end || *number < 1)
      throw std::runtime_error("'" + word + "' should be amp, pairs=N, round_ms=N, only=NET/MINIBATCH or quick");
  }
  Rollout rollout;
  nlohmann::json out;
  if (amp) {
    out = Amp(&rollout, pairs, round_ms * 1e-3, epochs);
  } else {
    for (const Case& c : kCases) {
      const std::string name = fmt::format("{}/{}", c.hidden, c.minibatch);
      if (only.empty() || only == name) out[name] = Measured(c, &rollout, pairs, round_ms * 1e-3, epochs);
    }
  }
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace backplane::bench

int main(int argc, char** argv) {
  try {
    return backplane::bench::Main({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_ppo_update: %s\n", e.what());
    return 1;
  }
}
