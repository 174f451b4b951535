#include "batch/search_driver.hpp"

#include <utility>

#include "record/plan_file.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {

SearchDriver::SearchDriver(BatchState* state, ResourcePool* resource_pool, std::function<bool()> tick)
    : state_(*state),
      resource_pool_(*resource_pool),
      tick_(std::move(tick)),
      search_(state->plan.search ? std::make_unique<BatchSearch>(&state->plan, state->request.out) : nullptr) {}

bool SearchDriver::IsAsked() const { return search_ && !state_.only.any() && !search_->IsOver(state_.log->record().search); }

void SearchDriver::RefuseFile(const std::string& why) {
  state_.report.refused = why;
  state_.report.refused_file = true;
}

bool SearchDriver::GoOn() {
  if (!search_) return true;
  const SearchRecord& known = state_.log->record().search;
  if (const std::string why = search_->WhyNotTheSame(known); !why.empty()) {
    RefuseFile(why);
    return false;
  }
  search_->Regrow(known);
  state_.TakeInNew();
  return !IsAsked() || Start(known);
}

bool SearchDriver::Start(const SearchRecord& known) {
  if (!search_) return true;
  if (state_.request.adopt_history) search_->AdoptHistory();
  try {
    search_->Start(known, state_.folder().search_log(), {state_.plan.base.experiment.resources.hang_timeout_s, tick_});
  } catch (const SearchDiffers& differs) {
    state_.report.refused = differs.what();
  } catch (const SearchError& error) {
    if (state_.stopping()) return false;
    RefuseFile(std::string(error.what()) + "\nnothing was started\n");
  }
  return state_.report.refused.empty();
}

bool SearchDriver::Begin(int direction) {
  if (!IsAsked()) return true;
  try {
    search_->Begin(state_.log.get(), direction);
    search_->TellEnded(state_.schedule);
    return true;
  } catch (const SearchError& error) {
    if (!state_.stopping()) RefuseFile(std::string(error.what()) + "\nnothing was started\n");
    return false;
  }
}

template <class Ask>
void SearchDriver::AskOrPause(Ask ask) {
  if (!search_) return;
  try {
    ask();
  } catch (const ObjectiveError& error) {
    state_.Pause(PauseReason::kObjective, error.what());
  } catch (const SearchError& error) {
    state_.Pause(PauseReason::kSearch, error.what());
  }
}

bool SearchDriver::HasRoom() {
  const ResourceConfig& resources = state_.plan.base.experiment.resources;
  const auto room = resource_pool_.Take(resources, resources.exclusive);
  if (room) resource_pool_.Give(*room);
  return room.has_value();
}

bool SearchDriver::Grow() {
  if (!search_ || state_.only.any() || state_.stopping()) return false;
  bool grown = false;
  if (search_->WantsMore()) {
    if (!HasRoom()) return false;
    AskOrPause([&] { grown = search_->Grow(state_.schedule); });
  }
  if (!grown && !search_->WantsMore()) grown = search_->Confirm();
  if (!grown) return false;
  state_.TakeInNew();
  WritePlanFile(state_.folder().plan(), PlanLines(state_.plan));
  state_.watch->Watch(state_.folder().plan());
  state_.database->Grow(PlanLines(state_.plan), state_.log->record());
  TellEnded();
  return true;
}

void SearchDriver::TellEnded() {
  AskOrPause([this] { search_->TellEnded(state_.schedule); });
}

void SearchDriver::Look(const JobTable& jobs) {
  AskOrPause([&] { search_->Look(jobs); });
}

}  // namespace backplane
