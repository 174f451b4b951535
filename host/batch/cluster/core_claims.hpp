// Which cores of this machine a worker keeps its trials to, where the cluster does not say: several workers of a cluster may
// share a machine, and each must leave the others theirs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace backplane {

// Cores held by locks of files, one for each, that all workers of this user on this machine know; freed when it is destroyed
// or its process ends.
class CoreClaims {
 public:
  // Of `cpus`, which the kernel lets this process use. Those themselves where they are no more than `wanted`: then somebody has
  // given them to us alone. None if fewer than `wanted` are free, or if `folder` is not this user's own. The trials then run
  // on any core.
  CoreClaims(const std::vector<int>& cpus, size_t wanted, const std::filesystem::path& folder = DefaultFolder());
  ~CoreClaims();
  CoreClaims(const CoreClaims&) = delete;

  const std::vector<int>& cores() const { return cores_; }

  static std::filesystem::path DefaultFolder();

 private:
  void Release();

  std::vector<int> cores_, fds_;
};

}  // namespace backplane
