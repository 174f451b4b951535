#include "mujoco/errors.hpp"

#include <mujoco/mujoco.h>

#include <cstdio>

namespace mj {
namespace {

thread_local std::jmp_buf* landing = nullptr;
thread_local char caught[sizeof(mjLogMessage::subject)] = "";
mjfLogHandler previous = nullptr;

void OnMessage(const mjLogMessage* message) {
  if (message->level < mjLOG_ERROR) return;
  if (landing) {
    std::snprintf(caught, sizeof caught, "%s", message->subject);
    std::longjmp(*landing, 1);
  }
  if (previous) previous(message);
}

}  // namespace

void ContainErrors() {
  static const bool installed = [] {
    previous = mju_setLogHandler(OnMessage);
    return true;
  }();
  static_cast<void>(installed);
}

std::jmp_buf*& Landing() { return landing; }
const char* CaughtText() { return caught; }

}  // namespace mj
