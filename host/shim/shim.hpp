// backplane-shim: the tiny process above each trial, so that nothing a trial started outlives it, nor the supervisor.
//
// The shim is a subreaper: orphans of the trial become its children, also those that called setsid. So it can end them all:
// when the trial ends, at a signal, and when the supervisor dies, because the kernel then sends it SIGTERM. Signals:
//   SIGTERM  the trial's group gets SIGTERM and, after the grace, SIGKILL; what of it is stopped is continued
//   SIGQUIT  the trial's group gets SIGKILL
//   SIGUSR1  passed on to every thread of the trial
// It also kills a trial that gives no sign of life for ShimOrder::silence_limit_s (silence_watch.hpp). A killed trial that
// does not end within 5 s waits for a disk. The shim reports that and ends; the kernel ends the trial when the disk answers.
// SIGINT and SIGHUP are ignored: the terminal's Ctrl-C is the supervisor's. Only the shim keeps the inherited descriptors
// open, until all processes of the trial have ended: a lock among them is held that long. Its own stdout and stderr are the
// trial's log files; the output of the trial comes to it through pipes (log_pipe.hpp).
#pragma once

#include <string>
#include <vector>

namespace backplane {

// The signals a shim takes. An engine starts it with these blocked, so that none can come too early.
std::vector<int> ShimSignals();

// `arguments`: an order (shim_protocol.hpp). Returns the exit code; how the trial ended is in the report.
// [the main thread of a process with no other thread]
int RunShim(const std::vector<std::string>& arguments);

}  // namespace backplane
