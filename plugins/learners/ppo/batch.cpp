#include "batch.hpp"

#include <algorithm>

#include "observed.hpp"

namespace backplane::ppo {

Batch::Batch(const Net& net, const EnvShape& shape, int64_t sequence)
    : obs_(net.obs),
      numbers_(net.action.numbers),
      choices_(net.action.choices),
      flags_(shape.mask_name.empty() ? 0 : net.action.flags),
      carry_(net.carry()),
      sequence_(sequence),
      mask_name_(shape.mask_name),
      obs_channels_(shape.observed),
      images_(shape.images),
      actions_(shape.actions) {}

void Batch::Resize(int64_t n, Samples* s) const {
  s->n = n;
  s->obs.resize(n * obs_);
  for (auto* each : {&s->logp, &s->advantage, &s->ret, &s->value}) each->resize(n);
  s->action.resize(n * numbers_);
  s->choice.resize(n * choices_);
  s->mask.resize(n * flags_);
}

void Batch::Take(const bp::Delivery& delivery, int64_t rows, const ObsNormalizer* obs_norm) {
  const Observed obs = ObservedIn(delivery, obs_channels_);
  const auto logp = delivery.Get<float>("logp"), value = delivery.Get<float>("value");
  bp::View<const float> raw;
  bp::View<const uint8_t> mask;
  if (numbers_ > 0) raw = delivery.Get<float>("raw_action");
  if (flags_ > 0) mask = delivery.Get<uint8_t>(mask_name_.c_str());
  Resize(logp.Size(0) * rows, &all_);
  for (int64_t i = 0; i < all_.n; ++i) {
    const int64_t t = i / rows, row = i % rows;
    float* to = all_.obs.data() + i * obs_;
    const float* from = obs.At(t, row);
    obs_norm ? obs_norm->Apply(from, to) : (void)std::copy_n(from, obs_, to);
    all_.logp[i] = *logp.At(t, row), all_.value[i] = *value.At(t, row);
    if (mask) std::copy_n(mask.At(t, row), flags_, &all_.mask[i * flags_]);
    if (raw) std::copy_n(raw.At(t, row), numbers_, &all_.action[i * numbers_]);
  }
  all_.images = obs.ImagesOfSteps();
  TakeChoices(delivery, rows);
  if (carry_ > 0) TakeSequences(delivery, rows);
}

void Batch::TakeChoices(const bp::Delivery& delivery, int64_t rows) {
  ForChoices(delivery, actions_, [&](const auto& view, int64_t elements, int64_t first) {
    for (int64_t i = 0; i < all_.n; ++i) std::copy_n(view.At(i / rows, i % rows), elements, &all_.choice[i * choices_ + first]);
  });
}

// Cuts each row into sequences, the last of which may be shorter.
void Batch::TakeSequences(const bp::Delivery& delivery, int64_t rows) {
  const auto carry = delivery.Get<float>("memory");
  const auto terminated = delivery.Get<uint8_t>("terminated"), truncated = delivery.Get<uint8_t>("truncated");
  const int64_t steps = all_.n / rows;
  sequences_.Clear(sequence_);
  sequences_.fresh.assign(all_.n, 0);
  first_carries_.clear();
  for (int64_t begin = 0; begin < steps; begin += sequence_) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t t = begin; t < std::min(begin + sequence_, steps); ++t) {
        sequences_.samples.push_back(t * rows + row);
        if (t > 0) sequences_.fresh[t * rows + row] = *terminated.At(t - 1, row) || *truncated.At(t - 1, row);
      }
      sequences_.End();
      const float* const first = carry.At(begin, row);
      first_carries_.insert(first_carries_.end(), first, first + carry_);
    }
  }
}

void Batch::Shuffle(uint64_t key, const Parallel& parallel) { shuffler_.Shuffle(key, ordered(), parallel, &order_); }

Minibatch<float> Batch::View(const Samples& s, int64_t n) {
  const auto data = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
  return {n,
          s.obs.data(),
          data(s.action),
          data(s.choice),
          data(s.mask),
          s.logp.data(),
          s.advantage.data(),
          s.ret.data(),
          s.value.data(),
          nullptr,
          nullptr,
          nullptr,
          s.images};
}

Minibatch<float> Batch::Select(int64_t begin, int64_t end) {
  if (carry_ > 0) {
    blocks_.Pack(sequences_, std::span(order_).subspan(begin, end - begin));
    Minibatch<float> some = View(all_, blocks_.n());
    some.index = blocks_.index(), some.blocks = &blocks_, some.carry = first_carries_.data();
    return some;
  }
  Minibatch<float> some = View(all_, end - begin);
  some.index = order_.data() + begin;
  return some;
}

void Batch::GatherImages(int64_t begin, Samples* out) {
  out->images.clear(), pixels_.resize(images_.size());
  for (size_t k = 0; k < images_.size(); ++k) {
    const int64_t size = images_[k].size();
    pixels_[k].resize(out->n * size);
    for (int64_t i = 0; i < out->n; ++i) std::copy_n(all_.images[k].At(order_[begin + i]), size, pixels_[k].data() + i * size);
    out->images.push_back({pixels_[k].data(), 1, size, 0});
  }
}

Minibatch<float> Batch::Gather(int64_t begin, int64_t end) {
  Samples& m = part_;
  Resize(end - begin, &m);
  const auto take = [](const auto& from, int64_t width, int64_t at, auto* to, int64_t i) {
    std::copy_n(from.begin() + at * width, width, to->begin() + i * width);
  };
  for (int64_t i = 0; i < m.n; ++i) {
    const int64_t from = order_[begin + i];
    take(all_.obs, obs_, from, &m.obs, i);
    take(all_.action, numbers_, from, &m.action, i);
    take(all_.choice, choices_, from, &m.choice, i);
    take(all_.mask, flags_, from, &m.mask, i);
    m.logp[i] = all_.logp[from], m.advantage[i] = all_.advantage[from], m.ret[i] = all_.ret[from],
    m.value[i] = all_.value[from];
  }
  GatherImages(begin, &m);
  return View(m, m.n);
}

}  // namespace backplane::ppo
