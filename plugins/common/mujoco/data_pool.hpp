// Where rows are simulated: one mjData for each thread, in place of one for each row. A row brings its state to the slot of the
// thread that steps it and takes it away again, so that what a step works on stays in that core's caches (decision 54).
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
  std::atomic<pthread_t> owner{};  // the only thread that may use the rest; {} : none
  uint64_t row = 0;                // whose simulation `data` holds; 0: nobody's

  bool IsMine() const { return pthread_equal(owner.load(std::memory_order_relaxed), pthread_self()); }
};

// The pool of all rows of one model. A thread gets one when it first needs it, and leaves it to another when it ends.
class DataPool : public std::enable_shared_from_this<DataPool> {
 public:
  // Those that the model's rows share, made with the first row and gone with the last one, which ends before the model does.
  static std::shared_ptr<DataPool> Of(const mjModel* model);
  explicit DataPool(const mjModel* model) : model_(model) {}

  // This thread's. Neither locks nor allocates but for the first time. Throws bp::Error when there is no memory.
  DataSlot& Mine();
  uint64_t NewRow() { return ++rows_; }
  // For a thread that ends.
  static void Leave(DataSlot& slot) { slot.owner.store({}, std::memory_order_release); }

 private:
  DataSlot& Take();

  const mjModel* const model_;
  std::atomic<uint64_t> rows_{0};  // so many were made
  std::mutex mutex_;
  std::vector<std::unique_ptr<DataSlot>> pool_;  // by mutex_
};

// Whether all that a step carries over to the next one is in mjSTATE_INTEGRATION. MuJoCo's plugins keep data of their own,
// flexes the history of their contacts, and who sleeps is no state either: such a row has an mjData for itself.
bool StateIsWhole(const mjModel* model);

}  // namespace mj
