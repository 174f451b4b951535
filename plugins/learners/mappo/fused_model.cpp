// Forward, loss and backward over blocks of samples whose activations stay in a core's second-level cache.
#include <numeric>

#include "block.hpp"
#include "model.hpp"
#include "observed.hpp"
#include "on_policy/action_loss.hpp"
#include "on_policy/shards.hpp"

namespace backplane::mappo {
namespace {

// Observations and states of some samples.
struct SeenRows {
  void Reset(const Net& net) { obs.Reset(net.obs), state.Reset(net.state), step_of.clear(); }
  Inputs inputs() const { return {&obs, state.columns() > 0 ? &state : nullptr, step_of}; }
  nn::SparseRows obs, state;
  std::vector<int32_t> step_of;
};

class Fused final : public Model {
 public:
  Fused(const Net& net, const EnvShape& shape, int64_t shards, Parallel parallel, const bp_host* host, nn::Precision precision)
      : net_(net),
        obs_(shape.obs),
        state_(shape.state),
        parallel_(std::move(parallel)),
        host_(host),
        precision_(precision),
        shards_(shards) {}

  void Take(const bp::Delivery& delivery, const Streams& streams, const Samples& samples) override {
    const auto of = [&](const std::vector<Seen>& parts, std::string Seen::*name) {
      Observed out;
      out.Bind(parts, [&](size_t i) { return Wanted(delivery, parts[i].*name); });
      return out;
    };
    const bool state = net_.state > 0;
    const Observed obs = of(obs_, &Seen::name);
    Observed states, final_obs, final_states;
    if (state) states = of(state_, &Seen::name);
    samples_.Reset(net_), bootstraps_.Reset(net_);
    const int64_t agents = streams.agents(), rows = streams.rows();
    for (int64_t place : samples.place) obs.Append(&samples_.obs, place / agents, place % agents);
    for (int64_t step : samples.env_step) {
      if (state) states.Append(&samples_.state, step / rows, step % rows);
    }
    samples_.step_of = samples.step_of;

    if (delivery.Find(obs_.front().final_name.c_str())) final_obs = of(obs_, &Seen::final_name);
    if (state && delivery.Find(state_.front().final_name.c_str())) final_states = of(state_, &Seen::final_name);
    int64_t last = -1;
    for (const Streams::Bootstrap& b : streams.bootstraps()) {
      const bool final = b.final >= 0;
      if (final)
        final_obs.Append(&bootstraps_.obs, b.final_agent);
      else
        obs.Append(&bootstraps_.obs, b.entry, b.place % agents);
      if (b.env_step != last && state && final)
        final_states.Append(&bootstraps_.state, b.final);
      else if (b.env_step != last && state)
        states.Append(&bootstraps_.state, b.entry, b.env_step % rows);
      last = b.env_step;
      bootstraps_.step_of.push_back(static_cast<int32_t>(bootstraps_.state.rows()) - 1);
    }
  }

  void Values(const float* params, float* out_samples, float* out_bootstraps) override {
    weights_.Pack(net_, params, false, nn::Precision::kFull, parallel_);
    CriticOf(samples_, params, out_samples);
    CriticOf(bootstraps_, params, out_bootstraps);
  }

  StepStats Gradient(const Minibatch& batch, const LossOptions& options, const float* params, float* out) override {
    {
      const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
      weights_.Pack(net_, params, true, precision_, parallel_);
    }
    // Both networks in one piece: they read the same sparse rows, and there are as many runs as threads if there are enough
    // samples.
    deviations_ = Deviations<float>(params + net_.log_std, net_.log_stds());
    LossSums sums =
        AddUp(parallel_, batch.n(), net_.size, 1, &shards_, out, [&](Part part, int64_t, float* gradient, Work* work) {
          std::fill_n(gradient, net_.size, 0.0f);
          const int64_t most = batch.blocks ? batch.blocks->most_rows() : kBlock;
          work->d_log_std.assign(net_.log_stds(), 0);
          work->actor.Reserve(net_.actor, most, true), work->critic.Reserve(net_.critic, most, true);
          ForBlocksOf(batch, part, work, [&](int64_t begin, int64_t rows) {
            RunBlock(batch, options, params, batch.index.subspan(begin, rows), gradient, work);
          });
          for (int64_t k = 0; k < net_.log_stds(); ++k) gradient[net_.log_std + k] = static_cast<float>(work->d_log_std[k]);
        });
    deviations_.AddEntropy(batch.n(), &sums);
    for (int64_t k = 0; k < net_.log_stds(); ++k) out[net_.log_std + k] -= static_cast<float>(options.entropy_coeff);
    return MeansOf(sums, batch.n(), options);
  }

