// The nodes of a Ray cluster: a task for each trial, which runs a worker for it. Ray is spoken to by a small driver in Python
// (ray_driver.py), a process beside this one.
#pragma once

#include <memory>

#include "cluster/engine_needs.hpp"
#include "cluster/folder_engine.hpp"

namespace backplane {

class RayEngine : public FolderEngine {
 public:
  // Begins the driver, which joins the cluster. Throws std::runtime_error with a sentence if there is no package or no cluster.
  explicit RayEngine(const EngineRequest& request);
  ~RayEngine() override;
  static std::string WhyNot(const EngineConfig& config);  // as WhyNoEngine says

  std::string Open() override;
  size_t at_once() const { return at_once_; }

 private:
  class Driver;
  struct DriverLine;

  void Ordered(const WorkOrder& order) override;
  std::vector<Lost> FindLost() override;

  EngineRequest request_;
  std::unique_ptr<Driver> driver_;
  std::vector<Lost> lost_;
  std::map<JobId, std::chrono::steady_clock::time_point> done_;  // tasks that ended, and when we heard of it
  size_t at_once_ = 1;
  std::string ray_job_;
};

}  // namespace backplane
