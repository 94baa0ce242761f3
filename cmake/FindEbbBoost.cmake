# Finds the headers of Boost.Beast; nothing of Boost is linked.
#
# Gives the target EbbBoost::beast.
find_path(EbbBoost_INCLUDE_DIR boost/beast/http.hpp)
mark_as_advanced(EbbBoost_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(EbbBoost REQUIRED_VARS EbbBoost_INCLUDE_DIR)
if(EbbBoost_FOUND AND NOT TARGET EbbBoost::beast)
  add_library(EbbBoost::beast INTERFACE IMPORTED)
  target_include_directories(EbbBoost::beast SYSTEM INTERFACE "${EbbBoost_INCLUDE_DIR}")
endif()
