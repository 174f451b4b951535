#include "validate/driven_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "backplane/rng.h"
#include "data/group.hpp"
#include "rollout/clocks.hpp"
#include "trial/budget.hpp"
#include "trial/plugin_state.hpp"
#include "validate/doing.hpp"
#include "validate/verdict.hpp"

namespace backplane {
namespace {

constexpr uint64_t kBudget = 40, kNearEnd = 4;  // iterations in the learner's limits
constexpr uint64_t kStepsLeft = 3;              // fewer than any plan collects
constexpr int64_t kTimeLeft_ns = 1'000'000'000;
constexpr uint64_t kMostTicks = 1'000'000;

template <class T>
void FillWithOnes(const bp_tensor& tensor) {
  int64_t inner = 1;
  for (int d = 1; d < tensor.ndim; ++d) inner *= tensor.shape[d];
  for (int64_t i = 0; i < tensor.shape[0]; ++i) std::fill_n(static_cast<T*>(tensor.data) + i * tensor.strides[0], inner, T{1});
}

// Sets all rewards of a rollout, or all scores of candidates, to 1.
void MakeRewardsEqual(const bp_delivery& delivery) {
  for (uint64_t i = 0; i < delivery.n_tensors; ++i) {
    const std::string_view name = delivery.names[i];
    if (name == "reward") FillWithOnes<float>(*delivery.tensors[i]);
    if (name == "fitness") FillWithOnes<double>(*delivery.tensors[i]);
  }
}

}  // namespace

DrivenLearner::DrivenLearner(Subject& subject, const LearnerLayout& layout)
    : subject_(subject),
      layout_(layout),
      env_(subject.MakeEnvFor(layout.rows)),
      act_env_(subject.MakeEnvFor(layout.rows)),
      learner_(subject.MakeLearner(*env_, subject.seed(), layout.bare)),
      pool_(layout.threads),
      clocks_(layout.threads) {
  slot_ = std::make_unique<SlotBuffers>(*act_env_, *learner_, [](const bp_channel&) { return true; });
  slot_->Bind();
  std::vector<uint64_t> seeds;
  for (uint32_t r = 0; r < layout.rows; ++r) seeds.push_back(bp_seed(subject.seed() + 3, BP_PURPOSE_EVAL, r, 0));
  if (act_env_->Reset(0, 0, layout.rows, nullptr, seeds.data()) != BP_OK) act_env_->Fail(BP_E_INTERNAL, "reset");
}

bp_limits DrivenLearner::LimitsNow() const {
  const bool near_end = layout_.budget == DrivenBudget::kNearEnd;
  BudgetConfig budget;
  budget.iterations = near_end ? kNearEnd : kBudget;
  if (near_end) budget.epochs = 1;
  Spent spent;
  spent.iterations = std::min(iterations_, *budget.iterations - 1);
  bp_limits limits = Limits(budget, spent, layout_.rows, layout_.chunk_rows);
  if (near_end) limits.env_steps_left = kStepsLeft, limits.deadline_ns = ReadClock(CLOCK_MONOTONIC) + kTimeLeft_ns;
  if (SourceOf(*env_)) limits.items = ItemsOf(*env_);
  if (loader_) limits.micro_batch_max = loader_->micro_batch_max();
  return limits;
}

void DrivenLearner::Train(uint64_t iterations) {
  const PhaseSpan span(clocks_[0], Phase::kSync);
  for (uint64_t begun = 0; !done_;) {
    NowDoing("plan");
    const bp_request request = learner_->Plan(LimitsNow());
    const bool collects = request.kind == BP_REQ_ROLLOUT || request.kind == BP_REQ_EVALUATE || request.kind == BP_REQ_DATA;
    if (collects && begun == iterations) return;
    if (collects) ++begun;
    Serve(request);
    if (collects) ++iterations_, collected_ = request.kind;
  }
}

void DrivenLearner::Serve(bp_request request) {
  bp_delivery delivery{};
  switch (request.kind) {
    case BP_REQ_ROLLOUT: return ServeRollout(request);
    case BP_REQ_EVALUATE: {
      CandidateScorer::Check(request, *env_, *learner_);
      NowDoing("act for candidates");
      CandidateScorer& scorer = Scorer();
      scorer.Score(request, clocks_);
      env_steps_ += scorer.env_steps();
      delivery = scorer.Delivery();
      delivery.env_steps = env_steps_;
      double sum = 0;
      for (const Episode& episode : scorer.episodes()) sum += episode.episode_return;
      if (!scorer.episodes().empty()) earned_ = sum / static_cast<double>(scorer.episodes().size());
      if (layout_.constant_reward) MakeRewardsEqual(delivery);
      NowDoing("consume of the candidates' scores");
      learner_->Consume(delivery);
      return;
    }
    case BP_REQ_DATA: {
      if (SourceOf(*env_) == nullptr)
        throw TrialFailure(BP_E_UNSUPPORTED, learner_->id(), "asks for data, but " + env_->id() + " is no data set");
      NowDoing("consume of a group of items");
      if (layout_.micro_batch > 0) request.u.data.micro_batch = layout_.micro_batch;
      Loader().DeliverGroup(request, iterations_ + 1, env_steps_, [] {});
      env_steps_ += Loader().group_items();
      if (Loader().HasHeldOutLoss())
        if (const auto loss = Loader().HeldOutLoss(*env_, std::min<uint64_t>(ItemsOf(*env_), 16))) earned_ = -loss->loss;
      return;
    }
    case BP_REQ_TICK:
      if (++ticks_ > kMostTicks) FailCase("plan", "an end of its ticks", fmt::format("{} of them", ticks_));
      delivery.struct_size = sizeof delivery;
      delivery.kind = BP_REQ_TICK;
      delivery.env_steps = env_steps_;
      NowDoing("consume of a tick");
      learner_->Consume(delivery);
      return;
    case BP_REQ_SAVE: return;
    case BP_REQ_DONE: done_ = true; return;
    default: FailCase("plan", "a request of kind BP_REQ_ROLLOUT to BP_REQ_DONE", fmt::format("kind {}", request.kind));
  }
}

void DrivenLearner::ServeRollout(const bp_request& request) {
  CheckParts(request, *env_, *learner_);
  RolloutCollector& collector = Collector();
  took_parts_ = request.u.rollout.part > 0;
  double sum = 0;
  RolloutPart part(request.u.rollout.horizon, request.u.rollout.part, 0);
  for (;;) {
    NowDoing("act in a rollout");
    collector.Collect(part, clocks_);
    env_steps_ += part.steps * layout_.rows;
    if (ChannelBuffer* reward = collector.Buffer("reward")) {
      for (uint64_t t = 0; t < part.steps; ++t)
        for (uint64_t r = 0; r < reward->lead(); ++r) sum += reward->Number(t, r);
      earned_ = sum / static_cast<double>((part.first + part.steps) * reward->lead());
    }
    bp_delivery delivery = collector.Delivery();
    delivery.env_steps = env_steps_;
    if (layout_.constant_reward) MakeRewardsEqual(delivery);
    NowDoing(took_parts_ ? "consume of a part of a rollout" : "consume of a rollout");
    const bool spoils = took_parts_ && layout_.spoils_parts;
    learner_->Consume(spoils ? copies_.Add(delivery) : delivery);
    if (spoils) copies_.Spoil();
    collector.CheckDelivered();
    if (part.last()) return;
    part = RolloutPart(request.u.rollout.horizon, part.room, part.index + 1);
  }
}

bp_request DrivenLearner::PlanData() {
  NowDoing("plan");
  const bp_request request = learner_->Plan(LimitsNow());
  if (request.kind != BP_REQ_DATA)
    FailCase("plan after an iteration of data", "a request for data", fmt::format("kind {}", request.kind));
  return request;
}

void DrivenLearner::BreakOffGroup() {
  bp_request request = PlanData();
  request.u.data.micro_batch = std::max<uint64_t>(1, std::min(request.u.data.group_rows, Loader().items()) / 2);
  micro_batches_left_ = 1;
  NowDoing("consume of a group's first micro-batch");
  Loader().DeliverGroup(request, iterations_ + 1, env_steps_, [] {});
  micro_batches_left_ = UINT64_MAX;
}

void DrivenLearner::Probe() {
  ItemGroup group(*env_);
  group.ReadLongest(std::min<uint64_t>(2, ItemsOf(*env_)));
  bp_delivery delivery = group.Cut(group.items()).front();
  delivery.flags |= BP_DELIVERY_PROBE;
  NowDoing("consume of a probe");
  learner_->Consume(delivery);
}

RolloutCollector& DrivenLearner::Collector() {
  if (!collector_)
    collector_ = std::make_unique<RolloutCollector>(
        *env_, *learner_, pool_, RolloutCollectorConfig{layout_.chunk_rows, subject_.seed()}, cancelled_, [] {});
  return *collector_;
}

CandidateScorer& DrivenLearner::Scorer() {
  if (collector_) collector_->ReleaseEnv();
  if (!scorer_)
    scorer_ =
        std::make_unique<CandidateScorer>(*env_, *learner_, pool_, layout_.chunk_rows, subject_.seed(), cancelled_, [] {});
  scorer_->Bind();
  return *scorer_;
}

DataLoader& DrivenLearner::Loader() {
  if (!loader_)
    loader_ = std::make_unique<DataLoader>(*env_, *learner_, DataLoaderOptions{subject_.seed(), 0, true},
                                           [this] { return micro_batches_left_-- == 0; });
  return *loader_;
}

std::optional<std::vector<std::byte>> DrivenLearner::Saved() {
  const bp_learner_state_1* state = StateOf(*learner_);
  if (state == nullptr) return std::nullopt;
  NowDoing("save");
  return SaveLearner(*state, *learner_);
}

std::optional<bp_named_tensors> DrivenLearner::Tensors() {
  const auto* tensors = learner_->Extension<bp_learner_tensors_1>(BP_LEARNER_TENSORS_1);
  if (tensors == nullptr) return std::nullopt;
  bp_named_tensors named{sizeof named, 0, 0, nullptr, nullptr};
  NowDoing("tensors");
  learner_->Call("tensors", [&](bp_learner* l) { return tensors->get(l, &named); });
  return named;
}

void DrivenLearner::Load(const std::vector<std::byte>& saved, const DrivenLearner* of) {
  NowDoing("load");
  if (of != nullptr) learner_->files().CopyFrom(of->learner_->files());
  LoadLearner(*StateOf(*learner_), *learner_, saved);
}

void DrivenLearner::Interrupt() {
  if (collector_) collector_->ReleaseEnv();
}

void DrivenLearner::GoOnAs(DrivenLearner& other) {
  iterations_ = other.iterations_, env_steps_ = other.env_steps_;
  if (other.collector_) Collector().StartAfresh(other.collector_->rows().state, other.collector_->policy_steps());
  if (other.loader_) Loader().Load(other.loader_->Save());
}

std::vector<std::byte> DrivenLearner::record() {
  std::vector<std::byte> all = Saved().value_or(std::vector<std::byte>());
  Act({0, layout_.rows}, BP_ACT_GREEDY, 0);
  for (uint64_t r = 0; r < layout_.rows; ++r) {
    const std::vector<std::byte> row = ActedBytes(r);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

void DrivenLearner::Act(RowsRange range, uint32_t flags, uint64_t step) {
  const bp_act act{sizeof(bp_act), flags,           range.begin,      range.end, 0,      subject_.seed(),
                   step,           slot_->act_in(), slot_->act_out(), nullptr,   nullptr};
  NowDoing("act of " + RangeText(range));
  if (const bp_status status = learner_->Act(act); status != BP_OK) learner_->Fail(status, "act");
}

void DrivenLearner::FillMemory() {
  constexpr uint64_t kSteps = 3;
  for (uint64_t step = 0; step < kSteps && has_memory(); ++step) {
    Act({0, rows()}, BP_ACT_GREEDY, step);
    Remember();
  }
}

std::vector<std::byte> DrivenLearner::ActedBytes(uint64_t row) {
  std::vector<std::byte> all;
  for (const bp_channel* c : learner_->act_out()) {
    ChannelBuffer& buffer = Output(c->name);
    all.insert(all.end(), RowOf(buffer, row), RowOf(buffer, row) + RowBytesOf(buffer));
  }
  return all;
}

std::vector<std::byte> NeedSaved(DrivenLearner& learner) {
  std::optional<std::vector<std::byte>> saved = learner.Saved();
  if (!saved) SkipCase("has no state (it does not offer " BP_LEARNER_STATE_1 "), so its trials cannot be resumed");
  return *std::move(saved);
}

}  // namespace backplane
