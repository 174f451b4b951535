// Nets, minibatches and acting for tests of the update, without a rollout.
#pragma once

#include <cmath>
#include <ostream>
#include <vector>

#include "actor.hpp"
#include "backplane/rng.h"
#include "fake_host.hpp"
#include "gradient.hpp"
#include "on_policy/optimizer.hpp"

namespace backplane::ppo {

// Describes a shape in a test's name; without it, GoogleTest prints the bytes.
inline void PrintTo(const NetShape& shape, std::ostream* out) {
  *out << (!shape.distributions.each.empty() ? "Several"
           : shape.discrete                  ? "Discrete"
           : shape.sde                       ? "Sde"
                                             : "Gaussian")
       << (shape.shared ? "Shared" : "");
}

namespace net_fixture {

inline NetShape Shape(bool discrete, bool shared = false, bool sde = false, Activation activation = Activation::kTanh) {
  return {.obs = 5,
          .actions = 3,
          .discrete = discrete,
          .hidden = {32, 24},
          .vf_hidden = {40},
          .shared = shared,
          .activation = activation,
          .sde = sde};
}

// Two numbers, a choice of three, two bits, a choice of two, and one more number.
inline NetShape SeveralActions(bool shared = false) {
  NetShape shape = Shape(false, shared);
  for (const auto& [kind, n] :
       {std::pair{Kind::kGaussian, 2}, {Kind::kChoice, 3}, {Kind::kBits, 2}, {Kind::kChoice, 2}, {Kind::kGaussian, 1}})
    shape.distributions.Add(kind, n);
  return shape;
}

// Two images, one of them with its channels first, in addition to the numbers.
inline NetShape WithImages(NetShape shape) {
  shape.images = {{40, 36, 3, false}, {36, 44, 2, true}};
  return shape;
}

constexpr LossOptions kLoss{{.clip = .2, .vf_clip = .2, .huber_delta = 0, .entropy_coeff = 0, .vf_coeff = .5}, true};
// The same with a change: change(LossOptions*).
template <class Change>
constexpr LossOptions LossWith(Change&& change) {
  LossOptions options = kLoss;
  change(&options);
  return options;
}

// Every second row forbids every third choice, but never the one taken.
template <class T>
class RandomBatch {
 public:
  RandomBatch(const Net& net, int64_t n, uint64_t seed, bool masked = false)
      : params(net.size),
        obs(n * net.obs),
        action(n * net.action.numbers),
        logp(n),
        advantage(n),
        ret(n),
        value(n),
        choice(n * net.action.choices),
        mask(n * net.action.flags, 1),
        n_(n),
        net_(net),
        masked_(masked) {
    bp_rng rng{seed, 0};
    const auto fill = [&](std::vector<T>& to, double scale, double shift = 0) {
      for (T& x : to) x = static_cast<T>(shift + scale * bp_rng_normal(&rng));
    };
    fill(params, .3);
    for (const Vision& vision : net.visions) {  // deep layers of such weights would explode
      for (int64_t i = vision.begin; i < vision.end; ++i) params[i] *= static_cast<T>(.2);
      auto& to = pixels.emplace_back(n * vision.image.size());
      for (uint8_t& x : to) x = static_cast<uint8_t>(bp_rng_below(&rng, 256));
    }
    fill(obs, 1), fill(action, 1), fill(advantage, 2, .5), fill(ret, 1), fill(value, 1);
    for (int64_t i = 0; i < net.log_stds(); ++i)
      params[net.log_std + i] = static_cast<T>(-.4 + .1 * static_cast<double>(i % 5));
    fill(logp, .5, net.discrete ? -1.1 : -4);
    for (int64_t i = 0; i < n; ++i)
      for (const Distribution& part : net.action.each) Choose(part, i, &rng);
  }
  Minibatch<T> View() const {
    return {n_,
            obs.data(),
            net_.action.numbers > 0 ? action.data() : nullptr,
            net_.action.choices > 0 ? choice.data() : nullptr,
            masked_ ? mask.data() : nullptr,
            logp.data(),
            advantage.data(),
            ret.data(),
            value.data(),
            nullptr,
            nullptr,
            nullptr,
            Images()};
  }
  std::vector<Pixels> Images() const {
    std::vector<Pixels> images;
    for (size_t i = 0; i < pixels.size(); ++i) images.push_back({pixels[i].data(), 1, net_.visions[i].image.size(), 0});
    return images;
  }
  std::vector<T> params, obs, action, logp, advantage, ret, value;
  std::vector<int64_t> choice;
  std::vector<uint8_t> mask;
  std::vector<std::vector<uint8_t>> pixels;  // of each image

