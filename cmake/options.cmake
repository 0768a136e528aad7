# SPDX-License-Identifier: Apache-2.0
# Compiler, warnings, sanitizers, linker and cache: what holds for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

find_program(TAKT_CCACHE ccache)
if(TAKT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A base directory of the source tree lets two clones share one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${TAKT_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_program(TAKT_MOLD mold)
if(TAKT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--as-needed)

add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

# Every own target links this; generated code (protobuf) does not.
set(warnings -Wall -Wextra -Werror -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wimplicit-fallthrough
    -Wno-missing-field-initializers)  # designated initialisers leave out what has a default
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of GCC 14 in optimised or sanitised standard-library code.
  list(APPEND warnings -Wno-maybe-uninitialized -Wno-dangling-reference -Wno-restrict -Wno-stringop-overflow
       -Wno-stringop-overread -Wno-array-bounds -Wno-free-nonheap-object -Wno-mismatched-new-delete
       -Wno-subobject-linkage -Wno-nonnull)
else()
  list(APPEND warnings -Wno-unknown-warning-option -Wno-missing-designated-field-initializers
       -Wno-unused-command-line-argument)
endif()
add_library(takt_warnings INTERFACE)
target_compile_options(takt_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

if(TAKT_SANITIZE)
  add_compile_options(-fsanitize=${TAKT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAKT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TAKT_SANITIZE MATCHES "undefined")
    # vptr checks need type information that Debian's libraries do not export.
    add_compile_options(-fno-sanitize=vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TAKT_SANITIZE MATCHES "thread")
    # Boost.Asio has fences, which GCC's thread sanitizer does not know and says so.
    target_compile_options(takt_warnings INTERFACE -Wno-tsan)
  endif()
endif()
