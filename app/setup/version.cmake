# attnscope_version.h: the version and the commit of this build. Asked for at each
# build, written only when it changed, so that nothing is compiled for nothing.
# Included by CMakeLists.txt; run by itself (cmake -P) at build time.
if(CMAKE_SCRIPT_MODE_FILE)
  set(commit "")
  find_program(git_program git)
  if(git_program AND EXISTS "${SOURCE}/.git")
    execute_process(COMMAND "${git_program}" -c "safe.directory=${SOURCE}" -C "${SOURCE}" rev-parse --short=12 HEAD
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT commit)
    set(commit "unknown")
  endif()
  set(text "#pragma once\n// Written by app/setup/version.cmake.\n")
  string(APPEND text "#define ATTNSCOPE_VERSION \"${VERSION}\"\n")
  string(APPEND text "#define ATTNSCOPE_COMMIT \"${commit}\"\n")
  set(old "")
  if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE "${OUTPUT}" "${text}")
  endif()
  return()
endif()

set(version_header "${CMAKE_BINARY_DIR}/generated/attnscope_version.h")
add_custom_target(attnscope_write_version
  COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${CMAKE_SOURCE_DIR}" -D "VERSION=${PROJECT_VERSION}"
          -D "OUTPUT=${version_header}" -P "${CMAKE_CURRENT_LIST_FILE}"
  BYPRODUCTS "${version_header}"
  COMMENT "" VERBATIM)
add_library(attnscope_version INTERFACE)
target_include_directories(attnscope_version INTERFACE "${CMAKE_BINARY_DIR}/generated")
add_dependencies(attnscope_version attnscope_write_version)
