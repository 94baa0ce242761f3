# What `cmake --install` puts in place, and how other projects find it: find_package(ebb CONFIG)
# and pkg-config. Both stay right when the installed tree is moved.
include(CMakePackageConfigHelpers)

set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ebb")
install(TARGETS ebb EXPORT ebb-targets FILE_SET HEADERS)
if(TARGET ebb-program)
  install(TARGETS ebb-program)
endif()
if(TARGET ebb-program AND TARGET ebb-agent)
  # What `ebb run` starts jobs with; it looks for them beside itself.
  install(TARGETS ebb-agent LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/ebb")
  if(TARGET ebb-sites)
    install(TARGETS ebb-sites LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/ebb")
  endif()
  install(FILES "${PROJECT_SOURCE_DIR}/src/agent/python/sitecustomize.py"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/ebb/python")
  install(FILES "${PROJECT_SOURCE_DIR}/python/ebb/nvflare/results.py"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/ebb/python" RENAME nvflare_results.py)
endif()
if(TARGET ebb-simulate)
  install(TARGETS ebb-simulate)
endif()
if(TARGET ebb-mpi)
  install(TARGETS ebb-mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/ebb")
endif()
install(EXPORT ebb-targets NAMESPACE ebb:: DESTINATION "${config_folder}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/ebb-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/cmake/ebb-config.cmake"
                              INSTALL_DESTINATION "${config_folder}"
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/ebb-config-version.cmake"
                                 COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/ebb-config.cmake"
              "${PROJECT_BINARY_DIR}/cmake/ebb-config-version.cmake"
        DESTINATION "${config_folder}")

# pkg-config counts from the folder of ebb.pc; an absolute library folder cannot be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(EBB_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(EBB_PC_PREFIX "\${pcfiledir}/${up}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}"
           OUTPUT_VARIABLE EBB_PC_LIBDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
           OUTPUT_VARIABLE EBB_PC_INCLUDEDIR)
configure_file("${PROJECT_SOURCE_DIR}/cmake/ebb.pc.in" "${PROJECT_BINARY_DIR}/cmake/ebb.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/ebb.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
