// The programs in worker/ as of the plugin's build: part of the plugin's file, so that the file's hash covers both.
#pragma once

namespace backplane::python_env {

extern const char* const kWorkerSource;   // of env processes
extern const char* const kMonitorSource;  // of monitor.python
extern const char* const kLearnerSource;  // of learner.python

}  // namespace backplane::python_env
