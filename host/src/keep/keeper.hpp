// backplane-keeper: the tiny process above each trial, so that nothing a trial started outlives it, nor the supervisor.
//
// The keeper is what orphans of the trial are given to (a subreaper), also those that called setsid, and so it can end them
// all: when the trial ends, when it is told to, and when the supervisor dies, of which the kernel tells it by SIGTERM. Told by
// signals:
//   SIGTERM  the trial's group gets SIGTERM and, after the grace, SIGKILL; what of it is stopped is continued
//   SIGQUIT  the trial's group gets SIGKILL
//   SIGUSR1  passed on to every thread of the trial
// It also kills a trial that gives no sign of life for KeepOrder::silence_limit_s (silence_watch.hpp). A killed trial that
// does not end within 5 s waits for a disk. The keeper reports that and ends; the kernel ends the trial when the disk answers.
// SIGINT and SIGHUP are ignored: the terminal's Ctrl-C is the supervisor's. The descriptors it was started with stay open in
// it, and in it alone, until nothing of the trial is left: a lock among them is held that long. Its own stdout and stderr are
// the trial's log files; what the trial prints comes to it through pipes (log_pipe.hpp).
#pragma once

#include <string>
#include <vector>

namespace backplane {

// The signals a keeper takes. An engine starts it with these blocked, so that none can come too early.
std::vector<int> KeeperSignals();

// `arguments`: an order (keep_protocol.hpp). Returns the exit code; how the trial ended is in the report.
// [the main thread of a process with no other thread]
int Keep(const std::vector<std::string>& arguments);

}  // namespace backplane
