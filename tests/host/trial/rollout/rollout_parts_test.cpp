// A rollout in parts has the bytes of the same rollout in one delivery, for a learner that does not change its policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "rollout/process_state.hpp"
#include "toy_plugins.hpp"
#include "twin_plugins.hpp"

namespace backplane {
namespace {

using toy::ToyTrial;
using twin::Form;
using twin::TwinTrial;

constexpr uint64_t kSteps = 23;  // of a rollout: no multiple of 3
constexpr uint64_t kPartLengths[] = {1, 3, kSteps - 1, kSteps, kSteps + 5};

// Everything that a learner receives of its rollouts, by name; final_index and episodes count from the rollout's first step.
using Received = std::map<std::string, std::string>;

void AddEntries(const bp_tensor& tensor, int64_t n, std::string* out) {
  const uint64_t item = tensor.dtype.bits / 8;
  uint64_t inner = item;
  for (int d = 1; d < tensor.ndim; ++d) inner *= static_cast<uint64_t>(tensor.shape[d]);
  for (int64_t e = 0; e < n; ++e)
    out->append(static_cast<const char*>(tensor.data) + e * tensor.strides[0] * static_cast<int64_t>(item), inner);
}

template <class Trial>
void AddDelivery(Trial& trial, const RolloutPart& part, uint64_t rows, Received* out) {
  const bp_delivery d = trial.collector->Delivery();
  EXPECT_EQ(d.index, part.index);
  EXPECT_EQ(d.count, part.count);
  EXPECT_EQ(d.env_steps, trial.collector->env_steps());
  const twin::DevicePages::Open open;
  for (uint64_t i = 0; i < d.n_tensors; ++i) {
    const std::string name = d.names[i];
    const bp_tensor& tensor = *d.tensors[i];
    if (name.starts_with("obs_")) continue;  // MomentsCoverThePart
    const bool final = name.starts_with("final_");
    const bool state = !final && IsStateRole(trial.collector->Buffer(name)->role());
    if (name == "final_index") {
      for (int64_t e = 0; e < tensor.shape[0]; ++e)
        (*out)[name] +=
            std::to_string(static_cast<const int64_t*>(tensor.data)[e] + static_cast<int64_t>(part.first * rows)) + " ";
      continue;
    }
    const auto entries = final ? tensor.shape[0] : static_cast<int64_t>(part.steps);
    EXPECT_EQ(tensor.shape[0], entries + (state ? 1 : 0)) << name;
    AddEntries(tensor, entries, &(*out)[name]);
    if (!state) continue;
    std::string last;  // of the part, which is the first state of the next one
    AddEntries(tensor, tensor.shape[0], &last);
    const std::string first = last.substr(0, last.size() / static_cast<size_t>(tensor.shape[0]));
    std::string& before = (*out)["last " + name];
    EXPECT_TRUE(before.empty() || before == first) << name << " of part " << part.index;
    before = last.substr(last.size() - first.size());
  }
  for (const Episode& e : trial.collector->episodes())
    (*out)["episodes"] += testing::PrintToString(std::tuple(part.first + e.t, e.row, e.episode_return, e.length, e.info[0]));
}

template <class Trial>
Received ReceiveParts(Trial& trial, uint64_t rows, uint64_t part, int rollouts = 3) {
  Received out;
  const PhaseSpan span(trial.clocks[0], Phase::kSync);
  for (int i = 0; i < rollouts; ++i)
    for (uint64_t k = 0; k < RolloutPart(kSteps, part, 0).count; ++k) {
      EXPECT_TRUE(trial.collector->Collect(RolloutPart(kSteps, part, k), trial.clocks));
      AddDelivery(trial, RolloutPart(kSteps, part, k), rows, &out);
    }
  return out;
}

TEST(RolloutParts, DivideTheSteps) {
  const auto text = [](uint64_t horizon, uint64_t part) {
    std::string out;
    for (uint64_t k = 0; k < RolloutPart(horizon, part, 0).count; ++k) {
      const RolloutPart one(horizon, part, k);
      out += std::to_string(one.first) + "+" + std::to_string(one.steps) + (one.last() ? "." : " ");
    }
    return out;
  };
  EXPECT_EQ(text(7, 0), "0+7.");
  EXPECT_EQ(text(7, 3), "0+3 3+3 6+1.");
  EXPECT_EQ(text(6, 3), "0+3 3+3.");
  EXPECT_EQ(text(7, 7), "0+7.");
  EXPECT_EQ(text(7, 12), "0+7.") << "cut to the horizon";
  EXPECT_EQ(RolloutPart(UINT64_MAX, 1, 0).count, UINT64_MAX);
}

TEST(RolloutParts, EqualTheWholeRollout) {
  for (const uint64_t rows : {1, 3, 64}) {
    ToyTrial whole(rows, 1, 4);
    const Received wanted = ReceiveParts(whole, rows, 0);
    EXPECT_GT(wanted.at("final_index").size(), 2u) << rows << " rows";
    for (const unsigned threads : {1, 2, 3})
      for (const uint64_t part : kPartLengths) {
        ToyTrial trial(rows, threads, 4);
        const Received got = ReceiveParts(trial, rows, part);
        for (const auto& [name, bytes] : wanted)
          EXPECT_TRUE(got.at(name) == bytes) << name << ", " << rows << " rows, " << threads << " threads, part " << part;
      }
  }
}

TEST(RolloutParts, EqualTheWholeRolloutOfAnEnvThatResetsItself) {
  constexpr uint64_t kTwinRows = 10;
  TwinTrial whole(Form::kOrdinary, kTwinRows, 1, 3);
  const Received wanted = ReceiveParts(whole, kTwinRows, 0);
  for (const Form form : {Form::kOrdinary, Form::kSelfResetting, Form::kOnDevice})
    for (const uint64_t part : kPartLengths) {
      TwinTrial trial(form, kTwinRows, 2, 3);
      const Received got = ReceiveParts(trial, kTwinRows, part);
      for (const auto& [name, bytes] : wanted)
        EXPECT_TRUE(got.at(name) == bytes) << name << ", form " << static_cast<int>(form) << ", part " << part;
    }
}

// From 4096 steps on, the steps of few rows are copied from a single slot.
TEST(RolloutParts, LongPartsContinueEachOther) {
  const auto steps = [](uint64_t part) {
    ToyTrial trial(1, 1, 1);
    Received out;
    const PhaseSpan span(trial.clocks[0], Phase::kSync);
    for (uint64_t k = 0; k < RolloutPart(11'000, part, 0).count; ++k) {
      EXPECT_TRUE(trial.collector->Collect(RolloutPart(11'000, part, k), trial.clocks));
      AddDelivery(trial, RolloutPart(11'000, part, k), 1, &out);
    }
    return out;
  };
  const Received wanted = steps(1000);
  EXPECT_TRUE(steps(5000) == wanted);
  EXPECT_TRUE(steps(0) == wanted);
}

TEST(RolloutParts, MomentsCoverThePart) {
  ToyTrial trial(3, 1, 4);
  const PhaseSpan span(trial.clocks[0], Phase::kSync);
  for (uint64_t k = 0; k < 3; ++k) {
    ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 3, k), trial.clocks));
    const bp_delivery d = trial.collector->Delivery();
    std::map<std::string, const bp_tensor*> by_name;
    for (uint64_t i = 0; i < d.n_tensors; ++i) by_name[d.names[i]] = d.tensors[i];
    const bp_tensor& obs = *by_name.at("obs");
    const double n = k < 2 ? 9 : 3;
    double sum = 0;
    for (int64_t t = 0; t < (k < 2 ? 3 : 1); ++t)
      for (int64_t row = 0; row < 3; ++row)
        sum += static_cast<const float*>(obs.data)[t * obs.strides[0] + row * obs.strides[1] + 1];
    EXPECT_EQ(*static_cast<const double*>(by_name.at("obs_count")->data), n);
    EXPECT_NEAR(static_cast<const double*>(by_name.at("obs_mean")->data)[1], sum / n, 1e-12);
  }
}

// Buffers in other places would cost an allocation in each iteration.
TEST(RolloutParts, ShorterLastPartKeepsTheBuffers) {
  ToyTrial trial(3, 1, 4);
  const PhaseSpan span(trial.clocks[0], Phase::kSync);
  ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 3, 0), trial.clocks));
  const std::byte* const obs = trial.collector->Buffer("obs")->row(0, 0);
  EXPECT_EQ(trial.collector->Buffer("obs")->bytes(), 4 * 64u) << "four entries: room for one part";
  for (uint64_t k = 1; k < 30; ++k) {
    ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 3, k % 3), trial.clocks));
    EXPECT_EQ(trial.collector->Buffer("obs")->row(0, 0), obs);
  }
}

