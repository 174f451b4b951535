// worker.py as it was when the plugin was built: a part of the plugin's file, so that the file's hash stands for both.
#pragma once

namespace backplane::python_env {

extern const char* const kWorkerSource;

}  // namespace backplane::python_env
