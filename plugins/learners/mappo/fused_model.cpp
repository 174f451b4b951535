// Forward, loss and backward over blocks of samples whose activations stay in a core's second-level cache.
#include <algorithm>
#include <numeric>

#include "block.hpp"
#include "model.hpp"
#include "nn/vectors.hpp"
#include "rl/parts.hpp"

namespace backplane::mappo {
namespace {

constexpr int64_t kLeastWork = 3'000'000;  // rows x parameters that are worth a hand-over to another thread: about 0.2 ms

// Observations and states of some samples.
struct Seen {
  void Reset(const Net& net) { obs.Reset(net.obs), state.Reset(net.state), step_of.clear(); }
  Inputs inputs() const { return {&obs, state.columns() > 0 ? &state : nullptr, step_of}; }
  nn::SparseRows obs, state;
  std::vector<int32_t> step_of;
};

class Fused final : public Model {
 public:
  Fused(const Net& net, const EnvShape& shape, int64_t shards, rl::Parallel parallel, const bp_host* host)
      : net_(net),
        obs_name_(shape.obs),
        state_name_(shape.state),
        parallel_(std::move(parallel)),
        host_(host),
        shards_(shards) {}

  void Take(const bp::Delivery& delivery, const Streams& streams, const Samples& samples) override {
    const auto obs = delivery.Get<float>(obs_name_.c_str());
    bp::View<const float> state, final_obs, final_state;
    if (net_.state > 0) state = delivery.Get<float>(state_name_.c_str());
    samples_.Reset(net_), bootstraps_.Reset(net_);
    const int64_t agents = streams.agents(), rows = streams.rows();
    for (int64_t place : samples.place) samples_.obs.Append(obs.At(place / agents, place % agents));
    for (int64_t step : samples.env_step) {
      if (state) samples_.state.Append(state.At(step / rows, step % rows));
    }
    samples_.step_of = samples.step_of;

    if (delivery.Find("final_obs")) final_obs = delivery.Get<float>("final_obs");
    if (state && delivery.Find("final_state")) final_state = delivery.Get<float>("final_state");
    int64_t last = -1;
    for (const Streams::Bootstrap& b : streams.bootstraps()) {
      const bool final = b.final >= 0;
      bootstraps_.obs.Append(final ? final_obs.At(b.final_agent) : obs.At(streams.steps(), b.place % agents));
      if (b.env_step != last && state)
        bootstraps_.state.Append(final ? final_state.At(b.final) : state.At(streams.steps(), b.env_step % rows));
      last = b.env_step;
      bootstraps_.step_of.push_back(static_cast<int32_t>(bootstraps_.state.rows()) - 1);
    }
  }

  void Values(const float* params, float* out_samples, float* out_bootstraps) override {
    weights_.Pack(net_, params, false);
    CriticOf(samples_, params, out_samples);
    CriticOf(bootstraps_, params, out_bootstraps);
  }

  rl::StepStats Gradient(const Minibatch& batch, const LossOptions& options, const float* params, float* out) override {
    weights_.Pack(net_, params, true);
    const int64_t n = batch.n(), used = Pieces(n);
    parallel_(static_cast<uint64_t>(used), [&](uint64_t i) {
      const rl::Part part = rl::PartOf(n, used, static_cast<int64_t>(i));
      Shard& shard = shards_[i];
      shard.gradient.resize(net_.size);
      RunShard(batch, options, params, part.begin, part.end, i == 0 ? out : shard.gradient.data(), &shard);
    });
    for (int64_t i = 1; i < used; ++i) {
      nn::Add(shards_[i].gradient.data(), net_.size, out);
      shards_[0].sums.Add(shards_[i].sums);
    }
    return rl::MeansOf(shards_[0].sums, n, options.entropy_coeff, options.vf_coeff);
  }

 private:
  // What one shard works with, kept from one minibatch to the next.
  struct Shard {
    Block block;
    TowerWork actor, critic;
    std::vector<float> gradient;
    std::vector<int32_t> index;
    rl::LossSums sums;
  };

  int64_t Pieces(int64_t n) const {
    return std::clamp<int64_t>(n * net_.size / kLeastWork, 1, static_cast<int64_t>(shards_.size()));
  }

