// Chooses the cores of a worker's trials if the cluster does not. Several workers may share a machine, so each claims its own
// cores.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace backplane {

// Cores held by file locks, one per core, visible to all of this user's workers on the machine. Destruction or the end of the
// process releases them.
class CoreClaims {
 public:
  // Claims `wanted` of `cpus`, which the kernel allows for this process. If there are exactly `wanted`, the cluster has granted
  // them to us, so no lock is needed. Claims none if too few are free or another user owns `folder`; trials then run on any
  // core.
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
