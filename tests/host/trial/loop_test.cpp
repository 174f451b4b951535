// Checkpoints of a stopped loop, and checkpoints that the loop rejects.
#include "trial/loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "backplane/data_learner.hpp"
#include "data_plugins.hpp"
#include "rollout/clocks.hpp"
#include "trial/late_stop.hpp"

namespace backplane {
namespace {

constexpr uint64_t kGroup = 4, kTicks = 3, kItems = 100;

// The action of the learner at each of its ticks, and the error of its `load`.
std::function<void(uint64_t tick)> g_on_tick;
bp_status g_load_fails = BP_OK;
int g_saves = 0;

}  // namespace

// Counts, in its state, the groups it received and the ticks after each.
class Counts : public bp::Learner, public bp::LearnerPlugin<Counts> {
 public:
  static constexpr bp::About kAbout{.id = "learner.counts", .version = "1.0.0", .summary = "Counts groups and ticks."};
  struct Options {
    uint64_t ticks = 3;
    bool large = false;
  };
  static constexpr bp::OptionTable kOptions{bp::Opt("ticks", &Options::ticks, "[0,)", "After each group."),
                                            bp::Opt("large", &Options::large, "Declares a large state.")};

  explicit Counts(const bp::LearnerSetup& setup) : Learner(setup), each_(kOptions.Read(setup.config).ticks) {
    spec_.ActIn("obs");
    spec_.ActOut(bp::NeedChannel(*setup.env, BP_ROLE_ACTION));
    spec_.set_params(1);
    if (kOptions.Read(setup.config).large) spec_.set_flags(BP_LEARNER_STATE_LARGE);
  }
  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  void Plan(const bp_limits&, bp_request* out) override {
    out->kind = left_ > 0 ? BP_REQ_TICK : BP_REQ_DATA;
    if (left_ > 0)
      out->u.tick.phase = "update_forward";
    else
      out->u.data.group_rows = out->u.data.micro_batch = kGroup;
  }
  void Consume(const bp::Delivery& delivery) override {
    if (delivery.raw().kind == BP_REQ_TICK) {
      --left_;
      g_on_tick(++ticks_);
    } else {
      ++groups_;
      left_ = each_;
    }
  }
  void Act(const bp_act&) override {}
  void Save(const bp::Writer& out) const { ++g_saves, out.Put(groups_), out.Put(ticks_); }
  void Load(const bp::Reader& in) {
    if (g_load_fails != BP_OK) throw bp::Error(g_load_fails, "told to");
    groups_ = in.Get<uint64_t>(), ticks_ = in.Get<uint64_t>();
  }

 private:
  const uint64_t each_;
  uint64_t groups_ = 0, ticks_ = 0, left_ = 0;
  bp::LearnerSpec spec_;
};

}  // namespace backplane

BP_PLUGINS(bp::EnvBatch<backplane::Numbers>, backplane::Counts);

namespace backplane {
namespace {

using testing::HasSubstr;

class ALoop : public testing::Test {
 protected:
  struct State {
    uint64_t groups, ticks;
  };

