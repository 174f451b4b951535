# backplane_add_module(<name> [FAST] [SOURCES ...] [EXCEPT ...] [LIBS ...]): a static library of the host, included as "<name>/file.hpp". It
# contains SOURCES, or all sources in its folder except main.cpp and EXCEPT. It is optimized for size, like SMALL of backplane_precompile,
# unless FAST is given: for code that steps, trains, or processes many lines.
function(backplane_add_module name)
  cmake_parse_arguments(M "FAST" "" "SOURCES;EXCEPT;LIBS" ${ARGN})
  if(NOT M_SOURCES)
    file(GLOB M_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
    list(REMOVE_ITEM M_SOURCES main.cpp ${M_EXCEPT})
  endif()
  add_library(backplane_${name} STATIC ${M_SOURCES})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH folder)
  target_include_directories(backplane_${name} PUBLIC ${folder})
  target_link_libraries(backplane_${name} PUBLIC backplane::sdk ${M_LIBS} PRIVATE backplane_flags)
  if(M_FAST)
    backplane_precompile(backplane_${name})
  else()
    backplane_precompile(backplane_${name} SMALL)
  endif()
  # Batches of eight files take less than half of the time of a clean build; rebuilding a changed file still takes seconds.
  if(BACKPLANE_PRECOMPILE AND NOT CMAKE_UNITY_BUILD)
    set_target_properties(backplane_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
