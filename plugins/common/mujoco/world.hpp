// What all rows of a MuJoCo task share: the compiled model and the options every such task has.
#pragma once

#include <string>

#include "backplane/env.hpp"
#include "mujoco/model.hpp"

namespace mj {

// A model that a task brings along, and the root joint its formulas rely on.
struct BuiltIn {
  const char* file_name;  // for messages
  std::string xml;
  mjtJoint root;  // type of the first joint
};

// Rows of an option table that are the same in every task; World reads them.
inline constexpr bp_param kFrameSkip =
    bp::I64("frame_skip", "5", "[1,1000]", "Simulation steps of the model's timestep per env step; cost grows with it.");
inline constexpr bp_param kMaxEpisodeSteps =
    bp::I64("max_episode_steps", "1000", "[1,)", "The host ends an episode after so many steps.");
inline constexpr bp_param kXmlPath =
    bp::Path("xml_path", "''", "MJCF file to use in place of the built-in model; empty: built in.",
             {.flags = BP_PARAM_DATA | BP_PARAM_AFFECTS_SPEC});

// Immutable once made, so rows on all threads read it.
class World {
 public:
  // Reads the three options above, `reset_noise_scale` and `exclude_current_positions_from_observation`. Throws bp::Error
  // (BP_E_CONFIG) for a model that does not load or lacks the root joint or actuators with a ctrlrange.
  World(const bp::Config& config, const BuiltIn& built_in);

  const mjModel* model() const { return model_.get(); }
  int nq() const { return static_cast<int>(model_->nq); }
  int nv() const { return static_cast<int>(model_->nv); }
  int nu() const { return static_cast<int>(model_->nu); }
  int nbody() const { return static_cast<int>(model_->nbody); }
  uint64_t Key() const { return fingerprint_; }
  double dt() const { return model_->opt.timestep * static_cast<double>(frame_skip); }  // s per env step

  // Number of a body given by its name or number. Throws bp::Error (BP_E_CONFIG) that names `option`.
  int Body(const char* option, const std::string& name) const;
  // Throws bp::Error (BP_E_CONFIG) that names the file unless `holds`.
  void Require(bool holds, const std::string& wanted, const std::string& found) const;

  const int64_t frame_skip, max_episode_steps;
  const double reset_noise_scale;
  const bool exclude_current_positions;

 private:
  std::string name_;  // the file, or the built-in model
  Model model_;
  uint64_t fingerprint_;
};

// Throws bp::Error (BP_E_CONFIG) unless low <= high; the options are named low and high.
void RequireOrder(const bp::Config& config, const char* low, const char* high);

}  // namespace mj
