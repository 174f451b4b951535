// An empty hook for the programs and plugins that link covered code without a fuzzer. A fuzzer uses the driver's function: the
// linker prefers a symbol of an object file to one of a library.
extern "C" void __sanitizer_cov_trace_pc() {}
