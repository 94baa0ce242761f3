# Boost.Beast for the portable build: Boost's headers alone, without the system's that lie beside them.
find_path(EBB_BOOST_HEADERS boost/beast/http.hpp NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(EBB_BOOST_HEADERS)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(EbbBoost REQUIRED_VARS EBB_BOOST_HEADERS)
if(EbbBoost_FOUND AND NOT TARGET EbbBoost::beast)
  set(headers "${PROJECT_BINARY_DIR}/boost")
  file(MAKE_DIRECTORY "${headers}")
  file(CREATE_LINK "${EBB_BOOST_HEADERS}/boost" "${headers}/boost" SYMBOLIC)
  add_library(EbbBoost::beast INTERFACE IMPORTED)
  target_include_directories(EbbBoost::beast SYSTEM INTERFACE "${headers}")
  # Boost 1.74 takes libc++ for one that has what C++20 took away, std::result_of.
  target_compile_definitions(EbbBoost::beast INTERFACE BOOST_ASIO_HAS_STD_INVOKE_RESULT=1)
endif()
