#include "mujoco/data_pool.hpp"

#include <algorithm>

namespace mj {
namespace {

// A thread's pools for all models; weak, because models can end before threads.
struct Leases {
  struct Lease {
    const DataPool* pool;  // only compared, never dereferenced
    std::weak_ptr<DataPool> alive;
    DataSlot* slot;
  };
  std::vector<Lease> leases;
  ~Leases() {
    for (const Lease& lease : leases)
      if (const auto pool = lease.alive.lock()) DataPool::Leave(*lease.slot);
  }
};
thread_local Leases my_leases;

struct Registry {
  struct Entry {
    const mjModel* model;
    std::weak_ptr<DataPool> pool;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
};
// Never destroyed: rows may end after this file's objects.
Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

std::shared_ptr<DataPool> DataPool::Of(const mjModel* model) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  std::erase_if(registry.entries, [](const Registry::Entry& e) { return e.pool.expired(); });
  for (const Registry::Entry& entry : registry.entries)
    if (entry.model == model)
      if (auto pool = entry.pool.lock()) return pool;
  auto pool = std::make_shared<DataPool>(model);
  registry.entries.push_back({model, pool});
  return pool;
}

DataSlot& DataPool::Mine() {
  for (const Leases::Lease& lease : my_leases.leases)
    if (lease.pool == this && !lease.alive.expired()) return *lease.slot;
  std::erase_if(my_leases.leases, [](const Leases::Lease& lease) { return lease.alive.expired(); });
  my_leases.leases.reserve(my_leases.leases.size() + 1);
  DataSlot& slot = Take();
  my_leases.leases.push_back({this, weak_from_this(), &slot});
  return slot;
}

DataSlot& DataPool::Take() {
  std::lock_guard lock(mutex_);
  for (const auto& slot : pool_)
    if (pthread_equal(slot->owner.load(std::memory_order_acquire), {})) {
      slot->owner.store(pthread_self(), std::memory_order_relaxed);
      return *slot;
    }
  pool_.push_back(std::make_unique<DataSlot>());
  try {
    pool_.back()->data = MakeData(model_);
  } catch (...) {
    pool_.pop_back();
    throw;
  }
  pool_.back()->owner.store(pthread_self(), std::memory_order_relaxed);
  return *pool_.back();
}

bool StateIsWhole(const mjModel* model) {
  return model->nplugin == 0 && model->nflex == 0 && (model->opt.enableflags & mjENBL_SLEEP) == 0;
}

}  // namespace mj
