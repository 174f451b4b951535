# What `cmake --install` puts under a prefix, which may then be moved; included last by the top CMakeLists.txt. Plugins install
# themselves (backplane_add_plugin).
#   bin/{backplane,backplane-report}  share/backplane/presets/  include/backplane/  lib/{libbackplane_embed.so,backplane/{plugins/,torch.json}}  lib/cmake/backplane/
include(CMakePackageConfigHelpers)
set(config_dir lib/cmake/backplane)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/host/include/backplane DESTINATION include)
install(TARGETS backplane_sdk EXPORT backplaneTargets)
if(TARGET backplane)
  install(TARGETS backplane EXPORT backplaneTargets RUNTIME DESTINATION bin)
endif()
install(EXPORT backplaneTargets NAMESPACE backplane:: DESTINATION ${config_dir})

# The program looks for them in ../share from where it lies, in a build too.
file(GLOB presets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/presets/*.yaml)
foreach(preset IN LISTS presets)
  get_filename_component(name ${preset} NAME)
  configure_file(${preset} ${CMAKE_BINARY_DIR}/share/backplane/presets/${name} COPYONLY)
endforeach()
install(FILES ${presets} DESTINATION share/backplane/presets)

if(BACKPLANE_TORCH_ROOT)
  install(FILES ${CMAKE_BINARY_DIR}/lib/backplane/torch.json DESTINATION lib/backplane)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/backplaneConfig.cmake.in ${CMAKE_BINARY_DIR}/backplaneConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/backplaneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/backplaneConfig.cmake ${CMAKE_BINARY_DIR}/backplaneConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/BackplanePlugin.cmake ${CMAKE_CURRENT_LIST_DIR}/plugin.version DESTINATION ${config_dir})
