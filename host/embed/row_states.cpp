// Saves and loads the state of all rows as bytes, and of one row by name; draws a row's state.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backplane/ext/inject.h"
#include "base/hash64.hpp"
#include "base/suggest.hpp"
#include "embed/embedded_env.hpp"
#include "rollout/row_snapshots.hpp"

namespace backplane {
namespace {

// The header before the env's bytes, the episodes and the phases of all rows.
struct SavedHead {
  char magic[8] = {'b', 'p', 'e', 'm', 'b', 'e', 'd', '1'};
  uint64_t rows = 0, bytes_of_env = 0, options = 0;
  int64_t mode = 0;
};

uint64_t HashOf(const EnvToOpen& about) {
  std::string text = about.info.id + about.info.version + about.options.dump();
  for (const EnvToOpen::Wrapper& w : about.wrappers) text += w.info.id + w.info.version + w.options.dump();
  return Hash64Of(text.data(), text.size());
}

const bp_env_inject_1* InjectOf(const EnvInstance& env) { return env.innermost().Extension<bp_env_inject_1>(BP_ENV_INJECT_1); }

TrialFailure NotSaved(const EnvInstance& env, const std::string& what) {
  return TrialFailure(BP_E_INVALID_ARG, env.id(), "load: " + what);
}

}  // namespace

std::vector<std::byte> EmbeddedEnv::Save() {
  RequireRest();
  if (!HasSnapshots(env_)) throw TrialFailure(BP_E_UNSUPPORTED, env_.id(), "offers no snapshots (bp.env.snapshot/1)");
  const auto is_new = [](const RowEpisodes& row) { return row.number == 0; };
  if (std::all_of(episodes_.begin(), episodes_.end(), is_new)) RequireStarted();  // a row whose episode has ended is saved, too
  const std::vector<std::byte> of_env = SaveRows(env_);
  SavedHead head;
  head.rows = env_.rows(), head.bytes_of_env = of_env.size(), head.mode = static_cast<int64_t>(mode_);
  head.options = HashOf(about_);
  std::vector<std::byte> out;
  const auto add = [&](const void* data, uint64_t n) {
    const auto* from = static_cast<const std::byte*>(data);
    out.insert(out.end(), from, from + n);
  };
  add(&head, sizeof head);
  add(of_env.data(), of_env.size());
  add(episodes_.data(), episodes_.size() * sizeof(RowEpisodes));
  add(phases_.data(), phases_.size());
  return out;
}

void EmbeddedEnv::Load(const void* data, uint64_t n) {
  RequireRest();
  if (!HasSnapshots(env_)) throw TrialFailure(BP_E_UNSUPPORTED, env_.id(), "offers no snapshots (bp.env.snapshot/1)");
  SavedHead head, wanted;
  if (n < sizeof head) throw NotSaved(env_, fmt::format("expected {} bytes or more, got {}", sizeof head, n));
  std::memcpy(&head, data, sizeof head);
  wanted.options = HashOf(about_);
  if (std::memcmp(head.magic, wanted.magic, sizeof head.magic) != 0)
    throw NotSaved(env_, "expected bytes of bp_embed_save, got different ones");
  if (head.options != wanted.options) throw NotSaved(env_, "the bytes are from a different env, version or options");
  if (head.rows != env_.rows()) throw NotSaved(env_, fmt::format("expected {} rows, got {}", env_.rows(), head.rows));
  if (head.mode != static_cast<int64_t>(mode_))
    throw NotSaved(env_, fmt::format("expected the autoreset mode {}, got {}", static_cast<int32_t>(mode_), head.mode));
  const uint64_t of_host = env_.rows() * (sizeof(RowEpisodes) + 1);
  if (head.bytes_of_env > n || n - sizeof head < of_host || n - sizeof head - of_host != head.bytes_of_env)
    throw NotSaved(env_, fmt::format("expected {} bytes, got {}", sizeof head + head.bytes_of_env + of_host, n));
  const auto* at = static_cast<const std::byte*>(data) + sizeof head;
  OrEndAll([&] { LoadRows(env_, std::vector<std::byte>(at, at + head.bytes_of_env)); });
  at += head.bytes_of_env;
  std::memcpy(episodes_.data(), at, episodes_.size() * sizeof(RowEpisodes));
  std::memcpy(phases_.data(), at + episodes_.size() * sizeof(RowEpisodes), phases_.size());
  // Altered data must not yield an invalid phase.
  for (uint8_t& phase : phases_)
    if (phase > kNone || (phase == kEnded && mode_ != Autoreset::kNextStep)) phase = kNone;
}

void EmbeddedEnv::FindState() {
  const bp_env_inject_1* const inject = InjectOf(env_);
  if (inject == nullptr) return;
  constexpr uint64_t kMostParts = 1024, kMostNumbers = uint64_t{1} << 24;
  uint64_t offset = 0;
  for (uint64_t i = 0; i <= kMostParts; ++i) {
    uint64_t n = 0;
    const char* const name = env_.innermost().Call("part", [&](const bp_env* env) { return inject->part(env, i, &n); });
    if (name == nullptr) return;
    if (n > kMostNumbers || i == kMostParts)
      throw TrialFailure(BP_E_INTERNAL, env_.id(),
                         fmt::format("part {} of a state: expected at most {} parts of at most {} numbers, got {}", i,
                                     kMostParts, kMostNumbers, n));
    state_parts_.push_back({name, offset, n});
    offset += n;
  }
}

const EmbeddedEnv::StatePart& EmbeddedEnv::Part(const std::string& name) const {
  std::vector<std::string> names;
  for (const StatePart& part : state_parts_) {
    if (part.name == name) return part;
    names.push_back(part.name);
  }
  if (names.empty()) throw TrialFailure(BP_E_UNSUPPORTED, env_.id(), "does not expose the state of a row (bp.env.inject/1)");
  throw TrialFailure(BP_E_INVALID_ARG, env_.id(),
                     fmt::format("has no state '{}'{}", name, DidYouMean(Nearest(name, Candidates(names)))));
}

void EmbeddedEnv::RequireRow(uint64_t row) const {
  RequireRest();
  if (row >= env_.rows())
    throw TrialFailure(BP_E_INVALID_ARG, env_.id(), fmt::format("expected a row from 0 to {}, got {}", env_.rows() - 1, row));
}

std::vector<double> EmbeddedEnv::AllState(uint64_t row) {
  RequireRow(row);
  std::vector<double> all;
  if (!state_parts_.empty()) all.resize(state_parts_.back().offset + state_parts_.back().size);
  const bp_env_inject_1* const inject = InjectOf(env_);
  env_.innermost().Call("state", [&](bp_env* env) { return inject->get(env, row, all.data()); });
  return all;
}

std::vector<double> EmbeddedEnv::GetState(uint64_t row, const std::string& name) {
  const StatePart& part = Part(name);
  const std::vector<double> all = AllState(row);
  return {all.begin() + static_cast<int64_t>(part.offset), all.begin() + static_cast<int64_t>(part.offset + part.size)};
}

void EmbeddedEnv::SetState(uint64_t row, const std::vector<PartValues>& parts) {
  std::vector<std::pair<const StatePart*, const double*>> checked;
  for (const PartValues& given : parts) {
    const StatePart& part = Part(given.name);
    if (given.size != part.size)
      throw TrialFailure(BP_E_INVALID_ARG, env_.id(),
                         fmt::format("state '{}': expected {} numbers, got {}", part.name, part.size, given.size));
    for (uint64_t i = 0; i < part.size; ++i)
      if (!std::isfinite(given.values[i]))
        throw TrialFailure(
            BP_E_NUMERIC, env_.id(),
            fmt::format("state '{}'[{}] of row {}: expected a finite number, got {}", part.name, i, row, given.values[i]));
    checked.emplace_back(&part, given.values);
  }
  if (checked.empty()) return;
  if (const std::string who = env_.ReplacesStates(); !who.empty())
    throw TrialFailure(BP_E_UNSUPPORTED, env_.id(),
                       fmt::format("the wrapper {} replaces observations, which a new state would not reach before the next "
                                   "step; open the env without it to set states",
                                   who));
  std::vector<double> all = AllState(row);
  for (const auto& [part, values] : checked) std::copy_n(values, part->size, all.begin() + static_cast<int64_t>(part->offset));
  const bp_env_inject_1* const inject = InjectOf(env_);
  try {
    const HostFloatMode mode;
    env_.innermost().Call("state", [&](bp_env* env) { return inject->set(env, row, all.data()); });
  } catch (...) {
    phases_[row] = kNone;
    throw;
  }
}

const EmbeddedEnv::Picture& EmbeddedEnv::Draw(uint64_t row) {
  RequireRow(row);
  Camera camera(env_);
  if (episodes_[row].number == 0)
    throw TrialFailure(BP_E_INVALID_ARG, "", fmt::format("row {} has no state to draw\nhint: call bp_embed_reset first", row));
  if (picture_.format == 0) picture_.size = camera.Measure();
  picture_.format = camera.png() ? BP_RENDER_PNG : BP_RENDER_SVG;
  picture_.backdrop = camera.Backdrop(row), picture_.frame = camera.Frame(row);
  return picture_;
}

}  // namespace backplane
