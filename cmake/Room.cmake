# backplane_add_room(<name> SOURCES ... [LIBS ...]): a static library of the host, included as "<name>/file.hpp".
function(backplane_add_room name)
  cmake_parse_arguments(R "" "" "SOURCES;LIBS" ${ARGN})
  add_library(backplane_${name} STATIC ${R_SOURCES})
  target_include_directories(backplane_${name} PUBLIC ${CMAKE_SOURCE_DIR}/host/src)
  target_link_libraries(backplane_${name} PUBLIC backplane::sdk ${R_LIBS} PRIVATE backplane_flags)
  backplane_precompile(backplane_${name})
endfunction()
