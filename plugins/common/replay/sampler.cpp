#include "replay/sampler.hpp"

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"
#include "rl/saved_numbers.hpp"

namespace backplane::replay {

Sampler::Sampler(const bp::Replay* ring, const SamplerOptions& options, uint64_t seed)
    : ring_(ring), options_(options), seed_(seed) {
  if (options_.prioritized) tree_.emplace(ring->places());
}

uint64_t Sampler::AdmissibleEnd() const {
  const uint64_t first = ring_->first();
  return ring_->count() >= first + span() ? ring_->count() - span() + 1 : first;
}

void Sampler::OnStored(uint64_t frames) {
  if (!tree_) return;
  // Frames that left the ring, then those whose window has become complete.
  const uint64_t count = ring_->count(), before = count - frames, first = ring_->first();
  const uint64_t first_before = before > ring_->capacity() ? before - ring_->capacity() : 0;
  const auto set = [&](uint64_t begin, uint64_t end, float value) {
    for (uint64_t frame = begin; frame < end; ++frame)
      for (uint64_t row = 0; row < ring_->rows(); ++row) tree_->Set(ring_->Place(frame, row), value);
  };
  set(first_before, first, 0);
  const uint64_t complete_before = before >= span() ? before - span() + 1 : 0;
  set(std::max(first, complete_before), AdmissibleEnd(), most_);
}

Start Sampler::ByPriority(double mass) const {
  const uint64_t leaf = tree_->Find(mass), frames = ring_->places() / ring_->rows(), last = ring_->count() - 1;
  // The newest frame at this place.
  const uint64_t back = (last % frames + frames - leaf / ring_->rows()) % frames;
  return {last - back, leaf % ring_->rows(), tree_->Get(leaf)};
}

bool Sampler::Draw(uint64_t number, int64_t n, std::vector<Start>* out) const {
  const uint64_t first = ring_->first(), entries = (AdmissibleEnd() - first) * ring_->rows();
  out->clear();
  if (entries == 0) return false;
  bp_rng rng{bp_seed(seed_, BP_PURPOSE_LEARNER, 0, number), 0};
  if (!tree_) {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t entry = bp_rng_below(&rng, entries);
      out->push_back({first + entry / ring_->rows(), entry % ring_->rows(), 1});
    }
    return true;
  }
  // One from each of n equal shares of the total.
  const double total = tree_->Total(), share = total / static_cast<double>(n);
  double most = 0;
  for (int64_t i = 0; i < n; ++i) {
    Start start = ByPriority((static_cast<double>(i) + bp_rng_uniform(&rng)) * share);
    const double probability = static_cast<double>(start.weight) / total;
    start.weight = static_cast<float>(std::pow(static_cast<double>(entries) * probability, -options_.beta));
    most = std::max(most, static_cast<double>(start.weight));
    out->push_back(start);
  }
  for (Start& start : *out) start.weight = static_cast<float>(static_cast<double>(start.weight) / most);
  return true;
}

Window Sampler::At(const Start& start) const {
  double reward = 0, discount = 1;
  for (uint64_t i = 0;; ++i) {
    const bp::Transition step = ring_->At(start.frame + i, start.row);
    reward += discount * static_cast<double>(step.reward);
    discount *= options_.gamma;
    if (!step.ended() && i + 1 < options_.n_step) continue;
    const bp::Transition first = i > 0 ? ring_->At(start.frame, start.row) : step;
    const bool follows = options_.follow && !step.ended();
    const void* next_action = follows ? ring_->At(start.frame + i + 1, start.row).action : nullptr;
    return {first.obs, first.action, step.next_obs, next_action, reward, step.terminated ? 0 : discount};
  }
}

void Sampler::SetPriorities(const std::vector<Start>& starts, const float* errors) {
  if (!tree_) return;
  for (size_t i = 0; i < starts.size(); ++i) {
    const double size = std::abs(static_cast<double>(errors[i])) + options_.epsilon;
    const auto priority = static_cast<float>(std::pow(size, options_.alpha));
    tree_->Set(ring_->Place(starts[i].frame, starts[i].row), priority);
    most_ = std::max(most_, priority);
  }
}

void Sampler::Clear() {
  if (tree_) tree_->Clear();
  most_ = 1;
}

void Sampler::Save(const bp::Writer& writer) const {
  std::vector<float> priorities;
  if (tree_) priorities.reserve((AdmissibleEnd() - ring_->first()) * ring_->rows());
  for (uint64_t frame = ring_->first(); tree_ && frame < AdmissibleEnd(); ++frame)
    for (uint64_t row = 0; row < ring_->rows(); ++row) priorities.push_back(tree_->Get(ring_->Place(frame, row)));
  writer.Put(most_);
  writer.PutAll(priorities.data(), priorities.size());
}

void Sampler::Load(const bp::Reader& reader) {
  Clear();
  most_ = reader.Get<float>();
  rl::NeedSavedFromZero(&most_, 1, "the largest priority");
  const auto n = reader.Get<uint64_t>();
  const uint64_t first = ring_->first(), entries = (AdmissibleEnd() - first) * ring_->rows();
  const bool used = tree_ && entries > 0 && n > 0;
  if (used && n != entries) rl::RefuseSaved("priorities", "one per transition", n);
  for (uint64_t i = 0; i < n; ++i) {  // throws at the end of the data
    const auto priority = reader.Get<float>();
    rl::NeedSavedFromZero(&priority, 1, "priorities");
    if (used) tree_->Set(ring_->Place(first + i / ring_->rows(), i % ring_->rows()), priority);
  }
}

}  // namespace backplane::replay
