# ebb_options: how our own code is compiled. Private to the build, never seen by a consumer.
add_library(ebb_options INTERFACE)
target_compile_options(ebb_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       $<$<COMPILE_LANGUAGE:CXX>:-Wconversion;-Wsign-conversion>
                       $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
                       $<$<BOOL:${EBB_WARNINGS_AS_ERRORS}>:-Werror> -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms in std::string: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  target_compile_options(ebb_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PROJECT_IS_TOP_LEVEL)
  # Less time for a little more memory: GCC collects no garbage below 1.5 GB.
  target_compile_options(ebb_options INTERFACE "SHELL:--param ggc-min-expand=1000"
                                               "SHELL:--param ggc-min-heapsize=1500000")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND EBB_SANITIZE)
  # With a sanitizer's calls in between GCC loses track of what a std::variant holds.
  target_compile_options(ebb_options INTERFACE -Wno-maybe-uninitialized)
endif()
# Some systems define _FORTIFY_SOURCE themselves; a second definition would be a warning.
target_compile_options(ebb_options
                       INTERFACE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
target_link_options(ebb_options INTERFACE LINKER:-z,relro,-z,now)
target_compile_definitions(ebb_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>
                           EBB_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Sanitized programs are large: lld takes a third of the time.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld EBB_HAS_LLD)
  if(EBB_HAS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
if(EBB_SANITIZE)
  add_compile_options(-fsanitize=${EBB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EBB_SANITIZE})
  if(EBB_SANITIZE STREQUAL "thread")
    add_compile_definitions(EBB_THREAD_SANITIZER)  # compilers do not agree on a macro of their own
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND EBB_SANITIZE MATCHES "undefined")
    # CUDA's and NVML's functions are called with handle types of our own.
    add_compile_options(
      -fno-sanitize=function
      -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitize/system_headers.txt)
  endif()
endif()
