// A MuJoCo error (mju_error) ends the process unless the log handler leaves it by longjmp. Here it becomes a sentence.
#pragma once

#include <csetjmp>

namespace mj {

// Installs the log handler once; the sole place in a plugin that touches it. It takes the errors raised inside Catch on the
// same thread, drops warnings (mjData counts them) and hands every other error to the handler that was there before: each
// plugin that links this file has its own handler, and they form a chain. Nothing is written to MUJOCO_LOG.TXT.
void ContainErrors();

// Where an error on this thread lands, NULL outside Catch.
std::jmp_buf*& Landing();
// The text of the last error caught on this thread.
const char* CaughtText();

// Runs `work`; returns NULL, or the text of the MuJoCo error that ended it (valid until the next one on this thread).
// `work` calls MuJoCo only and holds no object with a destructor: longjmp skips it. An mjData that raised an error is fit for
// mj_resetData or mj_deleteData only.
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
