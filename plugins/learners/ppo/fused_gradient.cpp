// Forward, loss and backward over blocks of rows whose activations stay in a core's second-level cache.
#include <algorithm>
#include <cmath>

#include "gradient.hpp"
#include "head_loss.hpp"
#include "nn/vectors.hpp"
#include "rl/parts.hpp"

namespace backplane::ppo {
namespace {

constexpr int64_t kBlock = 128;            // rows; two layers of 256 then hold 256 KiB
constexpr int64_t kLeastWork = 3'000'000;  // rows x parameters that are worth a hand-over to another thread: about 0.2 ms

template <class T>
class Fused final : public Gradient<T> {
 public:
  Fused(const Net& net, int64_t shards, Parallel parallel) : net_(net), parallel_(std::move(parallel)), shards_(shards) {}

  StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) override {
    weights_.Pack(net_, params, true);
    PackDeviations(params);
    const LossContext<T> context(net_, batch, options, params);
    const int64_t used = std::clamp<int64_t>(batch.n * net_.size / kLeastWork, 1, static_cast<int64_t>(shards_.size()));
    parallel_(static_cast<uint64_t>(used), [&](uint64_t i) {
      const rl::Part part = rl::PartOf(batch.n, used, static_cast<int64_t>(i));
      RunShard(context, params, part.begin, part.end, i == 0 ? out : shards_[i].Gradient(net_), &shards_[i]);
    });
    for (int64_t i = 1; i < used; ++i) {
      nn::Add(shards_[i].gradient.data(), net_.size, out);
      shards_[0].sums.Add(shards_[i].sums);
    }
    if (net_.log_stds() > 0 && !net_.sde) {
      for (int64_t k = 0; k < net_.actions; ++k) out[net_.log_std + k] -= static_cast<T>(options.entropy_coeff);
    }
    return context.Stats(shards_[0].sums);
  }

 private:
  // What one shard works with, kept from one minibatch to the next.
  struct Shard {
    T* Gradient(const Net& net) {
      gradient.resize(net.size);
      return gradient.data();
    }
    Workspace<T> work;
    std::vector<T> d_head, d_value, d, other, squares, variance, d_variance, gradient;
    std::vector<double> d_log_std;
    nn::Packed<T> packed;
    LossSums sums;
  };

  // exp(2 log_std), of which the squared latents make the variances.
  void PackDeviations(const T* params) {
    if (!net_.sde) return;
    square_std_.resize(net_.log_stds());
    for (int64_t i = 0; i < net_.log_stds(); ++i) square_std_[i] = std::exp(2 * params[net_.log_std + i]);
    packed_square_std_.Set(square_std_.data(), net_.latent(), net_.actions);
  }

  void Reserve(Shard* s) const {
    s->work.Reserve(net_, kBlock);
    const int64_t widest = std::max({net_.widest, net_.policy.in, net_.value.in});  // a trunk may be empty
    for (auto* buffer : {&s->d, &s->other}) buffer->resize(kBlock * widest);
    s->d_head.resize(kBlock * net_.actions), s->d_value.resize(kBlock), s->d_log_std.assign(net_.actions, 0);
    if (net_.sde) {
      s->squares.resize(kBlock * net_.latent());
      s->variance.resize(kBlock * net_.actions), s->d_variance.resize(kBlock * net_.actions);
    }
  }

  void RunShard(const LossContext<T>& context, const T* params, int64_t begin, int64_t end, T* gradient, Shard* shard) const {
    Reserve(shard);
    shard->sums = {};
    std::fill_n(gradient, net_.size, T{0});
    for (int64_t at = begin; at < end; at += kBlock) RunBlock(context, params, at, std::min(kBlock, end - at), gradient, shard);
    T* log_std = gradient + net_.log_std;
    if (net_.sde) {
      for (int64_t i = 0; i < net_.log_stds(); ++i) log_std[i] *= 2 * square_std_[i];
    } else {
      for (int64_t i = 0; i < net_.log_stds(); ++i) log_std[i] = static_cast<T>(shard->d_log_std[i]);
    }
  }

  void RunBlock(const LossContext<T>& context, const T* params, int64_t begin, int64_t rows, T* gradient, Shard* s) const {
    const T* obs = context.batch.obs + begin * net_.obs;
    Forward(net_, weights_, params, obs, rows, &s->work);
    if (net_.sde) Variances(rows, s);
    HeadLoss<T>(context,
                {begin, rows, s->work.head.data(), s->work.value.data(), s->variance.data(), s->d_head.data(),
                 s->d_value.data(), s->d_variance.data(), s->d_log_std.data()},
                &s->sums);
    if (net_.sde) {
      s->packed.Set(s->d_variance.data(), rows, net_.actions);
      nn::MultiplyTransposedAdd(s->squares.data(), net_.latent(), s->packed, gradient + net_.log_std);
    }
    Backward(obs, rows, gradient, s);
  }

  void Variances(int64_t rows, Shard* s) const {
    nn::Square(s->work.latent, rows * net_.latent(), s->squares.data());
    nn::Multiply<T>(s->squares.data(), packed_square_std_, nullptr, rows, s->variance.data());
    for (int64_t i = 0; i < rows * net_.actions; ++i) s->variance[i] += static_cast<T>(kSdeVariance);
  }

  void Backward(const T* obs, int64_t rows, T* gradient, Shard* s) const {
    T *d = s->d.data(), *other = s->other.data();
    LayerGradient(net_.value, s->work.value_latent, s->d_value.data(), rows, &s->packed, gradient);
    LayerGradient(net_.policy, s->work.latent, s->d_head.data(), rows, &s->packed, gradient);
    nn::Multiply<T>(s->d_value.data(), weights_.value.backward, nullptr, rows, d);
    if (!net_.shared) {
      TrunkBackward(net_.critic, net_.activation, weights_.critic, obs, s->work.critic, rows, d, other, &s->packed, gradient);
      nn::Multiply<T>(s->d_head.data(), weights_.policy.backward, nullptr, rows, d);
    } else {
      nn::Multiply<T>(s->d_head.data(), weights_.policy.backward, nullptr, rows, other);
      nn::Add(other, rows * net_.latent(), d);
    }
    TrunkBackward(net_.actor, net_.activation, weights_.actor, obs, s->work.actor, rows, d, other, &s->packed, gradient);
  }

  Net net_;
  Parallel parallel_;
  PackedNet<T> weights_;
  std::vector<T> square_std_;
  nn::Packed<T> packed_square_std_;
  std::vector<Shard> shards_;
};

}  // namespace

template <class T>
std::unique_ptr<Gradient<T>> FusedGradient(const Net& net, int64_t shards, Parallel parallel) {
  return std::make_unique<Fused<T>>(net, shards, std::move(parallel));
}

template std::unique_ptr<Gradient<float>> FusedGradient(const Net&, int64_t, Parallel);
template std::unique_ptr<Gradient<double>> FusedGradient(const Net&, int64_t, Parallel);

}  // namespace backplane::ppo
