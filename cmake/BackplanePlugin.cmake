# backplane_add_plugin(<name> KIND env|learner|monitor SOURCES ... [LIBS ...] [USES torch|mujoco ...] [PARTS name ...]
#                      [DESTINATION dir] [NO_SEAL])
# backplane_add_part(<plugin> <name> SOURCES ... [LIBS ...] [USES torch|mujoco ...] [DESTINATION dir])
#
# The only way a plugin is built: target and file are <kind>_<name>, with one exported symbol, RPATH $ORIGIN and a sealed
# metadata section. A build rule and not advice, because the compiler's defaults are wrong for plugins (docs/architecture.md).
# A part, <kind>_<plugin's name>_<name>, is opened when the plugin asks its host for it (bp_host_part_1). It is added first; one
# that was left out, for what it needs is not there, is a part that the plugin does not have.
set(_BACKPLANE_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(backplane_add_plugin name)
  cmake_parse_arguments(P "" "KIND" "" ${ARGN})
  if(NOT P_KIND MATCHES "^(env|learner|monitor)$")
    message(FATAL_ERROR "backplane_add_plugin(${name}): KIND should be env, learner or monitor, got '${P_KIND}'")
  endif()
  _backplane_add_module(${P_KIND}_${name} KIND ${P_KIND} ${P_UNPARSED_ARGUMENTS})
endfunction()

function(backplane_add_part plugin name)
  _backplane_add_module(${plugin}_${name} KIND part ${ARGN})
endfunction()

function(_backplane_add_module target)
  cmake_parse_arguments(P "NO_SEAL" "KIND;DESTINATION" "SOURCES;LIBS;USES;PARTS" ${ARGN})
  if("torch" IN_LIST P_USES AND NOT TARGET backplane_torch_sdk)
    message(STATUS "${target} left out: it needs LibTorch")
    return()
  endif()
  if("mujoco" IN_LIST P_USES AND NOT TARGET MuJoCo::MuJoCo)
    message(STATUS "${target} left out: it needs MuJoCo")
    return()
  endif()
  add_library(${target} MODULE ${P_SOURCES})
  target_link_libraries(${target} PRIVATE backplane::sdk ${P_LIBS} $<TARGET_NAME_IF_EXISTS:backplane_flags>)
  target_compile_definitions(${target} PRIVATE BP_BUILD_SANITIZER="${BACKPLANE_SANITIZE}")
  backplane_plugin_flags(${target})
  if(P_DESTINATION)
    set(dir ${P_DESTINATION})
  elseif(BACKPLANE_PLUGIN_DIR)
    set(dir ${BACKPLANE_PLUGIN_DIR})
  else()
    set(dir ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  target_link_options(${target} PRIVATE -Wl,--version-script=${_BACKPLANE_CMAKE_DIR}/plugin.version)
  if(NOT BACKPLANE_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${dir} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
    LINK_DEPENDS ${_BACKPLANE_CMAKE_DIR}/plugin.version)
  if(P_KIND STREQUAL env)
    # x * y + z rounds twice on every processor, or an env's numbers would depend on the compiler's choice.
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
  if("torch" IN_LIST P_USES)
    target_link_libraries(${target} PRIVATE backplane_torch_sdk)
    target_compile_definitions(${target} PRIVATE BP_BUILD_TORCH="${BACKPLANE_TORCH_VERSION}")
    if(COMMAND backplane_precompile AND NOT P_KIND STREQUAL env)  # not in an installation
      backplane_precompile(${target} PLUGIN TORCH)
    endif()
  endif()
  if("mujoco" IN_LIST P_USES)
    target_link_libraries(${target} PRIVATE MuJoCo::MuJoCo)
    target_compile_definitions(${target} PRIVATE BP_BUILD_MUJOCO="${MuJoCo_VERSION}")
    file(COPY ${MuJoCo_LIBRARY} DESTINATION ${dir})  # its file name is its SONAME, which RPATH $ORIGIN finds beside the plugin
  endif()
  set(parts)
  foreach(part IN LISTS P_PARTS)
    if(TARGET ${target}_${part})
      list(APPEND parts --part $<TARGET_FILE:${target}_${part}>)
      add_dependencies(${target} ${target}_${part})
      # Another part is another plugin: it is linked and sealed again.
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:${target}_${part}>)
    endif()
  endforeach()
  if(NOT P_NO_SEAL)
    _backplane_seal(${target} ${parts})
  endif()
  # A plugin of this build belongs to the installation; one with a place of its own is a fixture.
  if(BACKPLANE_PLUGIN_DIR AND NOT P_DESTINATION)
    install(TARGETS ${target} LIBRARY DESTINATION lib/backplane/plugins)
    if("mujoco" IN_LIST P_USES)
      install(FILES ${MuJoCo_LIBRARY} DESTINATION lib/backplane/plugins)
    endif()
  endif()
endfunction()

# How the compiler treats a plugin's sources.
function(backplane_plugin_flags target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# Seals after linking, with the program of this build or of the installation. What follows the target are its parts, --part FILE.
function(_backplane_seal target)
  if(TARGET backplane)
    set(program backplane)
    add_dependencies(${target} backplane)
  elseif(TARGET backplane::backplane)
    set(program backplane::backplane)
  else()
    return()
  endif()
  if(BACKPLANE_TORCH_ROOT)
    set(environment ${CMAKE_COMMAND} -E env BACKPLANE_TORCH_LIB=${BACKPLANE_TORCH_ROOT}/lib)
  endif()
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${environment} $<TARGET_FILE:${program}> plugin seal $<TARGET_FILE:${target}> ${ARGN} VERBATIM)
endfunction()
