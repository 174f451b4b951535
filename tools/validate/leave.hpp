// The end of a process in which a case runs.
#pragma once

namespace backplane {

// Runs the destructors of static objects, the plugin's among them, and ends the process; the case has PASSED if they let it.
// Ends the case as SKIPPED where it shares its process with others.
[[noreturn]] void LeaveByExit();

}  // namespace backplane