TEST(RolloutParts, FailuresNameTheStepOfTheRollout) {
  ToyTrial trial(3, 1, 4);
  const PhaseSpan span(trial.clocks[0], Phase::kSync);
  ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 3, 0), trial.clocks));
  toy::g_switches.nan_obs = toy::NanPlace{1, 1, 2};
  ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 3, 1), trial.clocks));
  toy::g_switches.nan_obs.reset();
  const auto found = trial.collector->NonFiniteObservation();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "observation obs[2] of row 1 is not finite at step 5 of the rollout");
  toy::g_switches.nan_row = 2;
  try {
    trial.collector->Collect(RolloutPart(7, 3, 2), trial.clocks);
    ADD_FAILURE();
  } catch (const TrialFailure& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr("the reward of row 2 is not a finite number at step 7 of the rollout"));
  }
  toy::g_switches.nan_row = -1;
}

TEST(RolloutParts, RestoreTheStateOfTheThread) {
  KeepProcessState();
  NameSuspects("env.toy or learner.toy");
  ToyTrial trial(3, 1, 4);
  const PhaseSpan span(trial.clocks[0], Phase::kSync);
  toy::g_switches.on_step = [] {
    sigset_t signals;
    sigemptyset(&signals), sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  };
  for (uint64_t k = 0; k < 3; ++k) ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 3, k), trial.clocks));
  toy::g_switches.on_step = nullptr;
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGTERM), 0);
  EXPECT_THAT(StateChanges(), testing::ElementsAre(testing::HasSubstr("env.toy or learner.toy changed the signals")));
}

