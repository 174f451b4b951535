// Cases of rows: the same seed gives the same bytes, regardless of other rows and of the calls.
#include <fmt/format.h>

#include "plugin/elf.hpp"
#include "validate/at_once.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/driven_env.hpp"

namespace backplane {
namespace {

constexpr uint64_t kRows = 5, kPlayedSteps = 60;

// Imports that draw random numbers or time from outside the row's stream.
std::string Suspicious(const Subject& subject) {
  std::string text;
  for (const std::string& name : ElfFile(subject.info().file).Imports())
    for (const char* known : {"rand", "rand_r", "random", "drand48", "time", "clock", "clock_gettime", "gettimeofday",
                              "getrandom", "getentropy", "_ZNSt13random_device9_M_getvalEv"})
      if (name == known) text += (text.empty() ? "; the file calls " : ", ") + name;
  return text;
}

void NeedEqual(Subject& subject, const DrivenEnv& a, uint64_t row_a, const DrivenEnv& b, uint64_t row_b,
               const std::string& place) {
  if (const auto found = a.Difference(a.record(row_a), b.record(row_b)))
    FailCase(fmt::format("{}, row {}", place, row_a), "the same bytes", *found + Suspicious(subject));
}

void NeedEqualRows(Subject& subject, const DrivenEnv& a, const DrivenEnv& b, const std::string& place) {
  for (uint64_t r = 0; r < a.rows(); ++r) NeedEqual(subject, a, r, b, r, place);
}

void SameSeedSameBytes(Subject& subject, CaseResult*) {
  DrivenEnv first(subject, {.rows = kRows});
  first.ResetAll(), first.Play(0, kPlayedSteps);
  DrivenEnv second(subject, {.rows = kRows});
  second.ResetAll(), second.Play(0, kPlayedSteps);
  NeedEqualRows(subject, first, second, "a second instance from the same seed");
}

void ResetForgets(Subject& subject, CaseResult*) {
  DrivenEnv played(subject, {.rows = kRows}), fresh(subject, {.rows = kRows});
  played.ResetAll(), played.Play(0, 23);
  played.BeginAnew();
  played.ResetAll(), fresh.ResetAll();
  played.Play(0, kPlayedSteps), fresh.Play(0, kPlayedSteps);
  NeedEqualRows(subject, fresh, played, "used rows, from the same seed");
}

void InstancesShareNothing(Subject& subject, CaseResult*) {
  DrivenEnv alone(subject, {.rows = kRows});
  alone.ResetAll(), alone.Play(0, kPlayedSteps);
  DrivenEnv one(subject, {.rows = kRows}), other(subject, {.rows = 3, .first_key = 40, .action_key = 9});
  one.ResetAll(), other.ResetAll();
  for (uint64_t t = 0; t < kPlayedSteps; ++t) one.Play(t, t + 1), other.Play(t, t + 1);
  NeedEqualRows(subject, alone, one, "next to a second instance");
}

void RowsAreIndependent(Subject& subject, CaseResult*) {
  DrivenEnv together(subject, {.rows = kRows});
  together.ResetAll(), together.Play(0, kPlayedSteps);
  for (const uint64_t row : {uint64_t{0}, kRows - 1}) {
    DrivenEnv alone(subject, {.rows = 1, .first_key = row});
    alone.ResetAll(), alone.Play(0, kPlayedSteps);
    NeedEqual(subject, together, row, alone, 0, "by itself and with other rows");
  }
}

void NeedRowRanges(DrivenEnv& env) {
  if (env.env().resets_itself()) SkipCase("resets itself (NATIVE_AUTORESET), so a call covers all rows");
}

void SplitRanges(Subject& subject, CaseResult*) {
  DrivenEnv whole(subject, {.rows = kRows}), split(subject, {.rows = kRows}), backwards(subject, {.rows = kRows});
  NeedRowRanges(whole);
  for (DrivenEnv* env : {&whole, &split, &backwards}) env->ResetAll();
  whole.Play(0, kPlayedSteps);
  split.Play(0, kPlayedSteps, {{0, 2}, {2, kRows}});
  NeedEqualRows(subject, whole, split, fmt::format("[0, {0}) and [0, 2) + [2, {0})", kRows));
  backwards.Play(0, kPlayedSteps, {{4, 5}, {3, 4}, {2, 3}, {1, 2}, {0, 1}});
  NeedEqualRows(subject, whole, backwards, "all rows in one call and the last one first");
}

void ThreadsSameBytes(Subject& subject, CaseResult*) {
  if ((subject.info().flags & BP_FLAG_ROWS_CONCURRENT) == 0) SkipCase("is called by one thread at a time (no ROWS_CONCURRENT)");
  constexpr uint64_t kManyRows = 8, kRounds = 3;
  DrivenEnv serial(subject, {.rows = kManyRows});
  NeedRowRanges(serial);
  serial.ResetAll(), serial.Play(0, kPlayedSteps);
  for (uint64_t round = 0; round < kRounds; ++round) {
    DrivenEnv parallel(subject, {.rows = kManyRows});
    parallel.ResetAll();
    AtOnce(
        [&] {
          parallel.Play(0, kPlayedSteps, {{0, kManyRows / 2}});
        },
        [&] {
          parallel.Play(0, kPlayedSteps, {{kManyRows / 2, kManyRows}});
        });
    parallel.CheckGuards("step in two threads");
    NeedEqualRows(subject, serial, parallel, "in one thread and in two threads");
  }
}

void SlotsSameBytes(Subject& subject, CaseResult*) {
  DrivenEnv single(subject, {.rows = kRows}), rollout(subject, {.rows = kRows, .slots = 8});
  single.ResetAll(), rollout.ResetAll();
  single.Play(0, kPlayedSteps), rollout.Play(0, kPlayedSteps);
  NeedEqualRows(subject, single, rollout, "in a single slot and in the slots of a rollout");
}

}  // namespace

std::vector<Case> EnvRowCases() {
  return {
      {"same-seed-same-bytes", kOfEnvs, "The same seeds and actions give the same bytes, also within one process.",
       "Draw only from the row's stream (bp::Rng, bp_rng): no rand(), clock, static or uninitialised memory.",
       SameSeedSameBytes, kPlays, Evidence::kBasic},
      {"reset-forgets", kOfEnvs, "`reset` removes all traces of earlier episodes.", "Set every member of the row in reset.",
       ResetForgets, kPlays, Evidence::kCompares},
      {"instances-share-nothing", kOfEnvs, "An instance is independent of others in the process.",
       "Move statics and globals into the instance.", InstancesShareNothing, kPlays, Evidence::kCompares},
      {"rows-are-independent", kOfEnvs, "A row's bytes do not depend on other rows, their number or their actions.",
       "Keep a state and a random stream for each row.", RowsAreIndependent, kPlays, Evidence::kCompares},
      {"split-ranges", kOfEnvs, "A call for rows [0, n) gives the same bytes as calls for [0, k) and [k, n), in any order.",
       "Keep no data from one row of a call to the next.", SplitRanges, kPlays, Evidence::kCompares},
      {"threads-same-bytes", kOfEnvs, "With ROWS_CONCURRENT, two threads on disjoint ranges give the same bytes as one.",
       "Move scratch memory into the row or onto the stack; else set kRowsConcurrent = false.", ThreadsSameBytes, kPlays,
       Evidence::kCompares},
      {"slots-same-bytes", kOfEnvs, "A rollout in several slots gives the same bytes as in a single slot.",
       "Keep the state yourself, and do not read OBS back.", SlotsSameBytes, kPlays, Evidence::kCompares},
  };
}

}  // namespace backplane
