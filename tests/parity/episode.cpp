#include "episode.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <stdexcept>

namespace backplane::parity {
namespace {

class Bytes {
 public:
  explicit Bytes(const std::vector<char>& bytes) : bytes_(bytes) {}
  template <class T>
  std::vector<T> Take(size_t n) {
    if (n * sizeof(T) > bytes_.size() - at_) throw std::runtime_error(Sentence());
    std::vector<T> out(n);
    if (n > 0) std::memcpy(out.data(), bytes_.data() + at_, n * sizeof(T));
    at_ += n * sizeof(T);
    return out;
  }
  void End() const {
    if (at_ != bytes_.size()) throw std::runtime_error(Sentence());
  }

 private:
  std::string Sentence() const {
    return fmt::format("the oracle answers with {} bytes, which is not the size of our observations and infos", bytes_.size());
  }
  const std::vector<char>& bytes_;
  size_t at_ = 0;
};

bool SameBits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

std::string Differ(size_t step, const std::string& what, float ours, float theirs) {
  return fmt::format("step {}: {} is {:.9g} ({:08x}), Gymnasium's is {:.9g} ({:08x})", step, what, ours,
                     std::bit_cast<uint32_t>(ours), theirs, std::bit_cast<uint32_t>(theirs));
}

}  // namespace

Episode FromBytes(const std::vector<char>& bytes, const Episode& like) {
  Bytes from(bytes);
  Episode out;
  out.state = like.state;
  out.actions = like.actions;
  for (const auto& row : like.obs) out.obs.push_back(from.Take<float>(row.size()));
  out.reward = from.Take<float>(like.steps());
  for (const auto& row : like.info) out.info.push_back(from.Take<float>(row.size()));
  out.terminated = from.Take<uint8_t>(like.steps());
  out.truncated = from.Take<uint8_t>(like.steps());
  from.End();
  return out;
}

std::optional<std::string> FirstDifference(const Episode& ours, const Episode& theirs,
                                           const std::vector<std::string>& info_names) {
  const auto obs = [&](size_t step) -> std::optional<std::string> {
    for (size_t i = 0; i < ours.obs[step].size(); ++i)
      if (!SameBits(ours.obs[step][i], theirs.obs[step][i]))
        return Differ(step, fmt::format("obs[{}]", i), ours.obs[step][i], theirs.obs[step][i]);
    return std::nullopt;
  };
  if (auto found = obs(0)) return found;
  for (size_t t = 0; t < ours.steps(); ++t) {
    const size_t step = t + 1;  // step 0 is the reset
    if (auto found = obs(step)) return found;
    for (size_t i = 0; i < ours.info[t].size(); ++i)
      if (!SameBits(ours.info[t][i], theirs.info[t][i])) return Differ(step, info_names[i], ours.info[t][i], theirs.info[t][i]);
    if (!SameBits(ours.reward[t], theirs.reward[t])) return Differ(step, "reward", ours.reward[t], theirs.reward[t]);
    if (ours.terminated[t] != theirs.terminated[t]) return Differ(step, "terminated", ours.terminated[t], theirs.terminated[t]);
    if (ours.truncated[t] != theirs.truncated[t]) return Differ(step, "truncated", ours.truncated[t], theirs.truncated[t]);
  }
  return std::nullopt;
}

}  // namespace backplane::parity
