// The search of a batch, as a session goes: it grows the plan, is told what ended, and pauses the batch if it fails.
#pragma once

#include <functional>
#include <memory>

#include "supervise/batch_search.hpp"
#include "supervise/batch_state.hpp"
#include "supervise/job_table.hpp"
#include "supervise/resource_pool.hpp"

namespace backplane {

// A batch without a search has one that does nothing.
class SearchDriver {
 public:
  // `tick` keeps the batch going while the search computes a reply; false: do not wait for it.
  SearchDriver(BatchState* state, ResourcePool* resource_pool, std::function<bool()> tick);

  // Whether this session asks: a search that is over stays as it is, and so does one of which only some trials are run.
  bool IsAsked() const;
  // Plans again what was suggested, and starts the search where the last session left it. False: it cannot go on from that,
  // and the report says why.
  bool GoOn();
  // Starts it with what is known. False: it failed, and the report says why.
  bool Start(const SearchRecord& known);
  // From here on messages go into the log. `direction`: as BatchSearch::Begin. False: as Start.
  bool Begin(int direction);
  // One more suggestion if a trial could start now, and after the last one what confirms the best. False: the plan is as it was.
  bool Grow();
  void TellEnded();
  void Look(const JobTable& jobs);

  // Trials that there will be, as far as is known: of suggestions, and of the whole batch.
  uint64_t most_searched() const { return search_ ? search_->most_searched() : state_.plan.trials.size(); }
  uint64_t most_trials() const { return search_ ? search_->most_trials() : state_.plan.trials.size(); }

 private:
  template <class Ask>
  void AskOrPause(Ask ask);
  bool HasRoom();
  void RefuseFile(const std::string& why);

  BatchState& state_;
  ResourcePool& resource_pool_;
  std::function<bool()> tick_;
  std::unique_ptr<BatchSearch> search_;  // NULL: all points stand in the file
};

}  // namespace backplane
