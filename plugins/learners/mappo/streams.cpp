#include "streams.hpp"

#include <algorithm>

#include "on_policy/gae.hpp"

namespace backplane::mappo {

Streams::Streams(const EnvShape& shape, uint64_t rows, double gamma, double lambda, double reward_scale, bool bootstraps_cuts)
    : shape_(shape),
      rows_(static_cast<int64_t>(rows)),
      agents_(rows_ * shape.agents),
      gamma_(gamma),
      lambda_(lambda),
      reward_scale_(reward_scale),
      bootstraps_cuts_(bootstraps_cuts) {
  shape_.declarations.clear();  // drop pointers that may become invalid
}

void Streams::ReadAgent(const Step& step, int64_t agent, float reward) {
  const int64_t place = step.t * agents_ + agent;
  reward_[place] = static_cast<float>(reward_scale_ * reward);
  earned_ += reward;
  const bool left = !step.cut && !alive_[place + agents_];
  if (step.over || (left && !step.cut_alone)) return;
  discount_[place] = gamma_;
  if (!step.cut && !left) carry_[place] = gamma_ * lambda_;
  if (step.cut || left || step.t + 1 == steps_)
    bootstraps_.push_back({place, step.t * rows_ + step.row, step.cut ? step.final : -1,
                           step.cut ? step.final * shape_.agents + agent % shape_.agents : -1, step.t + 1});
}

void Streams::Read(const bp::Delivery& delivery) {
  const auto reward = delivery.Get<float>("reward");
  const auto terminated = delivery.Get<uint8_t>("terminated"), truncated = delivery.Get<uint8_t>("truncated");
  steps_ = reward.Size(0);
  bp::View<const uint8_t> alive, ended, cut_alone;
  if (!shape_.alive.empty()) alive = delivery.Get<uint8_t>(shape_.alive.c_str());
  if (!shape_.agent_ended.empty()) ended = delivery.Get<uint8_t>(shape_.agent_ended.c_str());
  if (!shape_.agent_truncated.empty()) cut_alone = delivery.Get<uint8_t>(shape_.agent_truncated.c_str());
  alive_.assign((steps_ + 1) * agents_, 1);
  for (int64_t t = 0; alive && t <= steps_; ++t)
    for (int64_t agent = 0; agent < agents_; ++agent) alive_[t * agents_ + agent] = alive.At(t)[shape_.InAll(agent)];

  const int64_t places = steps_ * agents_;
  reward_.assign(places, 0), discount_.assign(places, 0), carry_.assign(places, 0);
  bootstraps_.clear(), earned_ = 0;
  const bp_tensor* finals = delivery.Find("final_index");
  const int64_t n_finals = finals ? finals->shape[0] : 0;
  int64_t final = 0;  // index of the first one at or after the current row; they ascend
  for (int64_t t = 0; t < steps_; ++t) {
    for (int64_t row = 0; row < rows_; ++row) {
      const bool cut = *truncated.At(t, row), over = *terminated.At(t, row);
      while (final < n_finals && *delivery.Get<int64_t>("final_index").At(final) < t * rows_ + row) ++final;
      for (int64_t agent = row * shape_.agents; agent < (row + 1) * shape_.agents; ++agent) {
        if (!alive_[t * agents_ + agent]) continue;
        const int64_t all = shape_.InAll(agent);
        const float earned = *reward.At(t, shape_.reward_per_agent ? all : row);
        const bool agent_over = over || (cut && !bootstraps_cuts_) || (ended && *ended.At(t, all));
        ReadAgent({t, row, cut, agent_over, cut_alone && *cut_alone.At(t, all), final}, agent, earned);
      }
    }
  }
}

void Streams::Advantages(const float* value, const float* bootstrap, float* out) const {
  const int64_t places = steps_ * agents_;
  std::vector<float> known(places), next(places);
  for (int64_t p = 0; p < places; ++p) known[p] = alive_[p] ? value[p] : 0;
  std::copy(known.begin() + agents_, known.end(), next.begin());
  for (size_t i = 0; i < bootstraps_.size(); ++i) next[bootstraps_[i].place] = bootstrap[i];
  for (int64_t agent = 0; agent < agents_; ++agent) {
    Gae<float>({steps_, agents_, &reward_[agent], &known[agent], &next[agent], &discount_[agent], &carry_[agent]}, &out[agent]);
  }
}

}  // namespace backplane::mappo
