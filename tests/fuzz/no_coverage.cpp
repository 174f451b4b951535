// What is compiled with coverage is linked into programs and plugins too that nobody fuzzes. In a fuzzer the driver's own
// function stands instead: the linker takes nothing from a library for a name that an object already has.
extern "C" void __sanitizer_cov_trace_pc() {}
