// The mjData of all rows, one per thread instead of one per row. A row loads its state into the slot of the thread that steps
// it, and saves it afterwards. So the working set of a step stays in that core's caches (decision 54).
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "mujoco/model.hpp"

namespace mj {

struct DataSlot {
  Data data;
  std::atomic<pthread_t> owner{};  // the only thread that may use the other members; {}: none
  uint64_t row = 0;                // the row whose simulation `data` holds; 0: none

  bool IsMine() const { return pthread_equal(owner.load(std::memory_order_relaxed), pthread_self()); }
};

// The pool for all rows of a model. A thread acquires a slot on first use and frees it when it ends.
class DataPool : public std::enable_shared_from_this<DataPool> {
 public:
  // The pool shared by the model's rows. The first row creates it, the last one destroys it before the model ends.
  static std::shared_ptr<DataPool> Of(const mjModel* model);
  explicit DataPool(const mjModel* model) : model_(model) {}

  // This thread's slot. Locks and allocates only on first use. Throws bp::Error if there is no memory.
  DataSlot& Mine();
  uint64_t NewRow() { return ++rows_; }
  // Called when a thread ends.
  static void Leave(DataSlot& slot) { slot.owner.store({}, std::memory_order_release); }

 private:
  DataSlot& Take();

  const mjModel* const model_;
  std::atomic<uint64_t> rows_{0};  // number created
  std::mutex mutex_;
  std::vector<std::unique_ptr<DataSlot>> pool_;  // guarded by mutex_
};

// True if mjSTATE_INTEGRATION contains everything that a step passes to the next. MuJoCo's plugins keep their own data, flexes
// a history of contacts, and sleep is not part of the state; such rows have an mjData each.
bool StateIsWhole(const mjModel* model);

}  // namespace mj
