// Turns MuJoCo errors (mju_error) into messages. They end the process unless the log handler escapes by longjmp.
#pragma once

#include <csetjmp>

namespace mj {

// Installs the log handler once; no other code of a plugin may touch it. It catches errors raised inside Catch on the same
// thread, drops warnings (mjData counts them) and passes other errors to the previous handler: each plugin that links this file
// has its own handler, and they form a chain. MUJOCO_LOG.TXT is not written.
void ContainErrors();

// The landing point for errors on this thread; NULL outside Catch.
std::jmp_buf*& Landing();
// The text of the last error caught on this thread.
const char* CaughtText();

// Runs `work`; returns NULL, or the text of the MuJoCo error that ended it (valid until the next one on this thread). `work`
// may only call MuJoCo and must not own objects with destructors, because longjmp skips them. After an error, an mjData only
// supports mj_resetData and mj_deleteData.
template <class Work>
const char* Catch(const Work& work) {
  std::jmp_buf here;
  std::jmp_buf* const outer = Landing();
  if (setjmp(here) != 0) {
    Landing() = outer;
    return CaughtText();
  }
  Landing() = &here;
  work();
  Landing() = outer;
  return nullptr;
}

}  // namespace mj