  ALoop() : folder_(std::filesystem::path(testing::TempDir()) / ("loop_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    g_on_tick = [](uint64_t) {};
    g_load_fails = BP_OK;
    g_saves = 0;
    spec_.trial_id = "0123456789abcdef";
    spec_.attempt_dir = folder_;
    spec_.checkpoint_dir = folder_ / "checkpoint";
    spec_.experiment.budget.iterations = 5;
    sinks_.cancelled = &cancelled_;
  }
  ~ALoop() override { std::filesystem::remove_all(folder_); }

  void Run(uint64_t items = kItems) {
    cancelled_ = false;
    const auto module = LoadedModule::FromTable(*bp_module_v1());
    EnvInstance env(*module, "env.numbers", sinks_, {{{"items", items}, {"capacity", 6}}, {}, ""}, 1);
    LearnerInstance learner(*module, "learner.counts", sinks_, {{{"ticks", kTicks}, {"large", large_}}, {}, ""}, env, 7);
    MonitorHost monitors(sinks_);
    MetricsHub metrics;
    StatusWriter status{std::filesystem::path()};
    TrialThreads threads(spec_.experiment.rollout, {.calls = true, .steps = true});
    CheckpointFolder checkpoints(spec_.checkpoint_dir, spec_.trial_id);
    TrialLoop loop({spec_, env, learner, nullptr, monitors, metrics, status, cancelled_, threads, checkpoints, 1, 1});
    loop.Run();
    stopped_ = loop.stopped_early();
  }
  // Stops the trial at this tick and lets its grace period pass.
  void StopAt(uint64_t tick) {
    g_on_tick = [this, tick](uint64_t now) {
      if (now == tick) cancelled_ = true;
      if (now > tick) suspended_ns -= kLongNs, passed_ns_ += kLongNs;
    };
  }
  Checkpoint Kept() {
    suspended_ns += std::exchange(passed_ns_, 0);
    const std::optional<Checkpoint> kept = CheckpointFolder(spec_.checkpoint_dir, spec_.trial_id).Newest();
    EXPECT_TRUE(kept);
    return kept.value_or(Checkpoint());
  }
  static State LearnerIn(const Checkpoint& checkpoint) {
    State state{};
    const std::vector<std::byte>& bytes = PartOf(checkpoint, "learner");
    EXPECT_GE(bytes.size(), sizeof state);
    std::memcpy(&state, bytes.data() + bytes.size() - sizeof state, sizeof state);
    return state;
  }

  static constexpr int64_t kLongNs = 60'000'000'000;
  const std::filesystem::path folder_;
  TrialSpec spec_;
  HostSinks sinks_;
  std::atomic<bool> cancelled_{false};
  int64_t passed_ns_ = 0;
  bool stopped_ = false, large_ = false;
};

TEST_F(ALoop, KeepsTheStateBeforeTheGroupIfCutInItsTicks) {
  StopAt(kTicks + 1);  // of the second iteration
  Run();
  EXPECT_TRUE(stopped_);
  const Checkpoint kept = Kept();
  EXPECT_EQ(kept.header.iterations, 1u);
  EXPECT_EQ(kept.header.env_steps, kGroup);
  ASSERT_TRUE(kept.header.data);
  EXPECT_EQ(kept.header.data->item, kGroup) << "the second group comes again";
  EXPECT_EQ(LearnerIn(kept).groups, 1u);
  EXPECT_EQ(LearnerIn(kept).ticks, kTicks);
}

// The host has not yet seen that the learner ticks, so it kept no earlier state.
TEST_F(ALoop, CompletesTheTicksOfItsFirstGroup) {
  StopAt(1);
  Run();
  EXPECT_TRUE(stopped_);
  const Checkpoint kept = Kept();
  EXPECT_EQ(kept.header.iterations, 1u);
  ASSERT_TRUE(kept.header.data);
  EXPECT_EQ(kept.header.data->item, kGroup);
  EXPECT_EQ(LearnerIn(kept).ticks, kTicks);
}

TEST_F(ALoop, SavesALargeStateOnlyForACheckpoint) {
  large_ = true;
  Run();
  EXPECT_EQ(g_saves, 1) << "at the end";
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  spec_.experiment.checkpoint.every_iterations = 2;
  Run();
  EXPECT_EQ(g_saves, 1 + 3) << "after 2 and 4 iterations, and at the end";
}

TEST_F(ALoop, LargeStateEndsItsTicksOrIsNotSaved) {
  large_ = true;
  spec_.experiment.checkpoint.every_iterations = 1;
  g_on_tick = [this](uint64_t now) {
    if (now == kTicks + 1) cancelled_ = true;
  };
  Run();
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(Kept().header.iterations, 2u) << "within its patience, it completes the second iteration";
  EXPECT_EQ(LearnerIn(Kept()).ticks, 2 * kTicks);
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  StopAt(kTicks + 1);  // of the second iteration
  Run();
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(Kept().header.iterations, 1u) << "the checkpoint before the second iteration";
  EXPECT_EQ(LearnerIn(Kept()).ticks, kTicks);
}

TEST_F(ALoop, LargeStateAfterDivergenceIsTheOneOnDisk) {
  large_ = true;
  g_on_tick = [](uint64_t now) {
    if (now == kTicks + 1) throw bp::Error(BP_E_NUMERIC, "the loss is NaN");
  };
  EXPECT_THROW(Run(), TrialFailure);
  EXPECT_FALSE(CheckpointFolder(spec_.checkpoint_dir, spec_.trial_id).Newest()) << "a diverged state was saved";
  spec_.experiment.checkpoint.every_iterations = 1;
  EXPECT_THROW(Run(), TrialFailure);
  EXPECT_EQ(Kept().header.iterations, 1u);
}

TEST(LateStop, ComesAfterItsPatience) {
  static std::atomic<bool> stop{false};
  const LateStop late(stop);
  constexpr auto kLooks = std::chrono::milliseconds(300);
  std::this_thread::sleep_for(kLooks);
  EXPECT_FALSE(late.flag());
  stop = true;
  std::this_thread::sleep_for(kLooks);
  EXPECT_FALSE(late.flag());
  constexpr int64_t kLongNs = 60'000'000'000;
  suspended_ns -= kLongNs;
  for (int i = 0; i < 100 && !late.flag(); ++i) std::this_thread::sleep_for(kLooks / 10);
  EXPECT_TRUE(late.flag());
  suspended_ns += kLongNs;
}

TEST_F(ALoop, RejectsACheckpointOnlyForItsContent) {
  Run();
  const auto go_on = [this](uint64_t items) -> std::string {
    spec_.resume = true;
    spec_.experiment.budget.iterations = 8;
    try {
      Run(items);
      return "goes on";
    } catch (const CheckpointRefused& refused) {
      return std::string("refused: ") + refused.what();
    } catch (const TrialFailure& failure) {
      return std::to_string(failure.status()) + " " + failure.what();
    }
  };
  for (const bp_status status : {BP_E_INVALID_ARG, BP_E_IO}) {
    g_load_fails = status;
    EXPECT_EQ(go_on(kItems), "refused: learner.counts: load: told to");
  }
  for (const bp_status status : {BP_E_INTERNAL, BP_E_CONFIG, BP_E_UNSUPPORTED, BP_E_OOM_HOST}) {
    g_load_fails = status;
    EXPECT_EQ(go_on(kItems), std::to_string(status) + " learner.counts: load: told to");
  }
  g_load_fails = BP_OK;
  EXPECT_THAT(go_on(10),
              HasSubstr(std::to_string(BP_E_CONFIG) + " env.numbers: has fewer items than when the trial was stopped"));
  EXPECT_EQ(go_on(kItems), "goes on");
}

}  // namespace
}  // namespace backplane
