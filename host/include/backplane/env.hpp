// C++ authoring of envs in three ways, each ending in one line, BP_PLUGINS(...):
//
//   BP_PLUGINS(bp::Env<T>)        T is ONE row; the layer adds rows, seeds, buffers and snapshots. The usual way.
//   BP_PLUGINS(bp::MultiEnv<T>)   T is ONE row of SEVERAL AGENTS; the same layer; see env_agents.hpp.
//   BP_PLUGINS(bp::EnvBatch<B>)   B contains ALL rows and steps ranges of them: custom channels, SIMD.
//
// Members of T (templates/env/cpp is a complete example):
//   static constexpr bp::About kAbout{"env.name", "1.0.0", "One sentence."};
//   struct Model { double dt = 0.05; };                          // shared by all rows, const; optional
//   static constexpr bp::OptionTable kOptions{bp::Opt("dt", &Model::dt, ...)};   // options.hpp; optional
//   using Action = int32_t;                                      // float if absent
//   static bp::EnvSpec Spec(const Model&);                       // OBS float32, one ACTION, INFO; the rest is added
//   void Reset(const Model&, bp::Rng&, float* obs);              // obs [n_obs]
//   bp::StepResult Step(const Model&, bp::Rng&, const Action* action, float* obs, float* info);
// action [n_action], obs [n_obs] and info [n_info] are valid for the call; write all of obs and info. A row that is not
// trivially copyable is constructed from (const Model&) and, to support snapshots, has
//   static uint64_t StateBytes(const Model&); void Save(const Model&, void*) const; void Load(const Model&, const void*);
// and Model has `uint64_t Key() const`, a number that differs if states are incompatible. A Model with more than options
// has a separate struct Options and a constructor Model(const Options&).
//
// Members of B: kAbout, kOptions, B(const Options&, uint64_t rows), or B(const bp_host*, const Options&, uint64_t rows) to log
// and record facts in the constructor (without kOptions: B(uint64_t rows)), EnvSpec Spec() const, and, with absolute rows,
//   void Reset(const bp::Slot&, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
//   void Step(const bp::Slot&, uint64_t begin, uint64_t end);
// Access a channel's numbers by the typed handle from its spec:
//   bp::EnvSpec spec_;                                          // in this order; Spec() returns it
//   bp::Handle<uint8_t> mask_ = spec_.Add<uint8_t>({.role = BP_ROLE_ACTION_MASK, .name = "action_mask", .shape = {9}});
//   std::span<uint8_t> mask = slot.Row(mask_, row);
// and for snapshots uint64_t StateBytes() const, Save(row, void*) const, Load(row, const void*), uint64_t StateKey() const.
// If the states of rows have no fixed size, save the whole B instead of snapshots (ext/state.h):
//   void SaveState(const bp::Writer&);  void LoadState(const bp::Reader&);
//   bool KeepsState() const;                                     // false if this instance cannot; optional
// B may reset itself: BP_FLAG_NATIVE_AUTORESET | BP_FLAG_OWNS_TIME_LIMIT in kAbout.flags, kRowsConcurrent = false, and
//   void NextSeeds(uint64_t per_row, const uint64_t* seeds);   // ext/autoreset.h; without the flag: seeds of coming resets
//   bool StepsWhole() const;                                   // ext/batch.h
// If Spec().Device(...) is not the CPU, B has the calls of ext/memory.h, which throw instead of returning a status:
//   void* Allocate(uint64_t bytes), void Release(void*), ToHost(host, device, bytes), ToDevice(device, host, bytes),
//   Copy(to, from, bytes), Gather(to, from, bytes_each, n, indices).
//
// A B that is a data set (ext/source.h) has
//   uint64_t Items() const;                                      // per epoch
//   void Read(uint64_t seed, uint64_t first, uint64_t n, const bp::Slot&);   // into rows 0 .. n-1; Has() is true for the
//   channels
//
// For films of episodes (ext/render.h) B draws its rows, as the content of an <svg> unless `kPictureFormat` is BP_RENDER_PNG:
//   bp::PictureSize SizeOfPicture() const;
//   void DrawBackdrop(uint64_t row, std::string* out);           // constant during an episode; optional
//   void DrawFrame(uint64_t row, std::string* out);
//   bool DrawsPictures() const;                                  // false if this instance does not; optional
//   double SecondsOfStep() const;                                // of simulated time (ext/clock.h); optional
// and T has static SizeOfPicture(const Model&), static SecondsOfStep(const Model&), DrawBackdrop(const Model&, std::string*)
// const and DrawFrame(const Model&, std::string*) const.
//
// For states by name (ext/inject.h), {{"qpos", 15}, {"qvel", 14}}, B has
//   std::vector<bp::StatePart> StateParts() const;
//   void GetState(uint64_t row, double* out) const;              // all parts, concatenated
//   void SetState(uint64_t row, const double* values, const bp::Slot&);   // also writes the row's observation
// and T has static StateParts(const Model&), GetState(const Model&, double*) const and SetState(const Model&, const double*,
// float* obs).
//
// For physical parameters that a person may scale (ext/parameters.h), B, or the Model of T, has
//   std::vector<bp::Parameter> Parameters() const;               // {{"mass", "Mass of all bodies."}}
//   void ScaleParameter(uint64_t i, double factor);              // of the value at creation; bp::Error for a bad factor
//
// For names and units of the numbers in a channel (ext/labels.h), which an exported policy lists, B has
//   std::vector<bp::Label> Labels(std::string_view channel) const;   // {{"position", "m"}, {"velocity", "m/s"}}; {}:
//   undeclared
// and T has static Labels(const Model&, std::string_view channel).
//
// Both keep their own state and never read OBS back. Several threads step disjoint ranges of rows at the same time, so a row
// may only share the const Model; `static constexpr bool kRowsConcurrent = false` in T or B disables that. A member with one of
// these names but a different signature does not compile. Throw errors as bp::Error. Step must neither allocate nor lock.
#pragma once

#include "backplane/env_agents.hpp"
#include "backplane/env_batch.hpp"
#include "backplane/env_rows.hpp"
