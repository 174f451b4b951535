// Starts waiting trials while resources are free.
#pragma once

#include <optional>
#include <utility>

#include "batch/batch_state.hpp"
#include "batch/engine.hpp"
#include "batch/job_table.hpp"
#include "batch/resource_pool.hpp"
#include "batch/search_driver.hpp"
#include "batch/settler.hpp"

namespace backplane {

class Launcher {
 public:
  Launcher(BatchState* state, Engine* engine, ResourcePool* resource_pool, JobTable* jobs, SearchDriver* search,
           Settler* settler)
      : state_(*state), engine_(*engine), resource_pool_(*resource_pool), jobs_(*jobs), search_(*search), settler_(*settler) {}

  void Launch();

 private:
  std::optional<size_t> NextTrial();
  void Start(size_t trial, const LoadedExperiment& loaded, const Allocation& allocation);
  void Record(size_t trial, const Attempt& attempt, Allocation allocation);

  BatchState& state_;
  Engine& engine_;
  ResourcePool& resource_pool_;
  JobTable& jobs_;
  SearchDriver& search_;
  Settler& settler_;
  std::optional<std::pair<size_t, LoadedExperiment>> next_;  // waits for free resources
};

}  // namespace backplane
