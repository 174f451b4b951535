// Ends a case process.
#pragma once

namespace backplane {

// Runs the destructors of static objects, including the plugin's, and ends the process. The case has PASSED if they succeed.
// Ends the case as SKIPPED if it shares its process with others.
[[noreturn]] void LeaveByExit();

}  // namespace backplane
