#include "mujoco/desks.hpp"

#include <algorithm>

namespace mj {
namespace {

// A thread's desks of all models. Models end while threads go on, hence weak.
struct Seats {
  struct Seat {
    const Desks* desks;  // only compared
    std::weak_ptr<Desks> alive;
    Desk* desk;
  };
  std::vector<Seat> seats;
  ~Seats() {
    for (const Seat& seat : seats)
      if (const auto desks = seat.alive.lock()) Desks::Leave(*seat.desk);
  }
};
thread_local Seats my_seats;

struct Registry {
  struct Entry {
    const mjModel* model;
    std::weak_ptr<Desks> desks;
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

std::shared_ptr<Desks> Desks::Of(const mjModel* model) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  std::erase_if(registry.entries, [](const Registry::Entry& e) { return e.desks.expired(); });
  for (const Registry::Entry& entry : registry.entries)
    if (entry.model == model)
      if (auto desks = entry.desks.lock()) return desks;
  auto desks = std::make_shared<Desks>(model);
  registry.entries.push_back({model, desks});
  return desks;
}

Desk& Desks::Mine() {
  for (const Seats::Seat& seat : my_seats.seats)
    if (seat.desks == this && !seat.alive.expired()) return *seat.desk;
  std::erase_if(my_seats.seats, [](const Seats::Seat& seat) { return seat.alive.expired(); });
  my_seats.seats.reserve(my_seats.seats.size() + 1);
  Desk& desk = Take();
  my_seats.seats.push_back({this, weak_from_this(), &desk});
  return desk;
}

Desk& Desks::Take() {
  std::lock_guard lock(mutex_);
  for (const auto& desk : desks_)
    if (pthread_equal(desk->owner.load(std::memory_order_acquire), {})) {
      desk->owner.store(pthread_self(), std::memory_order_relaxed);
      return *desk;
    }
  desks_.push_back(std::make_unique<Desk>());
  try {
    desks_.back()->data = MakeData(model_);
  } catch (...) {
    desks_.pop_back();
    throw;
  }
  desks_.back()->owner.store(pthread_self(), std::memory_order_relaxed);
  return *desks_.back();
}

bool StateIsWhole(const mjModel* model) {
  return model->nplugin == 0 && model->nflex == 0 && (model->opt.enableflags & mjENBL_SLEEP) == 0;
}

}  // namespace mj
