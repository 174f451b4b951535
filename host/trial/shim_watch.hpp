// What ties a trial to its shim: when that is gone without a word, killed together with the supervisor, nobody else is left
// to end the trial and what it has started.
#pragma once

namespace backplane {

// Takes the link from the environment, and keeps it from what this process starts. From now on the end of the shim ends,
// within a second and by SIGKILL, this process and what it has started: all of its control group or, without one, what is in
// its session or below it. Nothing happens where no shim has started this process. [main thread, before any other]
void WatchShim();

}  // namespace backplane