 private:
  void Choose(const Distribution& part, int64_t i, bp_rng* rng) {
    int64_t* const to = choice.data() + i * net_.action.choices + part.choice;
    if (part.kind == Kind::kBits)
      for (int64_t k = 0; k < part.n; ++k) to[k] = bp_rng_uniform(rng) < .5;
    if (part.kind != Kind::kChoice) return;
    *to = static_cast<int64_t>(bp_rng_below(rng, part.n));
    if (i % 2) mask[i * net_.action.flags + part.flag + (*to + 1) % part.n] = 0;
  }

  int64_t n_;
  Net net_;
  bool masked_;
};

// Runs all parts on the caller, in the given order.
inline Parallel InOrder() { return OnOneThread(); }
inline Parallel Backwards() {
  return [](uint64_t n, const std::function<void(uint64_t)>& body) {
    for (uint64_t i = n; i-- > 0;) body(i);
  };
}
// Accepts phases and counts none.
inline const bp_host* SilentHost() {
  static const bp_host host = [] {
    bp_host made{sizeof(bp_host)};
    made.get_extension = [](const bp_host*, const char*) -> const void* { return nullptr; };
    return made;
  }();
  return &host;
}

// Parameters that follow the gradients of a path.
template <class T>
class Update : public Optimizer<T> {
 public:
  Update(const Net& net, std::unique_ptr<Gradient<T>> path, Parallel parallel = InOrder())
      : Optimizer<T>(net.size, "a smaller lr may help"), path_(std::move(path)), parallel_(std::move(parallel)) {}
  StepStats Step(const Minibatch<T>& batch, const LossOptions& loss, double lr, double grad_clip = .5) {
    StepStats stats = path_->Compute(batch, loss, this->params(), this->gradient());
    Optimizer<T>::Step({.lr = lr, .grad_clip = grad_clip, .kl_stop = 0}, parallel_, &stats);
    return stats;
  }

 private:
  std::unique_ptr<Gradient<T>> path_;
  Parallel parallel_;
};

// |a - b| / |b|
template <class T>
double Distance(const std::vector<T>& a, const std::vector<T>& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    norm += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(difference / norm);
}

// An actor's results for `rows` rows of the given observations.
class Acting {
 public:
  Acting(const Net& net, int64_t rows, uint64_t sde_steps = 4)
      : obs({rows, net.obs}),
        action({rows, net.actions}),
        raw({rows, net.actions}),
        logp({rows}),
        value({rows}),
        choice({rows}),
        actor_(net, EnvShapeOf(net), static_cast<uint64_t>(rows), nullptr, sde_steps),
        discrete_(net.discrete) {}
  void Act(const float* params, int64_t begin, int64_t end, uint64_t step = 0, uint32_t flags = BP_ACT_EXPLORE) {
    actor_.Refresh(params);
    bp_tensor* in[] = {&obs.tensor};
    bp_tensor* out[] = {discrete_ ? &choice.tensor : &action.tensor, &logp.tensor, &value.tensor, &raw.tensor};
    const bp_act act{sizeof(bp_act), flags, static_cast<uint64_t>(begin), static_cast<uint64_t>(end), 0, 7, step, in, out};
    actor_.Act(act);
  }
  backplane::test_support::Buffer<float> obs, action, raw, logp, value;
  backplane::test_support::Buffer<int32_t> choice;

 private:
  static EnvShape EnvShapeOf(const Net& net) {
    const int64_t choices = net.actions;
    const bp_channel channels[] = {
        {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "obs", &net.obs},
        net.discrete ? bp_channel{sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0,
                                  bp::DtypeOf<int32_t>(), "action", nullptr, nullptr, nullptr, &choices}
                     : bp_channel{sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(),
                                  "action", &net.actions},
        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, bp::DtypeOf<float>(), "reward"}};
    const bp_env_spec spec{sizeof(bp_env_spec), 1, channels, 3, 500, {BP_DEVICE_CPU, 0}};
    return EnvShape(&spec);
  }
  Actor actor_;
  bool discrete_;
};

}  // namespace net_fixture
}  // namespace backplane::ppo
