# SQLite for the portable build: compiled from the amalgamation in EBB_SQLITE_SOURCE and linked in.
find_file(EBB_SQLITE_FILE sqlite3.c PATHS "${EBB_SQLITE_SOURCE}" NO_DEFAULT_PATH
          NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(EBB_SQLITE_FILE)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SQLite3 REQUIRED_VARS EBB_SQLITE_FILE)
if(SQLite3_FOUND AND NOT TARGET SQLite::SQLite3)
  add_library(ebb_sqlite STATIC "${EBB_SQLITE_FILE}")
  target_include_directories(ebb_sqlite SYSTEM PUBLIC "${EBB_SQLITE_SOURCE}")
  target_compile_options(ebb_sqlite PRIVATE -w)
  # As Debian builds it where that matters here: threads lock, no extension is loaded.
  target_compile_definitions(ebb_sqlite PRIVATE SQLITE_THREADSAFE=1 SQLITE_OMIT_LOAD_EXTENSION
                                                SQLITE_DQS=0)
  add_library(SQLite::SQLite3 ALIAS ebb_sqlite)
endif()
