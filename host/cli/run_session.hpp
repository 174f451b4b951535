// Turns a plan into a running batch, with the resource pool and the engine that its file names. Every command that runs trials
// uses it.
#pragma once

#include <optional>

#include "batch/batch.hpp"
#include "batch/resource_pool.hpp"
#include "cli/commands.hpp"

namespace backplane {

class RunSession {
 public:
  // `plan` belongs to args.input.file. Without args.out, the results go to the plan's own folder.
  RunSession(const RunArgs& args, Plan plan);

  // Prints notes about the requested resources. Returns false after it printed why the trials can never start here.
  bool FindRoom();
  bool is_elsewhere() const;  // the trials run on other machines
  // What there is to grant, without a start of anything. Needs FindRoom.
  ResourcePool pool() const;
  // Returns nothing after it printed why there is no engine for the trials. Needs FindRoom. Can be called again.
  std::optional<BatchReport> Run();

  BatchRequest request;

 private:
  ResourcePool SlotsFor(size_t at_once) const;

  ResourceLimits limits_;
  std::optional<ResourcePool> here_;  // of this machine, if the trials run on it
};

}  // namespace backplane
