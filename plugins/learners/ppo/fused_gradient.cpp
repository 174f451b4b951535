// Forward, loss and backward over blocks of rows whose activations stay in a core's second-level cache.
#include <algorithm>
#include <cmath>

#include "backplane/plugin.hpp"
#include "gradient.hpp"
#include "head_loss.hpp"
#include "nn/vectors.hpp"
#include "on_policy/shards.hpp"

namespace backplane::ppo {
namespace {

template <class T>
class Fused final : public Gradient<T> {
 public:
  Fused(const Net& net, int64_t shards, Parallel parallel, const bp_host* host, nn::Precision precision)
      : net_(net), parallel_(std::move(parallel)), host_(host), shards_(shards) {
    weights_.actor.precision = weights_.critic.precision = precision;
  }

  StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) override {
    most_rows_ = batch.blocks ? batch.blocks->most_rows() : kBlock;
    const bool together = net_.shared || net_.sees();
    pack_first_ = RunsFor(batch.n, net_.size, shards_.size()) > 1 || together;
    if (pack_first_) Pack(params);
    PackDeviations(params);
    const LossContext<T> context(net_, batch, options, params);
    const LossSums sums = AddUp(parallel_, batch.n, net_.size, together ? 1 : 2, &shards_, out,
                                [&](Part part, int64_t which, T* gradient, Work* work) {
                                  together     ? RunTogether(context, params, part, gradient, work)
                                  : which == 0 ? RunActor(context, params, part, gradient, work)
                                               : RunCritic(context, params, part, gradient, work);
                                });
    if (net_.log_stds() > 0 && !net_.sde) {
      for (int64_t k = 0; k < net_.log_stds(); ++k) out[net_.log_std + k] -= static_cast<T>(options.entropy_coeff);
    }
    return context.Stats(sums);
  }

 private:
  struct Work : Shard<T> {
    Workspace<T> net;
    std::vector<T> actor_obs, critic_obs;  // of a block, [rows, obs]
    std::vector<T> squares, variance, d_variance;
    std::vector<double> d_log_std;
    nn::Packed<T> packed;
  };

  void Pack(const T* params) {
    const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
    weights_.Pack(net_, params, parallel_);
  }
  void PackTower(const Tower& tower, const T* params, PackedTower<T>* out) const {
    const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
    out->Pack(tower, params, true);
  }

  // Observations of a block of samples, contiguous.
  const T* Observations(const Minibatch<T>& batch, int64_t begin, int64_t rows, std::vector<T>* buffer) const {
    if (!batch.index) return batch.obs + begin * net_.obs;
    buffer->resize(most_rows_ * net_.obs);
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(batch.obs + batch.index[begin + r] * net_.obs, net_.obs, buffer->data() + r * net_.obs);
    return buffer->data();
  }

  // Calls body(begin, rows) for each block of the samples. A memory starts with the state before each of its sequences.
  template <class Body>
  void ForBlocksOf(const Minibatch<T>& batch, Part part, const Tower& tower, TowerWork<T>* work, Body&& body) const {
    if (!batch.blocks) return ForBlocks(part, body);
    const int64_t size = tower.memory.size, first = &tower == &net_.actor ? 0 : net_.carry() - size;
    batch.blocks->ForEach(part.begin, part.end, [&](const SequenceBlocks::Block& block) {
      work->sequences = block.sequences;
      for (int64_t i = 0; i < block.sequences.entries[0]; ++i)
        std::copy_n(batch.carry + block.first_rows[i] * net_.carry() + first, size, &work->memory.before[i * size]);
      body(block.begin, block.rows);
    });
  }

  // exp(2 log_std), of which the squared latents make the variances.
  void PackDeviations(const T* params) {
    if (!net_.sde) return;
    square_std_.resize(net_.log_stds());
    for (int64_t i = 0; i < net_.log_stds(); ++i) square_std_[i] = std::exp(2 * params[net_.log_std + i]);
    packed_square_std_.Set(square_std_.data(), net_.latent(), net_.actions);
  }

