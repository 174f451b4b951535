// Forward, loss and backward over blocks of rows whose activations stay in a core's second-level cache.
#include <cmath>

#include "gradient.hpp"
#include "head_loss.hpp"
#include "nn/vectors.hpp"
#include "on_policy/shards.hpp"

namespace backplane::ppo {
namespace {

template <class T>
class Fused final : public Gradient<T> {
 public:
  Fused(const Net& net, int64_t shards, Parallel parallel) : net_(net), parallel_(std::move(parallel)), shards_(shards) {}

  StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) override {
    weights_.Pack(net_, params, true);
    PackDeviations(params);
    const LossContext<T> context(net_, batch, options, params);
    const LossSums sums = AddUp(parallel_, batch.n, net_.size, &shards_, out,
                                [&](Part part, T* gradient, Work* work) { RunShard(context, params, part, gradient, work); });
    if (net_.log_stds() > 0 && !net_.sde) {
      for (int64_t k = 0; k < net_.actions; ++k) out[net_.log_std + k] -= static_cast<T>(options.entropy_coeff);
    }
    return context.Stats(sums);
  }

 private:
  struct Work : Shard<T> {
    Workspace<T> net;
    std::vector<T> squares, variance, d_variance;
    std::vector<double> d_log_std;
    nn::Packed<T> packed;
  };

  // exp(2 log_std), of which the squared latents make the variances.
  void PackDeviations(const T* params) {
    if (!net_.sde) return;
    square_std_.resize(net_.log_stds());
    for (int64_t i = 0; i < net_.log_stds(); ++i) square_std_[i] = std::exp(2 * params[net_.log_std + i]);
    packed_square_std_.Set(square_std_.data(), net_.latent(), net_.actions);
  }

  void Reserve(Work* w) const {
    w->net.Reserve(net_, kBlock, true);
    w->d_log_std.assign(net_.actions, 0);
    if (!net_.sde) return;
    w->squares.resize(kBlock * net_.latent());
    w->variance.resize(kBlock * net_.actions), w->d_variance.resize(kBlock * net_.actions);
  }

  void RunShard(const LossContext<T>& context, const T* params, Part part, T* gradient, Work* work) const {
    Reserve(work);
    ForBlocks(part, [&](int64_t begin, int64_t rows) { RunBlock(context, params, begin, rows, gradient, work); });
    T* log_std = gradient + net_.log_std;
    if (net_.sde) {
      for (int64_t i = 0; i < net_.log_stds(); ++i) log_std[i] *= 2 * square_std_[i];
    } else {
      for (int64_t i = 0; i < net_.log_stds(); ++i) log_std[i] = static_cast<T>(work->d_log_std[i]);
    }
  }

  void RunBlock(const LossContext<T>& context, const T* params, int64_t begin, int64_t rows, T* gradient, Work* w) const {
    const T* obs = context.batch.obs + begin * net_.obs;
    TowerWork<T>&actor = w->net.actor, &critic = w->net.critic;
    Forward(net_, weights_, params, obs, rows, &w->net);
    if (net_.sde) Variances(rows, w);
    HeadLoss<T>(context,
                {begin, rows, actor.head.data(), critic.head.data(), w->variance.data(), actor.d_head.data(),
                 critic.d_head.data(), w->d_variance.data(), w->d_log_std.data()},
                &w->sums);
    if (net_.sde) {
      w->packed.Set(w->d_variance.data(), rows, net_.actions);
      nn::MultiplyTransposedAdd(w->squares.data(), net_.latent(), w->packed, gradient + net_.log_std);
    }
    const T* d = Backward<T>(net_.critic, weights_.critic, net_.shared ? actor.latent : obs, nullptr, rows, &critic, gradient);
    Backward<T>(net_.actor, weights_.actor, obs, net_.shared ? d : nullptr, rows, &actor, gradient);
  }

  void Variances(int64_t rows, Work* w) const {
    nn::Square(w->net.actor.latent, rows * net_.latent(), w->squares.data());
    nn::Multiply<T>(w->squares.data(), packed_square_std_, nullptr, rows, w->variance.data());
    for (int64_t i = 0; i < rows * net_.actions; ++i) w->variance[i] += static_cast<T>(kSdeVariance);
  }

  Net net_;
  Parallel parallel_;
  PackedNet<T> weights_;
  std::vector<T> square_std_;
  nn::Packed<T> packed_square_std_;
  std::vector<Work> shards_;
};

}  // namespace

template <class T>
std::unique_ptr<Gradient<T>> FusedGradient(const Net& net, int64_t shards, Parallel parallel) {
  return std::make_unique<Fused<T>>(net, shards, std::move(parallel));
}

template std::unique_ptr<Gradient<float>> FusedGradient(const Net&, int64_t, Parallel);
template std::unique_ptr<Gradient<double>> FusedGradient(const Net&, int64_t, Parallel);

}  // namespace backplane::ppo
