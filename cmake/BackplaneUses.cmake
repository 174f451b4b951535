# Finds the libraries in USES for a build against an installation. Outside the tree a missing library ends the configuration, because
# skipping the plugin would look like success. Read by backplaneConfig.cmake. Each macro runs in a function whose `call` is the user's call.

# backplane::mujoco: MuJoCo and mujoco/task.hpp. Both come from the installation, so that all envs use one library.
macro(_backplane_use_mujoco)
  set(MuJoCo_VERSION "${BACKPLANE_MUJOCO_VERSION}")
  set(MuJoCo_LIBRARY ${BACKPLANE_PREFIX}/lib/backplane/plugins/libmujoco.so.${MuJoCo_VERSION})
  if(NOT MuJoCo_VERSION OR NOT EXISTS ${MuJoCo_LIBRARY})
    message(FATAL_ERROR
      "${call}: USES mujoco: expected an installation of Backplane with MuJoCo, got one without in ${BACKPLANE_PREFIX}.\n"
      "The packages contain it (docs/installation.md). "
      "In a clone, `scripts/install --prefix FOLDER` installs MuJoCo and creates such an installation")
  endif()
  if(NOT TARGET backplane::mujoco)
    add_library(MuJoCo::MuJoCo SHARED IMPORTED)
    set_target_properties(MuJoCo::MuJoCo PROPERTIES IMPORTED_LOCATION ${MuJoCo_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${BACKPLANE_PREFIX}/include/backplane_mujoco)
    add_library(backplane::mujoco STATIC IMPORTED)
    set_target_properties(backplane::mujoco PROPERTIES
      IMPORTED_LOCATION ${BACKPLANE_PREFIX}/lib/backplane/libbackplane_mujoco.a
      INTERFACE_LINK_LIBRARIES "backplane::sdk;MuJoCo::MuJoCo")
  endif()
endmacro()

# backplane_torch_sdk: the LibTorch that the installation would load, or the one in BACKPLANE_TORCH_ROOT.
macro(_backplane_use_torch)
  _backplane_find_torch(BACKPLANE_TORCH_ROOT)
  _backplane_add_torch()
  string(REGEX REPLACE "\\+.*" "" _found "${BACKPLANE_TORCH_VERSION}")
  if(BACKPLANE_TORCH_RELEASE AND NOT _found STREQUAL BACKPLANE_TORCH_RELEASE)
    message(FATAL_ERROR
      "${call}: USES torch: expected ${_BACKPLANE_LIBTORCH}, as used by this installation, got "
      "'${BACKPLANE_TORCH_VERSION}' in ${BACKPLANE_TORCH_ROOT}.\n${_BACKPLANE_GET_TORCH}")
  endif()
endmacro()

set(_BACKPLANE_LIBTORCH LibTorch)
if(BACKPLANE_TORCH_RELEASE)  # empty: the installation itself was built without
  string(APPEND _BACKPLANE_LIBTORCH " ${BACKPLANE_TORCH_RELEASE}")
endif()
string(CONCAT _BACKPLANE_GET_TORCH
  "`backplane setup torch` installs it. One that lies elsewhere, "
  "the folder torch/ of a Python package or that of the C++ distribution, is named by -DBACKPLANE_TORCH_ROOT=FOLDER or, as when a plugin runs, "
  "by the environment's BACKPLANE_TORCH_LIB=FOLDER/lib")

# The same search as in plugin/torch_runtime.cpp.
function(_backplane_find_torch out)
  set(places)
  if(BACKPLANE_TORCH_ROOT)
    set(places ${BACKPLANE_TORCH_ROOT})
  elseif(NOT "$ENV{BACKPLANE_TORCH_LIB}" STREQUAL "")
    get_filename_component(places "$ENV{BACKPLANE_TORCH_LIB}" DIRECTORY)
  else()
    set(lib "")
    if(EXISTS ${BACKPLANE_PREFIX}/lib/backplane/torch.json)
      file(READ ${BACKPLANE_PREFIX}/lib/backplane/torch.json facts)
      string(JSON lib ERROR_VARIABLE error GET "${facts}" lib)
    endif()
    if(NOT EXISTS "${lib}/libtorch.so")
      set(data $ENV{XDG_DATA_HOME})
      if(data STREQUAL "")
        set(data $ENV{HOME}/.local/share)
      endif()
      set(lib ${data}/backplane/torch-${BACKPLANE_TORCH_RELEASE}/torch/lib)
    endif()
    get_filename_component(places "${lib}" DIRECTORY)
  endif()
  if(NOT EXISTS ${places}/lib/libtorch.so OR NOT EXISTS ${places}/include/torch/csrc/api/include/torch/torch.h)
    message(FATAL_ERROR "${call}: USES torch: expected ${_BACKPLANE_LIBTORCH}, got no include/ and "
                        "lib/libtorch.so in ${places}.\n${_BACKPLANE_GET_TORCH}")
  endif()
  set(${out} ${places} PARENT_SCOPE)
endfunction()