  // The networks are independent: each clears its gradient and packs its weights if it is the only run.
  void RunActor(const LossContext<T>& context, const T* params, Part part, T* gradient, Work* w) {
    ClearActor(gradient, w);
    if (!pack_first_) PackTower(net_.actor, params, &weights_.actor);
    LossSums sums;
    ForBlocksOf(context.batch, part, net_.actor, &w->net.actor, [&](int64_t begin, int64_t rows) {
      const T* obs;
      {
        const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
        obs = Observations(context.batch, begin, rows, &w->actor_obs);
        Forward(net_.actor, weights_.actor, params, obs, rows, &w->net.actor);
        ActorLoss(context, begin, rows, w, &sums);
      }
      ActorGradient(obs, nullptr, rows, gradient, w);
    });
    EndActor(gradient, w);
    w->sums.policy = sums.policy, w->sums.entropy = sums.entropy, w->sums.kl = sums.kl, w->sums.clipped = sums.clipped;
  }

  void RunCritic(const LossContext<T>& context, const T* params, Part part, T* gradient, Work* w) {
    ClearCritic(gradient, w);
    if (!pack_first_) PackTower(net_.critic, params, &weights_.critic);
    LossSums sums;
    ForBlocksOf(context.batch, part, net_.critic, &w->net.critic, [&](int64_t begin, int64_t rows) {
      const T* obs;
      {
        const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
        obs = Observations(context.batch, begin, rows, &w->critic_obs);
        Forward(net_.critic, weights_.critic, params, obs, rows, &w->net.critic);
        ValueHeadLoss<T>(context, ValueBlock(begin, rows, w), &sums);
      }
      Backward<T>(net_.critic, weights_.critic, obs, nullptr, rows, &w->net.critic, gradient);
    });
    w->sums.value = sums.value;
  }

  // For both networks, which share hidden layers (the critic is a head on the actor's latent) or the images' nets.
  void RunTogether(const LossContext<T>& context, const T* params, Part part, T* gradient, Work* w) const {
    w->net.Reserve(net_, most_rows_, true);
    ClearActor(gradient, w), ClearCritic(gradient, w);
    for (const Vision& vision : net_.visions) std::fill(gradient + vision.begin, gradient + vision.end, T{0});
    ForBlocksOf(context.batch, part, net_.actor, &w->net.actor, [&](int64_t begin, int64_t rows) {
      const T* obs;
      {
        const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
        obs = Observations(context.batch, begin, rows, &w->actor_obs);
        FindPixels(context.batch, begin, rows, &w->net);
        obs = Inputs(net_, weights_, params, obs, rows, &w->net);
        Forward(net_, weights_, params, obs, rows, &w->net);
        ActorLoss(context, begin, rows, w, &w->sums);
        ValueHeadLoss<T>(context, ValueBlock(begin, rows, w), &w->sums);
      }
      const T* seen = net_.shared ? w->net.actor.latent : obs;
      const T* d = Backward<T>(net_.critic, weights_.critic, seen, nullptr, rows, &w->net.critic, gradient);
      T* d_obs = ActorGradient(obs, net_.shared ? d : nullptr, rows, gradient, w);
      if (!net_.sees()) return;
      if (!net_.shared) nn::Add(d, rows * net_.inputs(), d_obs);
      InputsBackward(net_, weights_, d_obs, rows, &w->net, gradient);
    });
    EndActor(gradient, w);
  }
  static void FindPixels(const Minibatch<T>& batch, int64_t begin, int64_t rows, Workspace<T>* work) {
    for (size_t i = 0; i < work->pixels.size(); ++i)
      for (int64_t r = 0; r < rows; ++r) work->pixels[i][r] = batch.pixels[i].At(batch.Place(begin + r));
  }

