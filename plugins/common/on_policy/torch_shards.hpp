// A minibatch's gradient by LibTorch as a sum over shards, each with its own gradient and perhaps its own device, and over
// parts of a shard that does not fit into the device's memory.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "backplane/parallel.hpp"
#include "on_policy/clipped_loss.hpp"
#include "on_policy/parts.hpp"
#include "on_policy/shards.hpp"
#include "on_policy/torch_net.hpp"
#include "torch/at_device.hpp"
#include "torch/device.hpp"
#include "torch/errors.hpp"

namespace backplane::on_policy {

// The parameters on a device, with the gradient of one shard.
struct Replica {
  at::Device device;
  at::Tensor gradient;
  TensorOf leaf;
};

class TorchShards {
 public:
  // Shard k computes on devices[k mod their number]. A minibatch with enough work has `most` shards; their number decides the
  // bits, and the number of devices does not.
  TorchShards(const bp_host* host, std::vector<bp_device> devices, int64_t most)
      : host_(host), devices_(std::move(devices)), most_shards_(static_cast<size_t>(most)) {}

  at::Device first() const { return torch_common::DeviceOf(devices_.front()); }
  // False: BP_E_OOM_DEVICE is the caller's (on_failure.device_oom).
  void AllowSmaller(bool allowed) { allowed_ = allowed; }

  // Writes the gradient [size] at `params`, divided by `scale`, into `out`. prepare() runs before each try on the caller's
  // thread. piece(replica, begin, end, weight) adds the gradient of weight * scale * (mean loss of samples [begin, end)), on
  // any thread; the weights of all pieces sum to 1. Returns the weighted sums of their statistics. Out of memory, it tries
  // again with smaller pieces.
  template <class T, class Prepare, class Piece>
  StepStats Gradient(int64_t n, int64_t size, const T* params, double scale, T* out, Prepare&& prepare, Piece&& piece) {
    const at::Tensor flat = at::from_blob(const_cast<T*>(params), {size}, c10::CppTypeToScalarType<T>::value);
    for (;;) {
      try {
        return torch_common::WithTorchErrors([&] {
          prepare();
          std::vector<Replica> replicas = Replicas(RunsFor(n, size, most_shards_), flat);
          const StepStats sum = Sum(n, &replicas, piece);
          at::Tensor& total = replicas[0].gradient;
          for (size_t k = 1; k < replicas.size(); ++k) total.add_(replicas[k].gradient.to(replicas[0].device));
          if (scale != 1) total.mul_(1 / scale);
          at::from_blob(out, {size}, flat.options()).copy_(total);
          return sum;
        });
      } catch (const bp::Error& e) {
        if (e.code() != BP_E_OOM_DEVICE || !allowed_) throw;
        const int64_t shards = RunsFor(n, size, most_shards_), largest = (n + shards - 1) / shards;
        Shrink(most_ > 0 ? std::min(most_, largest) : largest, e.what());
      }
    }
  }

 private:
  std::vector<Replica> Replicas(int64_t shards, const at::Tensor& flat) const {
    std::vector<Replica> replicas;
    for (int64_t k = 0; k < shards; ++k) {
      const at::Device device = torch_common::DeviceOf(devices_[static_cast<size_t>(k) % devices_.size()]);
      const at::Tensor gradient = at::zeros(flat.sizes(), flat.options().device(device));
      replicas.push_back({device, gradient, LeavesOf(flat.to(device), gradient)});
    }
    return replicas;
  }

  template <class Piece>
  StepStats Sum(int64_t n, std::vector<Replica>* replicas, Piece&& piece) const {
    const auto shards = static_cast<int64_t>(replicas->size());
    std::vector<StepStats> sums(replicas->size());
    const auto run = [&](uint64_t k) {
      torch_common::WithTorchErrors([&] {
        const Part shard = PartOf(n, shards, static_cast<int64_t>(k));
        const int64_t samples = shard.end - shard.begin, parts = most_ > 0 ? PartsOfAtMost(most_, samples) : 1;
        for (int64_t i = 0; i < parts; ++i) {
          const Part part = PartOf(samples, parts, i);
          const double weight = static_cast<double>(part.end - part.begin) / static_cast<double>(n);
          sums[k].Add(weight, piece((*replicas)[k], shard.begin + part.begin, shard.begin + part.end, weight));
        }
      });
    };
    shards == 1 ? run(0) : bp::ParallelFor(host_, replicas->size(), run);
    for (size_t k = 1; k < sums.size(); ++k) sums[0].Add(1, sums[k]);
    return sums[0];
  }

  void Shrink(int64_t largest, const std::string& why) {
    if (largest == 1) throw bp::Error(BP_E_OOM_DEVICE, "not even one sample at a time fits into the device's memory: " + why);
    most_ = (largest + 1) / 2;
    for (const bp_device device : devices_) torch_common::EmptyCache(device);
    host_->log(
        host_, BP_LOG_WARN,
        (std::to_string(largest) + " samples did not fit into the device's memory, so gradients are summed over parts of " +
         std::to_string(most_) + "; the updates are the same, but slower; a smaller minibatch_size changes them")
            .c_str());
  }

  const bp_host* host_;
  std::vector<bp_device> devices_;
  size_t most_shards_;
  bool allowed_ = true;
  int64_t most_ = 0;  // samples of a shard at a time; 0: all
};

}  // namespace backplane::on_policy