  void CriticOf(const Seen& seen, const float* params, float* out) {
    const int64_t n = seen.obs.rows(), used = Pieces(n);
    parallel_(static_cast<uint64_t>(used), [&](uint64_t i) {
      const rl::Part part = rl::PartOf(n, used, static_cast<int64_t>(i));
      CriticOf(seen, params, part.begin, part.end, out, &shards_[i]);
    });
  }

  void CriticOf(const Seen& seen, const float* params, int64_t begin, int64_t end, float* out, Shard* s) const {
    s->critic.Reserve(net_.critic, kBlock);
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t rows = std::min(kBlock, end - at);
      s->index.resize(rows);
      std::iota(s->index.begin(), s->index.end(), static_cast<int32_t>(at));
      s->block.Take(seen.inputs(), s->index);
      s->block.CriticSums(net_, weights_, params, s->critic.first.data());
      Forward(net_.critic, weights_.critic, params, rows, &s->critic);
      std::copy_n(s->critic.head.data(), rows, out + at);
    }
  }

  void RunShard(const Minibatch& batch, const LossOptions& options, const float* params, int64_t begin, int64_t end,
                float* gradient, Shard* s) const {
    s->actor.Reserve(net_.actor, kBlock), s->critic.Reserve(net_.critic, kBlock);
    s->sums = {};
    std::fill_n(gradient, net_.size, 0.0f);
    for (int64_t at = begin; at < end; at += kBlock)
      RunBlock(batch, options, params, batch.index.subspan(at, std::min(kBlock, end - at)), gradient, s);
  }

  void RunBlock(const Minibatch& batch, const LossOptions& options, const float* params, std::span<const int32_t> index,
                float* gradient, Shard* s) const {
    const auto rows = static_cast<int64_t>(index.size());
    {
      const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
      s->block.Take(samples_.inputs(), index);
      s->block.ActorSums(net_, weights_, params, s->actor.first.data());
      Forward(net_.actor, weights_.actor, params, rows, &s->actor);
      s->block.CriticSums(net_, weights_, params, s->critic.first.data());
      Forward(net_.critic, weights_.critic, params, rows, &s->critic);
      for (int64_t i = 0; i < rows; ++i) Loss(batch, options, index[i], i, s);
    }
    s->block.AddActorGradient(net_, Backward(net_.actor, weights_.actor, rows, &s->actor, gradient), gradient);
    s->block.AddCriticGradient(net_, Backward(net_.critic, weights_.critic, rows, &s->critic, gradient), gradient);
  }

  // Sample i of the batch, which is `row` of the block.
  void Loss(const Minibatch& batch, const LossOptions& options, int32_t i, int64_t row, Shard* s) const {
    const Samples& all = batch.samples;
    const int64_t n = net_.actions;
    const auto advantage = static_cast<float>((all.advantage[i] - batch.advantage.mean) * batch.advantage.scale);
    const auto target = static_cast<float>((all.ret[i] - batch.target.mean) * batch.target.scale);
    const rl::Choice<float> choice{
        &s->actor.head[row * n], all.mask.empty() ? nullptr : &all.mask[i * n], n, all.choice[i], all.logp[i], advantage};
    rl::CategoricalLoss(choice, static_cast<float>(options.clip), options.entropy_coeff, batch.n(), &s->actor.d_head[row * n],
                        &s->sums);
    s->critic.d_head[row] = static_cast<float>(options.vf_coeff / static_cast<double>(batch.n())) *
                            rl::ValueLoss(s->critic.head[row], all.value[i], target, static_cast<float>(options.vf_clip),
                                          static_cast<float>(options.huber_delta), &s->sums);
  }

  Net net_;
  std::string obs_name_, state_name_;
  rl::Parallel parallel_;
  const bp_host* host_;
  Seen samples_, bootstraps_;
  PackedNet weights_;
  std::vector<Shard> shards_;
};

}  // namespace

std::unique_ptr<Model> FusedModel(const Net& net, const EnvShape& shape, int64_t shards, rl::Parallel parallel,
                                  const bp_host* host) {
  return std::make_unique<Fused>(net, shape, shards, std::move(parallel), host);
}

}  // namespace backplane::mappo