TEST(RolloutParts, StopWhenCancelled) {
  for (const unsigned threads : {1, 2}) {
    ToyTrial trial(8, threads, 4);
    const PhaseSpan span(trial.clocks[0], Phase::kSync);
    ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 1, 0), trial.clocks));
    ASSERT_TRUE(trial.collector->Collect(RolloutPart(7, 1, 1), trial.clocks));
    trial.cancelled = true;
    EXPECT_FALSE(trial.collector->Collect(RolloutPart(7, 1, 2), trial.clocks));
  }
}

TEST(RolloutParts, RejectsMoreThanADeliveryCounts) {
  const ToyTrial trial(3, 1);
  bp_request request{sizeof(bp_request), BP_REQ_ROLLOUT, {}};
  const auto error = [&](uint64_t horizon, uint64_t part) -> std::string {
    request.u.rollout.horizon = horizon, request.u.rollout.part = part;
    try {
      CheckParts(request, *trial.env, *trial.learner);
      return "";
    } catch (const TrialFailure& failure) {
      return failure.what();
    }
  };
  EXPECT_EQ(error(UINT32_MAX, 1), "");
  EXPECT_EQ(error(uint64_t{1} << 40, 1000), "") << "buffers contain one part";
  EXPECT_EQ(error(5, 7), "");
  EXPECT_EQ(error(uint64_t{1} << 32, 1),
            "learner.toy: asks for a rollout of 4294967296 steps in parts of 1: expected at most 4294967295 parts, got "
            "4294967296");
  EXPECT_EQ(error(0, 7), "learner.toy: asks for a rollout of 0 steps");
  EXPECT_THAT(error(uint64_t{1} << 60, uint64_t{1} << 50), testing::HasSubstr("asks for a rollout of 1125899906842624 steps"));
}

}  // namespace
}  // namespace backplane
