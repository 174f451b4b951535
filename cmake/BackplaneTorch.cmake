# backplane_torch_sdk: headers and libraries of the LibTorch in BACKPLANE_TORCH_ROOT, a folder with include/ and lib/. Sets
# BACKPLANE_TORCH_VERSION, which stays empty if the folder has no version.
macro(_backplane_add_torch)
  set(BACKPLANE_TORCH_VERSION "")
  if(EXISTS ${BACKPLANE_TORCH_ROOT}/version.py)
    file(STRINGS ${BACKPLANE_TORCH_ROOT}/version.py _line REGEX "^__version__")
    string(REGEX REPLACE ".*'(.*)'.*" "\\1" BACKPLANE_TORCH_VERSION "${_line}")
  elseif(EXISTS ${BACKPLANE_TORCH_ROOT}/build-version)  # the C++ distribution
    file(STRINGS ${BACKPLANE_TORCH_ROOT}/build-version BACKPLANE_TORCH_VERSION LIMIT_COUNT 1)
  endif()
  # Uses only the paths: Torch's own CMake config adds the compiler flags and libraries of its build.
  if(NOT TARGET backplane_torch_sdk)
    add_library(backplane_torch_sdk INTERFACE)
    target_include_directories(backplane_torch_sdk SYSTEM INTERFACE ${BACKPLANE_TORCH_ROOT}/include
                               ${BACKPLANE_TORCH_ROOT}/include/torch/csrc/api/include)
    target_link_libraries(backplane_torch_sdk INTERFACE ${BACKPLANE_TORCH_ROOT}/lib/libtorch.so ${BACKPLANE_TORCH_ROOT}/lib/libtorch_cpu.so
                          ${BACKPLANE_TORCH_ROOT}/lib/libc10.so)
  endif()
endmacro()
