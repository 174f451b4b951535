// Cases of several instances, of the process, and of older or newer hosts.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "rollout/clocks.hpp"
#include "rollout/learner_files.hpp"
#include "rollout/process_state.hpp"
#include "validate/at_once.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/driven_env.hpp"
#include "validate/leave.hpp"
#include "validate/use.hpp"

namespace backplane {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnMalloc = true;
#else
constexpr bool kOwnMalloc = false;
#endif

uint64_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

int64_t Descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

void LeaksNothing(Subject& subject, CaseResult*) {
  if (kOwnMalloc) SkipCase("a sanitizer checks for leaks");
  constexpr int64_t kForNs = 2'000'000'000;
  constexpr uint64_t kMost = 100, kWarmUp = 20, kRounds = 4;
  subject.module();
  MakeOnce(subject);
  const int64_t begin = NowNs();
  MakeOnce(subject);
  const uint64_t times = std::clamp<uint64_t>(static_cast<uint64_t>(kForNs / std::max<int64_t>(NowNs() - begin, 1)), 3, kMost);
  for (uint64_t i = 0; i < std::min(times, kWarmUp); ++i) MakeOnce(subject);
  const uint64_t least = std::max<uint64_t>(16 * times, 1024);  // the smallest allocation, each time
  const std::string place = fmt::format("create and destroy {} times", times);
  const int64_t files = Descriptors();
  // The allocator's reserve also grows sometimes, but a leak grows in every round.
  for (uint64_t round = 0;; ++round) {
    const uint64_t before = BytesInUse();
    for (uint64_t i = 0; i < times; ++i) MakeOnce(subject);
    const uint64_t after = BytesInUse();
    if (const int64_t now = Descriptors(); now > files)
      FailCase(place, "no file left open", fmt::format("{} more", now - files));
    if (after < before + least) return;
    if (round + 1 == kRounds)
      FailCase(place, "the same memory in use",
               fmt::format("{} bytes more, {} each time", after - before, (after - before) / times));
  }
}

void TwoThreads(Subject& subject, CaseResult*) {
  NeedTwoInstances(subject);
  constexpr int kRounds = 10;
  constexpr int64_t kForNs = 300'000'000;
  // Folder of a different trial.
  const std::filesystem::path folder = subject.folder() / "second";
  std::filesystem::create_directories(folder);
  Subject second(subject.info(), subject.setting(), folder);
  const std::vector<std::byte> alone = UseOnce(subject);
  UseOnce(second);
  const int64_t begin = NowNs();
  for (int round = 0; round == 0 || (round < kRounds && NowNs() - begin < kForNs); ++round) {
    std::vector<std::byte> here, there;
    AtOnce([&] { here = UseOnce(subject); }, [&] { there = UseOnce(second); });
    if (here != alone || there != alone)
      FailCase("two instances on two threads", "the bytes of a single instance", "different bytes");
  }
}

// Structs larger than this version's, with random bytes at their ends.
template <class Struct>
struct Newer {
  explicit Newer(const Struct& known) : now(known) {
    now.struct_size = sizeof *this;
    for (uint64_t& word : beyond) word = 0xdeadbeefdeadbeefu;
  }
  Struct now;
  uint64_t beyond[6];
};

void NewerHost(Subject& subject, CaseResult*) {
  subject.NeedNoWrapper("this host has no env below it");
  if (const OptionInfo* option = subject.MissingOption())
    SkipCase(fmt::format("option '{0}' has no default; use --set {0}=VALUE", option->path));
  const PluginInfo& info = subject.info();
  HostServices services(info.id, &subject.sinks());
  if (info.kind == BP_KIND_LEARNER)
    services.OfferFiles(LearnerFiles::Api(), std::make_shared<LearnerFiles>(&services, std::filesystem::path()));
  Newer<bp_host> host(*services.get());
  host.now.abi_minor += 3;
  const OptionView view(subject.setting().options, {}, "options");
  Newer<bp_config> config(*view.get());
  const auto need = [&](const char* call, auto&& function) {
    const bp_status status = CallPlugin(info.id, function);
    if (status != BP_OK) FailCase(call, "BP_OK", fmt::format("status {}: {}", status, services.TakeError()));
  };
  subject.module();
  if (info.kind == BP_KIND_ENV) {
    const auto* api = subject.module().api<bp_env_api>(info.id);
    DrivenEnv known(subject, {.rows = 3, .slots = 4}), newer(subject, {.rows = 3, .slots = 4});
    bp_env* env = nullptr;
    NowDoing("create by a newer host");
    need("create by a newer host", [&] { return api->create(&host.now, &config.now, 3, &env); });
    CallPlugin(info.id, [&] { api->destroy(env); });
    newer.BindAsNewer();
    known.ResetAll(), newer.ResetAll();
    known.Play(0, 12), newer.Play(0, 12);
    newer.CheckGuards("step");
    for (uint64_t r = 0; r < known.rows(); ++r)
      if (const auto found = known.Difference(known.record(r), newer.record(r)))
        FailCase("bind with frames of a newer host", "the same bytes", *found,
                 "Walk an array of structs by the struct_size of its first one.");
  } else if (info.kind == BP_KIND_LEARNER) {
    const auto* api = subject.module().api<bp_learner_api>(info.id);
    const auto env = subject.MakeEnvFor(8);
    Newer<bp_env_spec> spec(env->spec());
    services.OfferFiles(LearnerFiles::Api(), std::make_shared<LearnerFiles>(&services, ""));
    bp_learner* learner = nullptr;
    NowDoing("create by a newer host");
    need("create by a newer host", [&] { return api->create(&host.now, &config.now, &spec.now, 8, subject.seed(), &learner); });
    CallPlugin(info.id, [&] { api->destroy(learner); });
  } else {
    const auto* api = subject.module().api<bp_monitor_api>(info.id);
    bp_monitor* monitor = nullptr;
    NowDoing("create by a newer host");
    need("create by a newer host", [&] { return api->create(&host.now, &config.now, &monitor); });
    std::vector<Newer<bp_event>> events;
    const EventStorm storm(3);
    for (const bp_event& event : storm.events()) events.emplace_back(event);
    NowDoing("on_events by a newer host");
    if (api->on_events)
      need("on_events by a newer host", [&] { return api->on_events(monitor, &events.front().now, events.size()); });
    if (api->finish) need("finish", [&] { return api->finish(monitor, subject.folder().c_str()); });
    CallPlugin(info.id, [&] { api->destroy(monitor); });
  }
}

void BareHost(Subject& subject, CaseResult* result) {
  try {
    UseOnce(subject, /*bare=*/true);
  } catch (const TrialFailure& e) {
    if (e.status() != BP_E_UNSUPPORTED) throw;
    result->note = std::string("rejects it: ") + e.what();
  }
}

void KeepsTheProcess(Subject& subject, CaseResult*) {
  subject.LoadTorch();
  NameSuspects(subject.info().id);
  KeepProcessState();
  UseOnce(subject);
  RestoreState(subject.info().id);
  const std::vector<std::string> changes = StateChanges();
  if (!changes.empty()) FailCase("create to destroy", "an unchanged process", changes.front());
}

void EndsQuietly(Subject& subject, CaseResult*) {
  UseOnce(subject);
  NowDoing("destructors of static objects at exit");
  const InCall exiting(PluginCall::kExit);
  LeaveByExit();
}

}  // namespace

