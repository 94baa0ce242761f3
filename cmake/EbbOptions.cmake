# ebb_options: how our own code is compiled. Private to the build, never seen by a consumer.
add_library(ebb_options INTERFACE)
target_compile_options(ebb_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       $<$<COMPILE_LANGUAGE:CXX>:-Wconversion;-Wsign-conversion>
                       $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
                       $<$<BOOL:${EBB_WARNINGS_AS_ERRORS}>:-Werror> -fstack-protector-strong)
target_compile_definitions(ebb_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>
                           EBB_VERSION="${PROJECT_VERSION}")
if(EBB_SANITIZE)
  add_compile_options(-fsanitize=${EBB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EBB_SANITIZE})
endif()
