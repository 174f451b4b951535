// What a process that loads plugins does before it loads them.
#pragma once

namespace backplane {

// Settings of the C library's allocator, and of libraries that would start threads of their own. Once, before there are
// threads.
void PrepareForPlugins();

}  // namespace backplane
