#include "validate/use.hpp"

#include <fmt/format.h>

#include "rollout/clocks.hpp"
#include "validate/doing.hpp"
#include "validate/driven_env.hpp"
#include "validate/driven_learner.hpp"
#include "validate/verdict.hpp"

namespace backplane {
namespace {

std::vector<std::byte> UseEnv(Subject& subject, bool bare) {
  DrivenEnv env(subject, {.rows = 3, .bare = bare});
  env.ResetAll();
  env.Play(0, 25);
  env.CheckGuards("step");
  std::vector<std::byte> all;
  for (uint64_t r = 0; r < env.rows(); ++r) all.insert(all.end(), env.record(r).begin(), env.record(r).end());
  return all;
}

std::vector<std::byte> UseLearner(Subject& subject, bool bare) {
  DrivenLearner learner(subject, {.bare = bare});
  learner.Train(1);
  return learner.record();
}

void UseMonitor(Subject& subject, bool bare) {
  const std::unique_ptr<MonitorInstance> made = subject.MakeMonitor(bare);
  MonitorInstance& monitor = *made;
  const EventStorm storm(2);
  NowDoing("on_events");
  if (const bp_status status = monitor.OnEvents(storm.events().data(), storm.events().size()); status != BP_OK)
    FailCall("on_events", fmt::format("status {}: {}", status, monitor.TakeError()));
  NowDoing("sample");
  monitor.Sample(NowNs());
  NowDoing("finish");
  if (const bp_status status = monitor.Finish(subject.folder().string()); status != BP_OK)
    FailCall("finish", fmt::format("status {}: {}", status, monitor.TakeError()));
}

}  // namespace

std::vector<std::byte> UseOnce(Subject& subject, bool bare) {
  if (const OptionInfo* option = subject.MissingOption())
    SkipCase(fmt::format("option '{0}' has no default; use --set {0}=VALUE", option->path));
  switch (subject.info().kind) {
    case BP_KIND_ENV: return UseEnv(subject, bare);
    case BP_KIND_LEARNER: return UseLearner(subject, bare);
    default: UseMonitor(subject, bare); return {};
  }
}

void NeedTwoInstances(const Subject& subject) {
  if ((subject.info().flags & BP_FLAG_SINGLETON) != 0) SkipCase("allows only one instance (SINGLETON)");
}

void MakeOnce(Subject& subject) {
  switch (subject.info().kind) {
    case BP_KIND_ENV: subject.MakeEnv(3); break;
    case BP_KIND_LEARNER: {
      const auto env = subject.MakeEnvFor(8);
      subject.MakeLearner(*env, subject.seed());
      break;
    }
    default: subject.MakeMonitor();
  }
}

EventStorm::EventStorm(uint64_t iterations, uint64_t first_seq) {
  uint64_t seq = first_seq;
  const auto add = [&](uint32_t type, uint64_t iteration, double value, const char* name, int64_t duration_ns = 0) {
    bp_event event{};
    event.struct_size = sizeof event;
    event.type = type;
    event.t_ns = static_cast<int64_t>(1'000'000'000 + seq * 1'000'000);
    event.seq = seq++;
    event.iteration = iteration, event.env_steps = iteration * 1000;
    event.value = value, event.name = name, event.duration_ns = duration_ns;
    event.count = type == BP_EVENT_PHASE ? 1 : 0;
    events_.push_back(event);
  };
  for (uint64_t i = 1; i <= iterations; ++i) {
    add(BP_EVENT_PHASE, i, 0, "env_step", 5'000'000);
    add(BP_EVENT_PHASE, i, 0, "update_backward", 4'000'000);
    for (int k = 0; k < 4; ++k) add(BP_EVENT_EPISODE, i, 10.0 + k, "episode");
    add(BP_EVENT_ITER, i, 1000, "iteration", 9'000'000);
    add(BP_EVENT_METRIC, i, 0.5, "train/policy_loss");
    add(BP_EVENT_METRIC, i, 12, "return");
  }
}

}  // namespace backplane
