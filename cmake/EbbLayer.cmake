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

# Where time is spent computing: these are worth optimising, and some under a sanitizer. The other folders
# wait for files, processes and people: there it takes longer than it saves. In the innermost loops all of
# it pays.
set(EBB_COMPUTING_LAYERS base cache device fl heap pack plan replay sum trace trend)
set(EBB_INNERMOST_LAYERS cache pack replay sum trace)
if(EBB_SANITIZE STREQUAL "thread")
  set(EBB_COMPUTING_LAYERS cache replay sum)
elseif(EBB_SANITIZE)
  set(EBB_COMPUTING_LAYERS cache fl pack record replay sum trace trend)
endif()
# Whose results are the same bits everywhere: no multiplication and addition in one instruction, which
# rounds once, only because a processor has it.
set(EBB_EXACT_LAYERS fl sum)
# What fuzzers call. A fuzzer finds its way by the coverage of it, not only of itself.
set(EBB_FUZZED_LAYERS base cache device fl heap metrics pack plan replay sense serve trace wire)

# _ebb_compile(<target> [option...]): compiles a target with these options on top of ebb_options. What the
# standard library's headers hold is read once for all libraries that are compiled alike.
function(_ebb_compile target)
  target_compile_options(${target} PRIVATE ${ARGN})
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "EXECUTABLE")
    return()  # its code has a place of its own (-fPIE): compiled differently
  endif()
  string(MD5 key "${ARGN}")
  string(SUBSTRING ${key} 0 8 key)
  set(headers ebb_headers_${key})
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/headers.cpp" CONTENT "")
    add_library(${headers} OBJECT "${PROJECT_BINARY_DIR}/generated/headers.cpp")
    target_link_libraries(${headers} PRIVATE ebb_options Threads::Threads)
    target_compile_options(${headers} PRIVATE ${ARGN})
    target_precompile_headers(${headers} PRIVATE
      <algorithm> <array> <atomic> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <mutex>
      <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# ebb_waits(<target>): one that does not compute.
function(ebb_waits target)
  _ebb_compile(${target} $<$<CONFIG:Release>:-O1>)
endfunction()

# _ebb_library(<name> <folder> KIND kind LAYERS folder... COMPUTES yes SOURCES file...)
function(_ebb_library name folder)
  cmake_parse_arguments(PART "" "KIND;COMPUTES" "LAYERS;SOURCES" ${ARGN})
  add_library(${name} ${PART_KIND} ${PART_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/src"
                                            "${PROJECT_BINARY_DIR}/generated")
  target_link_libraries(${name} PRIVATE ebb_options)
  set(options "")
  if(NOT folder IN_LIST EBB_COMPUTING_LAYERS OR (EBB_SANITIZE AND NOT PART_COMPUTES))
    list(APPEND options $<$<CONFIG:Release>:-O1>)
  elseif(EBB_SANITIZE)
    list(APPEND options -O1)
  elseif(NOT folder IN_LIST EBB_INNERMOST_LAYERS)
    list(APPEND options $<$<CONFIG:Release>:-O2>)
  endif()
  if(folder IN_LIST EBB_EXACT_LAYERS)
    list(APPEND options -ffp-contract=off)
  endif()
  if(EBB_BUILD_FUZZERS AND folder IN_LIST EBB_FUZZED_LAYERS)
    list(APPEND options -fsanitize=fuzzer-no-link)
    if(NOT EBB_LONG_TESTS)
      # Half a minute of fuzzing learns little from single branches, and the unit tests wait for their counters.
      list(APPEND options
        -fno-sanitize-coverage=trace-cmp,edge,indirect-calls -fsanitize-coverage=func
        -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitize/not_covered.txt)
    endif()
  endif()
  _ebb_compile(${name} ${options})
  foreach(lower IN LISTS PART_LAYERS)
    target_link_libraries(${name} PUBLIC ebb_${lower})
  endforeach()
endfunction()

# ebb_layer(<folder> SOURCES file... [COMPUTING file...] [THREADED file... [THREADED_NEEDS folder...]]): the library
# ebb_<folder>. Where files stand behind COMPUTING, the other ones of a computing folder are not optimised under a
# sanitizer. What threads share is a library of its own, ebb_<folder>_threads: the build for the thread sanitizer needs no
# more of the folder, and of the folders below it only those behind THREADED_NEEDS, where they are named.
function(ebb_layer folder)
  cmake_parse_arguments(LAYER "" "" "SOURCES;COMPUTING;THREADED;THREADED_NEEDS" ${ARGN})
  ebb_allowed_layers(${folder} allowed)
  set(computes ON)
  if(LAYER_COMPUTING)
    _ebb_library(ebb_${folder}_computing ${folder} KIND OBJECT COMPUTES ON LAYERS ${allowed}
                 SOURCES ${LAYER_COMPUTING})
    list(APPEND LAYER_SOURCES $<TARGET_OBJECTS:ebb_${folder}_computing>)
    set(computes OFF)
  endif()
  _ebb_library(ebb_${folder} ${folder} KIND STATIC COMPUTES ${computes} LAYERS ${allowed} SOURCES ${LAYER_SOURCES})
  if(LAYER_THREADED)
    if(LAYER_THREADED_NEEDS)
      set(allowed ${LAYER_THREADED_NEEDS})
    endif()
    _ebb_library(ebb_${folder}_threads ${folder} KIND STATIC COMPUTES ON LAYERS ${allowed} SOURCES ${LAYER_THREADED})
    target_link_libraries(ebb_${folder} PUBLIC ebb_${folder}_threads)
  endif()
endfunction()
