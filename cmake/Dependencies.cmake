# All external dependencies of the build. scripts/bootstrap installs them.
find_program(CCACHE ccache)
if(CCACHE)
  # ccache requires this sloppiness to cache files that use a precompiled header. The base folder lets another clone reuse this one's
  # objects, whose debug information may then contain this one's folder.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# Saves a third of the link time, most of it for tests. With --strip-debug mold also removes function names, which stack traces need.
find_program(MOLD mold)
if(MOLD AND NOT BACKPLANE_STATIC AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  add_link_options(-fuse-ld=mold)
endif()

# Prefers archives: every trial starts a process, and finding, mapping and relocating these libraries took a third of that time
# (docs/decisions/0056-a-null-trial.md). Debian has no archive of fmt, whose headers contain its functions: we compile one.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
foreach(found OPENSSL_CRYPTO_LIBRARY SQLite3_LIBRARY UTF8PROC_LIBRARY)
  if("${${found}}" MATCHES "\\.so$")
    unset(${found} CACHE)  # left by older build trees
  endif()
endforeach()
find_path(FMT_INCLUDE_DIR fmt/format-inl.h REQUIRED)
find_path(SPDLOG_INCLUDE_DIR spdlog/spdlog.h REQUIRED)
add_library(backplane_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
target_include_directories(backplane_fmt PUBLIC ${FMT_INCLUDE_DIR})
target_compile_definitions(backplane_fmt PUBLIC FMT_SHARED)
add_library(fmt::fmt INTERFACE IMPORTED)
target_link_libraries(fmt::fmt INTERFACE backplane_fmt)
target_compile_definitions(fmt::fmt INTERFACE FMT_SHARED)
add_library(spdlog::spdlog_header_only INTERFACE IMPORTED)
target_include_directories(spdlog::spdlog_header_only INTERFACE ${SPDLOG_INCLUDE_DIR})
target_compile_definitions(spdlog::spdlog_header_only INTERFACE SPDLOG_FMT_EXTERNAL)
if(BACKPLANE_STATIC)
  add_link_options(-Wl,--strip-debug)  # at link time, because a sealed plugin identifies its parts by hash
endif()
find_package(Boost 1.74 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Threads REQUIRED)
find_package(yaml-cpp REQUIRED)
# Debian compiles these archives for programs; our shared library links the shared ones. <name>-for-each links the right one.
function(_backplane_link_for_each name archive shared)
  add_library(${name}-for-each INTERFACE)
  if(archive)
    target_link_libraries(${name}-for-each INTERFACE $<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,${archive},${shared}>)
  else()
    target_link_libraries(${name}-for-each INTERFACE ${shared})
  endif()
endfunction()
find_library(YAML_CPP_ARCHIVE NAMES libyaml-cpp.a)
_backplane_link_for_each(yaml-cpp "${YAML_CPP_ARCHIVE}" yaml-cpp)

# Later releases of RE2 need Abseil, and their archives its archives. Then link the shared library, which loads them.
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY NAMES libre2.so REQUIRED)
find_library(RE2_ARCHIVE NAMES libre2.a)
if(RE2_ARCHIVE)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES ${RE2_ARCHIVE} Threads::Threads)
  set(CMAKE_REQUIRED_INCLUDES ${RE2_INCLUDE_DIR})
  check_cxx_source_compiles("#include <re2/re2.h>\nint main() { return RE2::FullMatch(\"a\", \"a\") ? 0 : 1; }" BACKPLANE_RE2_ARCHIVE_LINKS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_INCLUDES)
endif()
if(NOT BACKPLANE_RE2_ARCHIVE_LINKS)
  set(RE2_ARCHIVE "")
endif()
_backplane_link_for_each(re2 "${RE2_ARCHIVE}" ${RE2_LIBRARY})
target_include_directories(re2-for-each INTERFACE ${RE2_INCLUDE_DIR})

# These Debian packages have no CMake files.
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h REQUIRED)
find_library(SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train REQUIRED)
foreach(part SENTENCEPIECE SENTENCEPIECE_TRAIN)
  string(TOLOWER ${part} name)
  add_library(SentencePiece::${name} UNKNOWN IMPORTED)
  set_target_properties(SentencePiece::${name} PROPERTIES IMPORTED_LOCATION ${${part}_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${SENTENCEPIECE_INCLUDE_DIR})
endforeach()
find_path(UTF8PROC_INCLUDE_DIR utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
add_library(utf8proc::utf8proc UNKNOWN IMPORTED)
set_target_properties(utf8proc::utf8proc PROPERTIES IMPORTED_LOCATION ${UTF8PROC_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${UTF8PROC_INCLUDE_DIR})
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(xxHash::headers INTERFACE IMPORTED)
target_include_directories(xxHash::headers INTERFACE ${XXHASH_INCLUDE_DIR})

# Wheels unpack under .venv/lib/python3.*/site-packages.
file(GLOB BACKPLANE_SITE_PACKAGES "${BACKPLANE_VENV}/lib/python3*/site-packages")
if(BACKPLANE_WITH_MUJOCO)
  find_package(MuJoCo)
endif()
if(BACKPLANE_WITH_TORCH)
  find_path(BACKPLANE_TORCH_ROOT share/cmake/Torch/TorchConfig.cmake HINTS ${BACKPLANE_SITE_PACKAGES}/torch NO_DEFAULT_PATH)
  if(BACKPLANE_TORCH_ROOT)
    include(BackplaneTorch)
    _backplane_add_torch()
    message(STATUS "LibTorch ${BACKPLANE_TORCH_VERSION}: ${BACKPLANE_TORCH_ROOT}")
  else()
    message(STATUS "LibTorch not found under ${BACKPLANE_VENV}: plugins that need it are left out")
  endif()
endif()

# Flags for all of our code, and the sanitizer of the preset.
add_library(backplane_flags INTERFACE)
target_compile_options(backplane_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers
  # GCC 12 warns wrongly that a returned empty std::optional is read.
  -Wno-maybe-uninitialized
  # In a unity build, parameters in one file may shadow a `using` of the previous one.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
if(BACKPLANE_SANITIZE STREQUAL "address")
  add_compile_options(-g1 -fsanitize=address,undefined -fno-omit-frame-pointer)
  if(NOT BACKPLANE_NIGHTLY)
    # Checking every pointer before use takes a third of the compile time; reading null ends in a trace anyway.
    add_compile_options(-fno-sanitize=null,alignment)
  endif()
  add_link_options(-fsanitize=address,undefined)
elseif(BACKPLANE_SANITIZE STREQUAL "thread")
  add_compile_options(-g1 -fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(BACKPLANE_SANITIZE)
  message(FATAL_ERROR "BACKPLANE_SANITIZE: expected address or thread, got '${BACKPLANE_SANITIZE}'")
endif()
