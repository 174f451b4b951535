// C++ authoring of envs. Three ways, all ending in one line, BP_PLUGINS(...):
//
//   BP_PLUGINS(bp::Env<T>)        T is ONE row; the layer walks rows, seeds, buffers and snapshots. The usual way.
//   BP_PLUGINS(bp::MultiEnv<T>)   T is ONE row of SEVERAL AGENTS; the same layer; see env_agents.hpp.
//   BP_PLUGINS(bp::EnvBatch<B>)   B holds ALL rows and works on ranges of them: odd channels, SIMD.
//
// What T offers (templates/env/cpp is a complete example):
//   static constexpr bp::About kAbout{"env.name", "1.0.0", "One sentence."};
//   struct Model { double dt = 0.05; };                          // what all rows share, const; may be absent
//   static constexpr bp::OptionTable kOptions{bp::Opt("dt", &Model::dt, ...)};   // options.hpp; may be absent
//   using Action = int32_t;                                      // float if absent
//   static bp::EnvSpec Spec(const Model&);                       // OBS float32, one ACTION, INFO; the rest is added
//   void Reset(const Model&, bp::Rng&, float* obs);              // obs [n_obs]
//   bp::StepResult Step(const Model&, bp::Rng&, const Action* action, float* obs, float* info);
// action [n_action], obs [n_obs] and info [n_info] are valid for the call; write all of obs and info. A row that is not
// trivially copyable is constructed from (const Model&) and, to offer snapshots, has
//   static uint64_t StateBytes(const Model&); void Save(const Model&, void*) const; void Load(const Model&, const void*);
// and Model has `uint64_t Key() const`, a number that differs where states do not fit. A Model that is more than its options
// has a struct of its own for these, and Model(const Options&).
//
// What B offers: kAbout, kOptions, B(const Options&, uint64_t rows), or B(const bp_host*, const Options&, uint64_t rows) to log
// and record facts when it is made (without kOptions: B(uint64_t rows)), EnvSpec Spec() const, and, with absolute rows,
//   void Reset(const bp::Slot&, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
//   void Step(const bp::Slot&, uint64_t begin, uint64_t end);
// A channel's numbers are had by the handle that its spec gave, which knows their type:
//   bp::EnvSpec spec_;                                          // in this order; Spec() returns it
//   bp::Handle<uint8_t> mask_ = spec_.Add<uint8_t>({.role = BP_ROLE_ACTION_MASK, .name = "action_mask", .shape = {9}});
//   std::span<uint8_t> mask = slot.Row(mask_, row);
// and for snapshots uint64_t StateBytes() const, Save(row, void*) const, Load(row, const void*), uint64_t StateKey() const.
// If the states of rows have no fixed size, all of B's instead of snapshots (ext/state.h):
//   void SaveState(const bp::Writer&);  void LoadState(const bp::Reader&);
//   bool KeepsState() const;                                     // whether this instance can; may be absent
// B may reset itself: BP_FLAG_NATIVE_AUTORESET | BP_FLAG_OWNS_TIME_LIMIT in kAbout.flags, kRowsConcurrent = false, and
//   void NextSeeds(uint64_t per_row, const uint64_t* seeds);   // ext/autoreset.h
// If Spec().Device(...) is not the CPU, B offers the calls of ext/memory.h, throwing instead of a status:
//   void* Allocate(uint64_t bytes), void Release(void*), ToHost(host, device, bytes), ToDevice(device, host, bytes),
//   Copy(to, from, bytes), Gather(to, from, bytes_each, n, indices).
//
// A B that is a data set (ext/source.h) has
//   uint64_t Items() const;                                      // of an epoch
//   void Read(uint64_t seed, uint64_t first, uint64_t n, const bp::Slot&);   // into rows 0 .. n-1; Has() is true for the
//   channels
//
// For films of episodes (ext/render.h) B draws its rows, as the inside of an <svg> unless `kPictureFormat` is BP_RENDER_PNG:
//   bp::PictureSize SizeOfPicture() const;
//   void DrawBackdrop(uint64_t row, std::string* out);           // what stays for the episode; may be absent
//   void DrawFrame(uint64_t row, std::string* out);
//   bool DrawsPictures() const;                                  // whether this instance does; may be absent
//   double SecondsOfStep() const;                                // of simulated time (ext/clock.h); may be absent
// and T, static SizeOfPicture(const Model&), static SecondsOfStep(const Model&), DrawBackdrop(const Model&, std::string*)
// const, DrawFrame(likewise) const.
//
// For states by name (ext/inject.h), {{"qpos", 15}, {"qvel", 14}}, B has
//   std::vector<bp::StatePart> StateParts() const;
//   void GetState(uint64_t row, double* out) const;              // all parts, one after the other
//   void SetState(uint64_t row, const double* values, const bp::Slot&);   // and writes the row's observation
// and T, static StateParts(const Model&), GetState(const Model&, double*) const, SetState(const Model&, const double*, float*
// obs).
//
// Both keep their own state and never read OBS back. Several threads step rows at the same time, on disjoint ranges, so a row
// touches nothing shared but the const Model; `static constexpr bool kRowsConcurrent = false` in T or B turns that off.
// A name of these with another signature does not compile.
// Errors are thrown as bp::Error. Step neither allocates nor locks.
#pragma once

#include "backplane/env_agents.hpp"
#include "backplane/env_batch.hpp"
#include "backplane/env_rows.hpp"