 private:
  struct Work : Shard<float> {
    Block block;
    TowerWork<float> actor, critic;
    std::vector<double> d_log_std;
    std::vector<int32_t> index;
  };

  void CriticOf(const SeenRows& seen, const float* params, float* out) {
    const int64_t n = seen.obs.rows(), used = RunsFor(n, net_.size, shards_.size());
    parallel_(static_cast<uint64_t>(used), [&](uint64_t i) {
      Work* w = &shards_[i];
      w->critic.Reserve(net_.critic, kBlock, false);
      ForBlocks(PartOf(n, used, static_cast<int64_t>(i)), [&](int64_t begin, int64_t rows) {
        w->index.resize(rows);
        std::iota(w->index.begin(), w->index.end(), static_cast<int32_t>(begin));
        w->block.Take(seen.inputs(), w->index);
        w->block.RunCritic(net_, weights_, params, &w->critic);
        std::copy_n(w->critic.head.data(), rows, out + begin);
      });
    });
  }

  // The actor's memory starts with the state before each of the block's sequences.
  template <class Body>
  void ForBlocksOf(const Minibatch& batch, Part part, Work* w, Body&& body) const {
    if (!batch.blocks) return ForBlocks(part, body);
    const int64_t size = net_.actor.memory.size;
    batch.blocks->ForEach(part.begin, part.end, [&](const SequenceBlocks::Block& block) {
      w->actor.sequences = block.sequences;
      for (int64_t i = 0; i < block.sequences.entries[0]; ++i)
        std::copy_n(batch.carry + block.first_rows[i] * size, size, &w->actor.memory.before[i * size]);
      body(block.begin, block.rows);
    });
  }

  void RunBlock(const Minibatch& batch, const LossOptions& options, const float* params, std::span<const int32_t> index,
                float* gradient, Work* w) const {
    {
      const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
      w->block.Take(samples_.inputs(), index);
      w->block.RunActor(net_, weights_, params, &w->actor);
      w->block.RunCritic(net_, weights_, params, &w->critic);
      for (size_t i = 0; i < index.size(); ++i) Loss(batch, options, index[i], static_cast<int64_t>(i), w);
    }
    w->block.AddActorGradient(net_, weights_, &w->actor, gradient);
    w->block.AddCriticGradient(net_, weights_, &w->critic, gradient);
  }

  // Sample i of the batch, which is `row` of the block.
  void Loss(const Minibatch& batch, const LossOptions& options, int32_t i, int64_t row, Work* s) const {
    const Samples& all = batch.samples;
    const Distributions& action = net_.action;
    const auto at = [i](const auto& values, int64_t width) { return values.empty() ? nullptr : values.data() + i * width; };
    const auto advantage = static_cast<float>((all.advantage[i] - batch.advantage.mean) * batch.advantage.scale);
    const auto target = static_cast<float>((all.ret[i] - batch.target.mean) * batch.target.scale);
    const ActionSample<float> sample{&s->actor.head[row * net_.actions],
                                     at(all.numbers, action.numbers),
                                     at(all.choice, action.choices),
                                     at(all.mask, action.flags),
                                     all.logp[i],
                                     advantage};
    ActionLoss(action, deviations_, sample, options, batch.n(), &s->actor.d_head[row * net_.actions], s->d_log_std.data(),
               &s->sums);
    s->critic.d_head[row] = static_cast<float>(options.vf_coeff / static_cast<double>(batch.n())) *
                            ValueLoss(s->critic.head[row], all.value[i], target, static_cast<float>(options.vf_clip),
                                      static_cast<float>(options.huber_delta), &s->sums);
  }

  Net net_;
  std::vector<Seen> obs_, state_;
  Parallel parallel_;
  const bp_host* host_;
  nn::Precision precision_;
  SeenRows samples_, bootstraps_;
  PackedNet weights_;
  Deviations<float> deviations_;  // of the actor's numbers, in a gradient
  std::vector<Work> shards_;
};

}  // namespace

std::unique_ptr<Model> FusedModel(const Net& net, const EnvShape& shape, int64_t shards, Parallel parallel, const bp_host* host,
                                  nn::Precision precision) {
  return std::make_unique<Fused>(net, shape, shards, std::move(parallel), host, precision);
}

}  // namespace backplane::mappo