std::vector<Case> LifeCases() {
  return {
      {"leaks-nothing", kOfAll, "`destroy` releases all memory and files of `create`.", "Use valgrind or the asan preset.",
       LeaksNothing, kMakes},
      {"two-threads", kOfAll, "Two instances on two threads give the same results as one.",
       "Move statics and globals into the instance.", TwoThreads, kUses, Evidence::kCompares},
      {"newer-host", kOfAll, "The plugin works with a newer minor version of the host, whose structs are longer.",
       "Read struct_size, compare it with >=, and walk arrays by it.", NewerHost, kPlays | kListens, Evidence::kCompares},
      {"bare-host", kOfAll, "Without host services that are not in `needs`, a plugin works or returns BP_E_UNSUPPORTED.",
       "Check if get_extension returns NULL, or add the service to `needs`.", BareHost, kUses},
      {"keeps-the-process", kOfAll, "Floating-point mode, locale, working directory, umask, signals and so on stay unchanged.",
       "Do not change them, or restore them before the call returns.", KeepsTheProcess, kUses},
      {"ends-quietly", kOfAll, "Destructors of static objects neither crash nor end the process.",
       "Use no static objects with destructors.", EndsQuietly, kUses | CallSet{PluginCall::kExit}},
  };
}

}  // namespace backplane
