// Shared by all rows of a MuJoCo task: common options and the compiled model.
#pragma once

#include <filesystem>
#include <string>

#include "backplane/env.hpp"
#include "mujoco/model.hpp"
#include "mujoco/scales.hpp"

namespace mj {

// A task's own model, and the root joint that its formulas require.
struct BuiltIn {
  const char* file_name;  // for messages
  std::string xml;
  mjtJoint root;  // required type of the first joint
};

// Base of every task's options, with the declarations that are equal in each table.
struct TaskOptions {
  int64_t frame_skip = 5, max_episode_steps = 1000;
  double reset_noise_scale = 0.1;
  bool exclude_current_positions = true;
  std::filesystem::path xml_path;
};
inline constexpr auto kFrameSkip = bp::Opt("frame_skip", &TaskOptions::frame_skip, "[1,1000]",
                                           "Simulation steps of the model's timestep per env step; cost grows with it.");
inline constexpr auto kMaxEpisodeSteps =
    bp::Opt("max_episode_steps", &TaskOptions::max_episode_steps, "[1,)", "Steps after which the host ends an episode.");
inline constexpr auto kXmlPath = bp::Opt("xml_path", &TaskOptions::xml_path, "MJCF file of the model; empty: the built-in one.",
                                         {.flags = BP_PARAM_DATA | BP_PARAM_XML, .aliases = "xml_file"});

// Only ScaleParameter changes it, so rows on all threads can read it.
class CompiledModel {
 public:
  // `xml_path` empty: the built-in model. Throws bp::Error (BP_E_CONFIG) if the model does not load or lacks the root joint or
  // actuators with a ctrlrange.
  CompiledModel(const std::filesystem::path& xml_path, const BuiltIn& built_in);

  const mjModel* model() const { return model_.get(); }
  int nq() const { return static_cast<int>(model_->nq); }
  int nv() const { return static_cast<int>(model_->nv); }
  int nu() const { return static_cast<int>(model_->nu); }
  int nbody() const { return static_cast<int>(model_->nbody); }
  uint64_t Key() const { return fingerprint_; }
  static std::vector<bp::Parameter> Parameters() { return Scales::Parameters(); }
  void ScaleParameter(uint64_t i, double factor) { scales_.Set(model_.get(), i, factor); }

  // The number of a body with this name or number. Throws bp::Error (BP_E_CONFIG) that names `option`.
  int Body(const char* option, const std::string& name) const;
  // Throws bp::Error (BP_E_CONFIG) with the file name unless `holds`.
  void Require(bool holds, const std::string& wanted, const std::string& found) const;

 private:
  std::string name_;  // the file or the built-in model, for messages
  Model model_;
  uint64_t fingerprint_;
  Scales scales_;
};

// `Options` derives from TaskOptions.
template <class Options>
struct World : Options, CompiledModel {
  World(const Options& options, const BuiltIn& built_in) : Options(options), CompiledModel(options.xml_path, built_in) {}
  double dt() const { return model()->opt.timestep * static_cast<double>(this->frame_skip); }  // seconds per env step
};

// Throws bp::Error (BP_E_CONFIG) with both option names unless low <= high.
void RequireOrder(const char* low_name, double low, const char* high_name, double high);

}  // namespace mj
