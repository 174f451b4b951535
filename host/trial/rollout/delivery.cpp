#include "rollout/delivery.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace backplane {

void DeliveryTensors::Clear() {
  names_.clear();
  tensors_.clear();
}

void DeliveryTensors::Give(const char* name, bp_tensor* tensor) {
  names_.push_back(name);
  tensors_.push_back(tensor);
}

void DeliveryTensors::GiveMoments(Moments& moments) {
  const bp_dtype f64{BP_DTYPE_FLOAT, 64, 1};
  const auto n = static_cast<int64_t>(moments.mean.size());
  count_.Set(&moments.count, f64, {1}, 1);
  mean_.Set(moments.mean.data(), f64, {n}, 1);
  m2_.Set(moments.m2.data(), f64, {n}, 1);
  Give("obs_count", &count_.view);
  Give("obs_mean", &mean_.view);
  Give("obs_m2", &m2_.view);
}

bp_delivery DeliveryTensors::Make(uint32_t kind) const {
  bp_delivery delivery{};
  delivery.struct_size = sizeof delivery;
  delivery.kind = kind;
  delivery.count = 1;
  delivery.n_tensors = names_.size();
  delivery.names = names_.data();
  delivery.tensors = tensors_.data();
  return delivery;
}

// A counting sort: a chunk lists its episodes by (t, row), and chunks follow each other by row.
void RolloutDelivery::Merge(const std::vector<Chunk>& chunks, const RolloutBuffers& buffers, bool moments) {
  starts_.assign(buffers.horizon() + 1, 0);
  for (const Chunk& chunk : chunks)
    for (const Episode& episode : chunk.episodes) ++starts_[episode.t + 1];
  for (size_t t = 1; t < starts_.size(); ++t) starts_[t] += starts_[t - 1];
  // Reserves the maximum, because unwritten pages cost nothing and later rollouts then allocate nothing.
  const uint64_t most = (chunks.back().end - chunks.front().begin) * buffers.room();
  episodes_.reserve(most);
  places_.reserve(most);
  episodes_.resize(starts_.back());
  places_.resize(starts_.back());
  for (const Chunk& chunk : chunks)
    for (uint64_t i = 0; i < chunk.episodes.size(); ++i) {
      const uint64_t at = starts_[chunk.episodes[i].t]++;
      episodes_[at] = chunk.episodes[i];
      places_[at] = {&chunk, i};
    }
  has_moments_ = moments;
  if (!moments) return;
  moments_.Reset(buffers.obs->row_elements());
  for (const Chunk& chunk : chunks)
    for (const Moments& block : chunk.moments) moments_.Merge(block);
}

bp_delivery RolloutDelivery::Make(RolloutBuffers& buffers, const LearnerInstance& learner, uint64_t rows) {
  if (arranged_for_ != buffers.bindings()) Arrange(buffers, learner);
  for (size_t i = 0; i < finals_.size(); ++i) {
    const RolloutBuffers::Observed& seen = buffers.observed[i];
    MakeRoom(buffers.memory(), *seen.buffer, seen.lead, &finals_[i]);
    if (seen.finals)
      GatherDense(buffers.memory(), *seen.finals, seen.lead, &finals_[i]);
    else
      Gather(seen.lead * seen.buffer->row_bytes(), i, &finals_[i]);
  }
  final_index_.clear();
  for (const Episode& e : episodes_) final_index_.push_back(static_cast<int64_t>(e.t * rows + e.row));
  final_index_tensor_.Move(final_index_.data(), final_index_.size());
  return given_.Make(BP_REQ_ROLLOUT);
}

void RolloutDelivery::Arrange(RolloutBuffers& buffers, const LearnerInstance& learner) {
  arranged_for_ = buffers.bindings();
  given_.Clear();
  for (const std::string& name : learner.keep()) given_.Give(name.c_str(), buffers.Find(name)->whole());
  finals_.resize(buffers.observed.size());
  for (size_t i = 0; i < finals_.size(); ++i) {
    const RolloutBuffers::Observed& seen = buffers.observed[i];
    std::vector<int64_t> dims = seen.buffer->shape();
    dims.insert(dims.begin(), 0);
    finals_[i].tensor.Set(nullptr, seen.buffer->dtype(), std::move(dims), static_cast<int64_t>(seen.buffer->row_elements()),
                          buffers.memory().device());
    given_.Give(seen.final_name.c_str(), &finals_[i].tensor.view);
  }
  final_index_tensor_.Set(nullptr, {BP_DTYPE_INT, 64, 1}, {0}, 1);
  given_.Give("final_index", &final_index_tensor_.view);
  if (has_moments_) given_.GiveMoments(moments_);
}

void RolloutDelivery::MakeRoom(const EnvMemory& memory, const ChannelBuffer& like, uint64_t lead, Finals* out) {
  const uint64_t needed = std::max<uint64_t>(places_.size() * lead * like.row_bytes(), 1);
  if (out->capacity < needed) {
    out->data = memory.Allocate(needed, false);
    out->capacity = needed;
  }
  out->tensor.Move(out->data.get(), places_.size() * lead);
}

// Entries of different steps may have gaps between them, so each step is a separate call.
void RolloutDelivery::GatherDense(const EnvMemory& memory, const ChannelBuffer& dense, uint64_t lead, Finals* out) {
  const uint64_t bytes = lead * dense.row_bytes();
  for (size_t e = 0; e < episodes_.size(); e += ended_.size()) {
    const uint64_t t = episodes_[e].t;
    ended_.clear();
    for (size_t i = e; i < episodes_.size() && episodes_[i].t == t; ++i)
      ended_.push_back(static_cast<int64_t>(episodes_[i].row));
    memory.Gather(out->data.get() + e * bytes, dense.place(t, 0), bytes, ended_);
  }
}

void RolloutDelivery::Gather(uint64_t bytes, size_t i, Finals* out) {
  for (uint64_t e = 0; e < places_.size(); ++e)
    std::memcpy(out->data.get() + e * bytes, places_[e].chunk->finals[i].get() + places_[e].index * bytes, bytes);
}

}  // namespace backplane