  void ClearActor(T* gradient, Work* w) const {
    w->net.actor.Reserve(net_.actor, most_rows_, true);
    w->d_log_std.assign(net_.action.numbers, 0);
    std::fill(gradient + net_.actor.begin, gradient + net_.actor.end, T{0});
    std::fill_n(gradient + net_.log_std, net_.log_stds(), T{0});
    if (!net_.sde) return;
    w->squares.resize(most_rows_ * net_.latent());
    w->variance.resize(most_rows_ * net_.actions), w->d_variance.resize(most_rows_ * net_.actions);
  }

  void ClearCritic(T* gradient, Work* w) const {
    w->net.critic.Reserve(net_.critic, most_rows_, true);
    std::fill(gradient + net_.critic.begin, gradient + net_.critic.end, T{0});
  }

  // Each of the two looks at no buffer of the other: that may just be growing.
  static HeadBlock<T> PolicyBlock(int64_t begin, int64_t rows, Work* w) {
    TowerWork<T>& actor = w->net.actor;
    return {begin,
            rows,
            actor.head.data(),
            nullptr,
            w->variance.data(),
            actor.d_head.data(),
            nullptr,
            w->d_variance.data(),
            w->d_log_std.data()};
  }
  static HeadBlock<T> ValueBlock(int64_t begin, int64_t rows, Work* w) {
    TowerWork<T>& critic = w->net.critic;
    return {begin, rows, nullptr, critic.head.data(), nullptr, nullptr, critic.d_head.data(), nullptr, nullptr};
  }

  void ActorLoss(const LossContext<T>& context, int64_t begin, int64_t rows, Work* w, LossSums* sums) const {
    if (net_.sde) Variances(rows, w);
    PolicyHeadLoss<T>(context, PolicyBlock(begin, rows, w), sums);
  }

  // Returns the derivative at obs if the network derives it.
  T* ActorGradient(const T* obs, const T* d_latent, int64_t rows, T* gradient, Work* w) const {
    if (net_.sde) {
      w->packed.Set(w->d_variance.data(), rows, net_.actions);
      nn::MultiplyTransposedAdd(w->squares.data(), net_.latent(), w->packed, gradient + net_.log_std);
    }
    return const_cast<T*>(Backward<T>(net_.actor, weights_.actor, obs, d_latent, rows, &w->net.actor, gradient));
  }

  void EndActor(T* gradient, const Work* w) const {
    T* log_std = gradient + net_.log_std;
    for (int64_t i = 0; i < net_.log_stds(); ++i)
      log_std[i] = net_.sde ? log_std[i] * (2 * square_std_[i]) : static_cast<T>(w->d_log_std[i]);
  }

  void Variances(int64_t rows, Work* w) const {
    nn::Square(w->net.actor.latent, rows * net_.latent(), w->squares.data());
    nn::Multiply<T>(w->squares.data(), packed_square_std_, nullptr, rows, w->variance.data());
    for (int64_t i = 0; i < rows * net_.actions; ++i) w->variance[i] += static_cast<T>(kSdeVariance);
  }

  Net net_;
  Parallel parallel_;
  const bp_host* host_;
  int64_t most_rows_ = kBlock;  // of a block
  bool pack_first_ = true;      // before the runs, of which several read them
  PackedNet<T> weights_;
  std::vector<T> square_std_;
  nn::Packed<T> packed_square_std_;
  std::vector<Work> shards_;
};

}  // namespace

template <class T>
std::unique_ptr<Gradient<T>> FusedGradient(const Net& net, int64_t shards, Parallel parallel, const bp_host* host,
                                           nn::Precision precision) {
  return std::make_unique<Fused<T>>(net, shards, std::move(parallel), host, precision);
}

template std::unique_ptr<Gradient<float>> FusedGradient(const Net&, int64_t, Parallel, const bp_host*, nn::Precision);
template std::unique_ptr<Gradient<double>> FusedGradient(const Net&, int64_t, Parallel, const bp_host*, nn::Precision);

}  // namespace backplane::ppo
