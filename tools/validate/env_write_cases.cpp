// Cases of an env's writes: complete, in bounds, and usable.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "rollout/channel_table.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/driven_env.hpp"

namespace backplane {
namespace {

constexpr uint64_t kSteps = 12, kLongSteps = 100;

// Two equal envs with equal actions and differently poisoned memory. Memory that keeps the poison in both was not written.
struct Twins {
  Twins(Subject& subject, const EnvLayout& layout) : first(subject, layout), second(subject, layout) {}
  DrivenEnv first, second;

  void Fill(void (DrivenEnv::*fill)(uint64_t, Poison), uint64_t at) {
    (first.*fill)(at, Poison::kFirst), (second.*fill)(at, Poison::kSecond);
  }
};

// The bytes that poison leaves in a channel.
std::vector<std::byte> BytesOf(const DrivenEnv& env, uint64_t slot, size_t channel) {
  const GuardedBlock& block = *env.Block(slot, channel);
  return {block.data(), block.data() + block.bytes()};
}

using Image = std::vector<std::vector<std::byte>>;  // the channels of a slot

Image Look(const DrivenEnv& env, uint64_t slot) {
  Image all(env.channels().size());
  for (size_t c = 0; c < all.size(); ++c)
    if (env.Block(slot, c)) all[c] = BytesOf(env, slot, c);
  return all;
}

void NeedWritten(const char* call, const Twins& twins, uint64_t slot, bool states_alone, const Image& first,
                 const Image& second) {
  const DrivenEnv& env = twins.first;
  for (size_t c = 0; c < env.channels().size(); ++c) {
    if (!env.Writes(c) || env.Block(slot, c) == nullptr || (states_alone && !IsStateRole(env.channels()[c]->role))) continue;
    const uint64_t bytes = env.channels()[c]->dtype.bits / 8u;
    for (uint64_t r = 0; r < env.rows(); ++r)
      for (uint64_t at = 0; at < env.RowBytes(c); at += bytes) {
        const uint64_t offset = r * env.RowStride(c) + at;
        const auto same = [&](const DrivenEnv& one, const Image& before) {
          return std::memcmp(one.Row(slot, c, r) + at, before[c].data() + offset, bytes) == 0;
        };
        if (same(twins.first, first) && same(twins.second, second))
          FailCase(fmt::format("{}, {}", call, env.PlaceText(c, r, at / bytes)), "a number written by every call",
                   "the previous memory");
      }
  }
}

void WritesEveryOutput(Subject& subject, CaseResult*) {
  Twins twins(subject, {.rows = 3, .slots = 5});
  const uint64_t last = twins.first.layout().slots - 1;
  twins.Fill(&DrivenEnv::FillStates, last);
  const Image first = Look(twins.first, last), second = Look(twins.second, last);
  twins.first.ResetAll(), twins.second.ResetAll();
  NeedWritten("reset", twins, last, true, first, second);
  for (uint64_t t = 0; t < last; ++t) {
    twins.Fill(&DrivenEnv::FillOutputs, t);
    const Image before = Look(twins.first, t), before_second = Look(twins.second, t);
    twins.first.WriteActions(t, {0, 3}), twins.second.WriteActions(t, {0, 3});
    twins.first.Step(t, {0, 3}), twins.second.Step(t, {0, 3});
    NeedWritten("step", twins, t, false, before, before_second);
    twins.first.AfterStep(t, {0, 3}), twins.second.AfterStep(t, {0, 3});
  }
}

void StaysInItsBuffers(Subject& subject, CaseResult*) {
  for (const uint64_t rows : {uint64_t{1}, uint64_t{3}, uint64_t{16}})
    for (const uint64_t slots : {uint64_t{1}, uint64_t{4}}) {
      DrivenEnv env(subject, {.rows = rows, .slots = slots});
      env.ResetAll();
      for (uint64_t t = 0; t < kSteps; ++t) env.Play(t, t + 1), env.CheckGuards("step");
    }
}

void NeedSame(const DrivenEnv& env, const std::string& call, uint64_t slot, const Image& before, auto&& may_change) {
  for (size_t c = 0; c < env.channels().size(); ++c) {
    if (env.Block(slot, c) == nullptr) continue;
    const std::byte* now = env.Block(slot, c)->data();
    for (uint64_t i = 0; i < before[c].size(); ++i) {
      if (now[i] == before[c][i]) continue;
      const uint64_t row = i / env.RowStride(c), within = i % env.RowStride(c);
      if (within < env.RowBytes(c) && may_change(c, row)) continue;
      const uint64_t element = within / (env.channels()[c]->dtype.bits / 8u);
      FailCase(fmt::format("{}, {}", call, env.PlaceText(c, row, element)), "no write",
               within < env.RowBytes(c) ? "a number changed to " + env.ElementText(c, env.Row(slot, c, row), element)
                                        : "a byte changed between two rows");
    }
  }
}

void NeedRanges(DrivenEnv& env) {
  if (env.env().resets_itself()) SkipCase("resets itself (NATIVE_AUTORESET), so a call covers all rows");
}

void WritesOnlyItsRows(Subject& subject, CaseResult*) {
  DrivenEnv env(subject, {.rows = 6});
  NeedRanges(env);
  env.ResetAll();
  const RowsRange range{2, 4};
  const auto inside = [&](uint64_t row) { return row >= range.begin && row < range.end; };
  for (uint64_t t = 0; t < kSteps; ++t) {
    env.WriteActions(t, {0, env.rows()});
    const Image before = Look(env, 0);
    env.Step(t, range);
    NeedSame(env, fmt::format("step of {}", RangeText(range)), 0, before, [&](size_t c, uint64_t row) {
      return inside(row) && env.channels()[c]->role != BP_ROLE_ACTION &&
             (env.Writes(c) || env.channels()[c]->role != BP_ROLE_TRUNCATED);
    });
    env.AfterStep(t, range);
    if (t % 4 != 3) continue;
    std::vector<uint8_t> mask(env.rows(), 1);
    mask[range.begin] = 0;  // all beyond the range are set, too
    const Image before_reset = Look(env, 0);
    env.Reset(range, mask.data());
    NeedSame(env, fmt::format("reset of {} but row {}", RangeText(range), range.begin), 0, before_reset,
             [&](size_t c, uint64_t row) { return inside(row) && mask[row] && IsStateRole(env.channels()[c]->role); });
  }
}

void UsesStrides(Subject& subject, CaseResult*) {
  subject.NeedNoWrapper("the host writes the flags of its rows without strides");
  DrivenEnv dense(subject, {.rows = 3}), wide(subject, {.rows = 3, .wide_strides = true});
  dense.ResetAll(), wide.ResetAll();
  const Image before = Look(wide, 0);
  dense.Play(0, kSteps), wide.Play(0, kSteps);
  dense.CheckGuards("step"), wide.CheckGuards("step");
  NeedSame(wide, "step", 0, before, [](size_t, uint64_t) { return true; });
  for (uint64_t r = 0; r < dense.rows(); ++r)
    if (const auto found = dense.Difference(dense.record(r), wide.record(r)))
      FailCase(fmt::format("rows with a larger stride, row {}", r), "the same numbers", *found);
}

// Calls see(channel, row, element, place) for each number that some steps write.
void ForEachWritten(Subject& subject, uint64_t steps, auto&& see) {
  DrivenEnv env(subject, {.rows = 4});
  env.ResetAll();
  for (uint64_t t = 0; t <= steps; ++t) {
    for (size_t c = 0; c < env.channels().size(); ++c) {
      if (!env.Writes(c) || (t == 0 && !IsStateRole(env.channels()[c]->role))) continue;
      for (uint64_t r = 0; r < env.rows(); ++r) see(env, c, r, t == 0 ? std::string("reset") : fmt::format("step {}", t));
    }
    if (t < steps) env.Play(t, t + 1);
  }
}

std::optional<double> NumberAt(const std::byte* at, bp_dtype dtype) {
  const auto as = [at](auto zero) {
    std::memcpy(&zero, at, sizeof zero);
    return static_cast<double>(zero);
  };
  if (dtype.code == BP_DTYPE_FLOAT)
    return dtype.bits == 32 ? std::optional(as(0.0f)) : dtype.bits == 64 ? std::optional(as(0.0)) : std::nullopt;
  const bool is_signed = dtype.code == BP_DTYPE_INT;
  switch (dtype.bits) {
    case 8: return is_signed ? as(int8_t{}) : as(uint8_t{});
    case 16: return is_signed ? as(int16_t{}) : as(uint16_t{});
    case 32: return is_signed ? as(int32_t{}) : as(uint32_t{});
    default: return is_signed ? as(int64_t{}) : as(uint64_t{});
  }
}

void ForEachNumber(Subject& subject, uint64_t steps, auto&& see) {
  ForEachWritten(subject, steps, [&](const DrivenEnv& env, size_t c, uint64_t r, const std::string& when) {
    const bp_dtype dtype = env.channels()[c]->dtype;
    const uint64_t bytes = dtype.bits / 8u;
    for (uint64_t i = 0; i < env.RowBytes(c) / bytes; ++i)
      if (const auto number = NumberAt(env.Row(0, c, r) + i * bytes, dtype))
        see(*env.channels()[c], i, *number, [&] { return when + ", " + env.PlaceText(c, r, i); });
  });
}

void FiniteNumbers(Subject& subject, CaseResult*) {
  ForEachNumber(subject, kLongSteps, [](const bp_channel&, uint64_t, double number, auto&& place) {
    if (!std::isfinite(number)) FailCase(place(), "a number that is finite", fmt::format("{}", number));
  });
}

void WithinBounds(Subject& subject, CaseResult*) {
  ForEachNumber(subject, kLongSteps, [](const bp_channel& c, uint64_t i, double number, auto&& place) {
    const uint64_t at = i % Elements(c);
    if (c.space == BP_SPACE_BOX && c.n_bounds > 0) {
      const double low = c.low[c.n_bounds > 1 ? at : 0], high = c.high[c.n_bounds > 1 ? at : 0];
      // A bound is a double; the written number may be the float32 next to it.
      const bool inside =
          number >= static_cast<double>(static_cast<float>(low)) && number <= static_cast<double>(static_cast<float>(high));
      if (!inside && number != low && number != high)
        FailCase(place(), fmt::format("{} to {}, as declared", low, high), fmt::format("{}", number));
    }
    if (c.space == BP_SPACE_DISCRETE || c.space == BP_SPACE_TOKENS || c.space == BP_SPACE_MULTI_DISCRETE) {
      const int64_t n = c.nvec[c.space == BP_SPACE_MULTI_DISCRETE ? at : 0];
      if (number < 0 || number >= static_cast<double>(n))
        FailCase(place(), fmt::format("0 to {}", n - 1), fmt::format("{}", number));
    }
    if (c.role == BP_ROLE_LENGTH && number < 0) FailCase(place(), "a length of 0 or more", fmt::format("{}", number));
  });
}

void FlagsAreBits(Subject& subject, CaseResult*) {
  ForEachNumber(subject, kLongSteps, [](const bp_channel& c, uint64_t, double number, auto&& place) {
    const bool flag =
        c.role == BP_ROLE_TERMINATED || c.role == BP_ROLE_TRUNCATED || c.role == BP_ROLE_ACTION_MASK || c.role == BP_ROLE_ALIVE;
    if (flag && number != 0 && number != 1) FailCase(place(), "0 or 1", fmt::format("{}", number));
  });
}

void MasksAllowSomething(Subject& subject, CaseResult*) {
  if (bp::FindChannel(subject.MakeEnv(1)->spec(), BP_ROLE_ACTION_MASK) == nullptr) SkipCase("has no ACTION_MASK");
  ForEachWritten(subject, kLongSteps, [&](const DrivenEnv& env, size_t c, uint64_t r, const std::string& when) {
    if (env.channels()[c]->role != BP_ROLE_ACTION_MASK) return;
    const uint64_t choices = Elements(*env.channels()[c]);
    const std::optional<size_t> alive = env.Index(BP_ROLE_ALIVE);
    for (uint64_t a = 0; a < env.RowBytes(c) / choices; ++a) {
      const bool acts = !alive || env.RowBytes(*alive) <= a || env.Row(0, *alive, r)[a] != std::byte{0};
      const std::byte* mask = env.Row(0, c, r) + a * choices;
      if (acts && std::all_of(mask, mask + choices, [](std::byte m) { return m == std::byte{0}; }))
        FailCase(fmt::format("{}, channel '{}', agent {} of row {}", when, env.channels()[c]->name, a, r),
                 "a choice that is allowed", fmt::format("none of {}", choices));
    }
  });
}

void AliveOnlyFalls(Subject& subject, CaseResult*) {
  DrivenEnv env(subject, {.rows = 4});
  const std::optional<size_t> alive = env.Index(BP_ROLE_ALIVE);
  if (!alive) SkipCase("has no ALIVE");
  env.ResetAll();
  for (uint64_t t = 0; t < kLongSteps; ++t) {
    const std::vector<std::byte> before = BytesOf(env, 0, *alive);
    std::vector<uint64_t> episodes;
    for (uint64_t r = 0; r < env.rows(); ++r) episodes.push_back(env.episodes(r));
    env.Play(t, t + 1);
    for (uint64_t r = 0; r < env.rows(); ++r)
      for (uint64_t a = 0; a < env.RowBytes(*alive) && episodes[r] == env.episodes(r); ++a)
        if (before[r * env.RowStride(*alive) + a] == std::byte{0} && env.Row(0, *alive, r)[a] != std::byte{0})
          FailCase(fmt::format("step {}, agent {} of row {}", t + 1, a, r), "a change from 1 to 0 only",
                   "a change from 0 to 1");
  }
}

}  // namespace

std::vector<Case> EnvWriteCases() {
  return {
      {"writes-every-output", kOfEnvs,
       "`reset` writes every state channel of its rows, `step` every output: observations, rewards, flags, INFO.",
       "Write the element even if it is 0 or unchanged, because each slot has its own buffer.", WritesEveryOutput, kPlays,
       Evidence::kBasic},
      {"stays-in-its-buffers", kOfEnvs,
       "No call reads or writes outside a channel's rows; a ROW channel has one entry per row, not per agent.",
       "Compare with the shape in the spec. A value per agent needs BP_SCOPE_AGENT.", StaysInItsBuffers, kPlays,
       Evidence::kBasic},
      {"writes-only-its-rows", kOfEnvs,
       "A call writes only the rows of its range: `reset` only state channels with mask 1, `step` no action.",
       "Loop from `begin` to `end`, and check the mask.", WritesOnlyItsRows, kPlays, Evidence::kBasic},
      {"uses-strides", kOfEnvs, "Rows are addressed by the tensor's strides.",
       "Multiply the row by strides[0] (in elements), not by the row's size.", UsesStrides, kPlays, Evidence::kCompares},
      {"finite-numbers", kOfEnvs, "Observations, rewards and INFO are finite.",
       "Check divisions by 0, roots and logarithms; end the episode earlier.", FiniteNumbers, kPlays},
      {"within-bounds", kOfEnvs, "Values are within the declared bounds and choices.", "Widen the bounds, or clip the values.",
       WithinBounds, kPlays},
      {"flags-are-bits", kOfEnvs, "TERMINATED, TRUNCATED, ACTION_MASK and ALIVE are 0 or 1.", "Write `condition ? 1 : 0`.",
       FlagsAreBits, kPlays},
      {"masks-allow", kOfEnvs, "ACTION_MASK allows at least one choice for each agent that acts.",
       "Add a no-op choice, or end the episode.", MasksAllowSomething, kPlays},
      {"alive-falls", kOfEnvs, "Within an episode an agent's ALIVE falls from 1 to 0 and never rises.",
       "Revive agents only in reset.", AliveOnlyFalls, kPlays},
  };
}

}  // namespace backplane
