# Installs into a relocatable prefix; included last by the top CMakeLists.txt. Plugins install themselves (backplane_add_plugin).
#   bin/{backplane,backplane-archive,backplane-author,backplane-export,backplane-policy,backplane-shim,backplane-report,backplane-runs,backplane-study,backplane-trial,backplane-validate}  share/backplane/{client,configs,licenses,presets,templates}/  include/{backplane,backplane_mujoco}/
#   lib/{libbackplane_embed.so,backplane/{plugins/,libbackplane_mujoco.a,torch.json,python.json}}  lib/cmake/backplane/
# A build tree has the same layout, so that plugins are built against it, too. Its headers and CMake files are links into the sources.
# The component `python` is the package backplane_rl; a wheel takes that from the sources, and all else into the package's folder.
include(CMakePackageConfigHelpers)
set(config_dir lib/cmake/backplane)

# backplane_link_in_build(<folder> FILE...): the build tree's links in FOLDER to files of the sources.
function(backplane_link_in_build folder)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  foreach(file IN LISTS ARGN)
    cmake_path(GET file FILENAME name)
    file(CREATE_LINK ${file} ${CMAKE_BINARY_DIR}/${folder}/${name} SYMBOLIC)
  endforeach()
endfunction()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/host/include/backplane DESTINATION include)
install(TARGETS backplane_sdk EXPORT backplaneTargets)
if(TARGET backplane)
  install(TARGETS backplane EXPORT backplaneTargets RUNTIME DESTINATION bin)
endif()
install(EXPORT backplaneTargets NAMESPACE backplane:: DESTINATION ${config_dir})
export(EXPORT backplaneTargets NAMESPACE backplane:: FILE ${CMAKE_BINARY_DIR}/${config_dir}/backplaneTargets.cmake)
backplane_link_in_build(include ${CMAKE_SOURCE_DIR}/host/include/backplane)

