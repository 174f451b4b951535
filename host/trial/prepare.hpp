// Prepares a process for loading plugins.
#pragma once

namespace backplane {

// Configures the C library's allocator and libraries that would start their own threads. Call once, before threads exist.
void PrepareForPlugins();

}  // namespace backplane
