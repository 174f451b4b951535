// Runs trials on the nodes of a Ray cluster: one task per trial, which runs a worker. A small Python driver (ray_driver.py) in
// a child process talks to Ray.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cluster/engine_needs.hpp"
#include "cluster/folder_engine.hpp"

namespace backplane {

class RayEngine : public FolderEngine {
 public:
  // Starts the driver, which joins the cluster. Throws std::runtime_error with a sentence if the package or the cluster is
  // missing.
  explicit RayEngine(const EngineRequest& request);
  ~RayEngine() override;
  static std::string WhyNot(const EngineConfig& config);  // see WhyNoEngine

  std::string Open(const std::function<void()>& meanwhile) override;
  std::string WhyWaiting() override;
  size_t at_once() const { return at_once_; }

 private:
  class Driver;
  struct DriverLine;

  void RequireRoom(const nlohmann::json& ready);
  void Ordered(const WorkOrder& order) override;
  std::vector<Lost> FindLost() override;

  EngineRequest request_;
  std::unique_ptr<Driver> driver_;
  std::vector<Lost> lost_;
  std::map<JobId, std::chrono::steady_clock::time_point> done_;  // tasks that ended, and when their end was seen
  size_t at_once_ = 1;
  std::string ray_job_, why_waiting_;
};

}  // namespace backplane
