# One static library per folder of src/, linked against the folders that src/layers.txt allows it.

# ebb_allowed_layers(<folder> <out>): the folders that src/layers.txt lets <folder> include.
function(ebb_allowed_layers folder out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                         "${PROJECT_SOURCE_DIR}/src/layers.txt")
  file(STRINGS "${PROJECT_SOURCE_DIR}/src/layers.txt" lines REGEX "^${folder}:")
  if(NOT lines)
    message(FATAL_ERROR "src/${folder} is not listed in src/layers.txt")
  endif()
  string(REGEX REPLACE "^${folder}:[ ]*" "" allowed "${lines}")
  string(REGEX REPLACE "[ ]+" ";" allowed "${allowed}")
  set(${out} ${allowed} PARENT_SCOPE)
endfunction()

# Where tests spend their time computing. Under sanitizers these are worth optimising; for the other
# folders it takes longer than it saves.
set(EBB_COMPUTING_LAYERS base cache fl pack record replay sum trace trend)
if(EBB_SANITIZE STREQUAL "thread")
  set(EBB_COMPUTING_LAYERS cache replay sum)
endif()

# ebb_layer(<folder> SOURCES file...): the library ebb_<folder>.
function(ebb_layer folder)
  cmake_parse_arguments(LAYER "" "" "SOURCES" ${ARGN})
  ebb_allowed_layers(${folder} allowed)
  add_library(ebb_${folder} STATIC ${LAYER_SOURCES})
  target_include_directories(ebb_${folder} PUBLIC "${PROJECT_SOURCE_DIR}/src"
                                                  "${PROJECT_BINARY_DIR}/generated")
  target_link_libraries(ebb_${folder} PRIVATE ebb_options)
  if(EBB_SANITIZE AND folder IN_LIST EBB_COMPUTING_LAYERS)
    target_compile_options(ebb_${folder} PRIVATE -O1)
  endif()
  if(EBB_BUILD_FUZZERS)
    # A fuzzer finds its way by the coverage of what it calls, not only of itself.
    target_compile_options(ebb_${folder} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  foreach(lower IN LISTS allowed)
    target_link_libraries(ebb_${folder} PUBLIC ebb_${lower})
  endforeach()
endfunction()
