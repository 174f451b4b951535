// Rows that are envs written in Python, run by env processes. The request contains the type of the envs and their name or file;
// the program in worker/ interprets it.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "backplane/env.hpp"
#include "python_env/observation_bounds.hpp"
#include "python_env/workers.hpp"

namespace backplane::python_env {

class PythonEnv {
 public:
  static constexpr bool kRowsConcurrent = false;  // the env processes already run in parallel
  static constexpr uint32_t kPictureFormat = BP_RENDER_PNG;

  // `request`: a JSON object; the constructor adds the rows and the worker.
  PythonEnv(const bp_host* host, const std::string& python, double timeout_s, const nlohmann::json& request, uint64_t rows);
  ~PythonEnv();

  const bp::EnvSpec& Spec() const { return spec_; }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end);
  // Rows that have `first` values start their next episode within the step that ends one, with these seeds.
  void NextSeeds(uint64_t per_row, const uint64_t* seeds);

  bool StepsWhole() const { return steps_whole_; }
  bool KeepsState() const { return keeps_state_; }
  void SaveState(const bp::Writer& writer);
  void LoadState(const bp::Reader& reader);

  bool DrawsPictures() const { return draws_; }
  bp::PictureSize SizeOfPicture();
  void DrawFrame(uint64_t row, std::string* out);
  double SecondsOfStep() const { return step_s_; }

 private:
  using AnyHandle = std::variant<bp::Handle<float>, bp::Handle<const float>, bp::Handle<uint8_t>, bp::Handle<const uint8_t>,
                                 bp::Handle<const int32_t>>;
  // A channel and the offset of its array in the shared memory.
  struct Shared {
    AnyHandle handle;
    uint16_t role;
    uint64_t row_bytes, offset;
    uint64_t first = 0;  // offset of the next episodes' first values; 0: the rows do not start episodes by themselves
  };

  void AddChannel(const nlohmann::json& said);
  void CheckObservations(uint64_t begin, uint64_t end, const uint8_t* mask);
  void MakeMemory(bool records);
  void RecordFacts(const nlohmann::json& said);
  char* At(uint64_t offset, uint64_t bytes, uint64_t row) const { return memory_ + offset + bytes * place_[row]; }
  void Copy(const Shared& shared, uint64_t offset, const bp::Slot& slot, uint64_t begin, uint64_t end,
            const uint8_t* mask) const;
  void Offer(uint64_t row);
  bool HasStarted(uint64_t row, uint64_t seed) const;
  void TakeFirst(uint64_t row);

  const bp_host* host_;
  uint64_t rows_;
  Workers workers_;
  bp::EnvSpec spec_;
  std::vector<Shared> channels_;
  ObservationBounds bounds_;
  std::set<std::string> with_first_;  // names of the channels with `first`
  std::vector<uint64_t> starts_;      // [workers] rows of the workers before
  std::vector<uint64_t> place_;       // [rows] index in an array, in which a worker's rows are adjacent
  char* memory_ = nullptr;
  uint64_t seeds_at_ = 0, mask_at_ = 0, next_seeds_at_ = 0, next_at_ = 0;
  uint64_t seeds_per_row_ = 0;
  std::vector<uint64_t> next_seeds_;  // [rows, seeds_per_row_]
  std::vector<uint64_t> used_seeds_;  // [rows]
  std::vector<uint8_t> to_reset_;     // [rows] mask of the rows that have not started an episode by themselves
  std::string versions_;
  bool steps_whole_, keeps_state_ = false, draws_ = false;
  double step_s_ = 0;
};

}  // namespace backplane::python_env