# The program searches ../share relative to its own folder, also in a build.
file(GLOB presets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/presets/*.yaml)
foreach(preset IN LISTS presets)
  get_filename_component(name ${preset} NAME)
  configure_file(${preset} ${CMAKE_BINARY_DIR}/share/backplane/presets/${name} COPYONLY)
endforeach()
install(FILES ${presets} DESTINATION share/backplane/presets)

# Templates of `backplane new`.
file(GLOB_RECURSE templates CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} templates/*)
foreach(file IN LISTS templates)
  configure_file(${CMAKE_SOURCE_DIR}/${file} ${CMAKE_BINARY_DIR}/share/backplane/${file} COPYONLY)
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/templates DESTINATION share/backplane PATTERN templates/README.md EXCLUDE)

# `backplane run configs/quickstart.yaml` reads the installed file if there is no such file.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs DESTINATION share/backplane PATTERN presets EXCLUDE)
backplane_link_in_build(share/backplane ${CMAKE_SOURCE_DIR}/configs)
# Builds the data of configs/summarization.
set(corpus ${CMAKE_SOURCE_DIR}/plugins/envs/summarization)
install(PROGRAMS ${corpus}/build_corpus DESTINATION share/backplane)
install(FILES ${corpus}/package_texts.py DESTINATION share/backplane)
backplane_link_in_build(share/backplane ${corpus}/build_corpus ${corpus}/package_texts.py)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/host/python/backplane_rl DESTINATION lib/python3/dist-packages COMPONENT python PATTERN __pycache__ EXCLUDE)

# Clients for trials that run a command, and the program that calls a function. In a wheel, the Python client is a module of its own, so
# that scripts can import it.
file(GLOB clients CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/host/client/*.py)
foreach(client IN LISTS clients)
  get_filename_component(name ${client} NAME)
  configure_file(${client} ${CMAKE_BINARY_DIR}/share/backplane/client/${name} COPYONLY)
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/host/client DESTINATION share/backplane PATTERN __pycache__ EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/host/client/backplane_client.py DESTINATION lib/python3/dist-packages COMPONENT python)
if(SKBUILD_PLATLIB_DIR)
  install(FILES ${CMAKE_SOURCE_DIR}/host/client/backplane_client.py DESTINATION ${SKBUILD_PLATLIB_DIR})
endif()

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE DESTINATION share/backplane/licenses)
if(MuJoCo_LICENSES)
  install(FILES ${MuJoCo_LICENSES} DESTINATION share/backplane/licenses/mujoco)
endif()
if(BACKPLANE_STATIC)
  foreach(package libboost1.74-dev libcli11-dev libfmt-dev libre2-dev libsentencepiece-dev libspdlog-dev libsqlite3-dev libsqlitecpp-dev libssl-dev
                  libutf8proc-dev libxxhash-dev libyaml-cpp-dev nlohmann-json3-dev)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION share/backplane/licenses RENAME ${package}.txt)
  endforeach()
  # Debian has no archive of SentencePiece, and its archives of RE2 and yaml-cpp only suit programs, not libbackplane_embed.so. Copy all by
  # their SONAMEs.
  find_library(YAML_CPP_LIBRARY NAMES libyaml-cpp.so REQUIRED)
  function(_install_by_soname library destination)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "SONAME +([^\n]+)" _ "${headers}")
    get_filename_component(file ${library} REALPATH)
    install(FILES ${file} DESTINATION ${destination} RENAME ${CMAKE_MATCH_1})
  endfunction()
  _install_by_soname(${SENTENCEPIECE_LIBRARY} lib/backplane/plugins)
  _install_by_soname(${RE2_LIBRARY} lib/backplane)
  _install_by_soname(${YAML_CPP_LIBRARY} lib/backplane)
  set_target_properties(backplane_embed PROPERTIES INSTALL_RPATH "$ORIGIN/backplane")
else()  # a package finds both elsewhere
  if(BACKPLANE_TORCH_ROOT)
    install(FILES ${CMAKE_BINARY_DIR}/lib/backplane/torch.json DESTINATION lib/backplane)
  endif()
  if(EXISTS ${BACKPLANE_VENV}/bin/python)  # it draws figures
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/lib/backplane/python.json CONTENT "{\"python\": \"@BACKPLANE_VENV@/bin/python\"}\n" @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/lib/backplane/python.json DESTINATION lib/backplane)
  endif()
endif()

# Headers for USES mujoco: MuJoCo's own and mujoco/task.hpp in one folder, separate from a system-wide MuJoCo.
set(_installed_mujoco)
if(TARGET backplane::mujoco)
  set(_installed_mujoco ${MuJoCo_VERSION})
  install(DIRECTORY ${MuJoCo_INCLUDE_DIR}/mujoco DESTINATION include/backplane_mujoco FILES_MATCHING PATTERN *.h)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/plugins/common/mujoco DESTINATION include/backplane_mujoco FILES_MATCHING PATTERN *.hpp)
  install(TARGETS backplane_plugin_mujoco ARCHIVE DESTINATION lib/backplane)
  set_target_properties(backplane_plugin_mujoco PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/backplane)
  file(GLOB headers CONFIGURE_DEPENDS ${MuJoCo_INCLUDE_DIR}/mujoco/*.h ${CMAKE_SOURCE_DIR}/plugins/common/mujoco/*.hpp)
  backplane_link_in_build(include/backplane_mujoco/mujoco ${headers})
endif()
string(REGEX REPLACE "\\+.*" "" _installed_torch "${BACKPLANE_TORCH_VERSION}")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/backplaneConfig.cmake.in ${CMAKE_BINARY_DIR}/${config_dir}/backplaneConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/${config_dir}/backplaneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(config_files BackplanePlugin.cmake BackplaneTorch.cmake BackplaneUses.cmake plugin.version)
list(TRANSFORM config_files PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
backplane_link_in_build(${config_dir} ${config_files})
install(FILES ${CMAKE_BINARY_DIR}/${config_dir}/backplaneConfig.cmake ${CMAKE_BINARY_DIR}/${config_dir}/backplaneConfigVersion.cmake
              ${config_files} DESTINATION ${config_dir})
