// Ownership of mjModel and mjData, and loading with errors that a reader understands.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>

namespace mj {

struct Deleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using Model = std::unique_ptr<mjModel, Deleter>;
using Data = std::unique_ptr<mjData, Deleter>;

// Compiles a model. Throws bp::Error with MuJoCo's own words: BP_E_CONFIG for a file, which `option` named; BP_E_INTERNAL for a
// text.
Model LoadFile(const std::string& option, const std::string& path);
Model LoadText(const std::string& name, const std::string& xml);

// Throws bp::Error when there is no memory.
Data MakeData(const mjModel* model);

// A number that differs for models of different compiled content and for different MuJoCo versions.
uint64_t Fingerprint(const mjModel* model);

}  // namespace mj
