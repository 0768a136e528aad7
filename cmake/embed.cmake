# SPDX-License-Identifier: Apache-2.0
# What is generated at build time: SQL, migrations, protocol code, the version, the embedded console.
if(EXISTS /usr/bin/python3 AND NOT Python3_EXECUTABLE)
  set(Python3_EXECUTABLE /usr/bin/python3)  # the distribution's, which has python3-yaml
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
set(TAKT_GEN ${CMAKE_BINARY_DIR}/gen)

# src/<room>/sql/*.sql -> "takt/<room>/sql.h"; src/<room>/migrations/*.sql -> "takt/<room>/migrations.h".
function(takt_embed_sql room target)
  set(out ${TAKT_GEN}/${room}/takt/${room})
  foreach(kind sql migrations)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/${kind}/*.sql)
    if(NOT files)
      continue()
    endif()
    set(outputs ${out}/${kind}.h)
    if(kind STREQUAL "migrations")
      list(APPEND outputs ${out}/migrations.cc)
    endif()
    add_custom_command(OUTPUT ${outputs}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_sql.py --room ${room} --kind ${kind}
              --out ${out} ${files}
      DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/embed_sql.py
      COMMENT "Generating ${kind} of ${room}" VERBATIM)
    target_sources(${target} PRIVATE ${outputs})
    target_include_directories(${target} PUBLIC ${TAKT_GEN}/${room})
    add_custom_target(generate_${room}_${kind} DEPENDS ${outputs})
    set_property(GLOBAL APPEND PROPERTY TAKT_GENERATED generate_${room}_${kind})
  endforeach()
endfunction()

# api/proto/*.proto -> library takt_proto; headers by their bare names ("grpc_service.grpc.pb.h").
function(takt_proto)
  file(GLOB protos CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/proto/*.proto)
  if(NOT protos)
    return()
  endif()
  find_program(TAKT_PROTOC protoc REQUIRED)
  find_program(TAKT_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
  set(out ${TAKT_GEN}/proto)
  file(MAKE_DIRECTORY ${out})
  set(sources)
  foreach(proto ${protos})
    get_filename_component(stem ${proto} NAME_WE)
    set(outputs ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
    set(plugin)
    file(STRINGS ${proto} service REGEX "^service ")
    if(service)
      list(APPEND outputs ${out}/${stem}.grpc.pb.cc ${out}/${stem}.grpc.pb.h)
      set(plugin --grpc_out=${out} --plugin=protoc-gen-grpc=${TAKT_GRPC_PLUGIN})
    endif()
    add_custom_command(OUTPUT ${outputs}
      COMMAND ${TAKT_PROTOC} -I ${CMAKE_SOURCE_DIR}/api/proto --cpp_out=${out} ${plugin} ${proto}
      DEPENDS ${protos} COMMENT "Generating ${stem}.pb" VERBATIM)
    list(APPEND sources ${outputs})
  endforeach()
  add_library(takt_proto STATIC ${sources})
  add_custom_target(generate_proto DEPENDS ${sources})
  set_property(GLOBAL APPEND PROPERTY TAKT_GENERATED generate_proto)
  target_include_directories(takt_proto SYSTEM PUBLIC ${out})
  target_link_libraries(takt_proto PUBLIC PkgConfig::grpc PkgConfig::protobuf)
  target_compile_options(takt_proto PRIVATE -w -g0)
  set_target_properties(takt_proto PROPERTIES UNITY_BUILD OFF)
endfunction()

# The one place of the version is project() in CMakeLists.txt; C++ reads "takt/base/version.h".
function(takt_version target)
  file(CONFIGURE OUTPUT ${TAKT_GEN}/base/takt/base/version.h @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace takt {
inline constexpr std::string_view kVersion = \"@PROJECT_VERSION@\";
}  // namespace takt
")
  target_include_directories(${target} PUBLIC ${TAKT_GEN}/base)
endfunction()

# The console (web/dist) and the API description, as "takt/app/assets.h".
function(takt_assets target)
  set(out ${TAKT_GEN}/app/takt/app)
  file(GLOB_RECURSE web_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/dist/*)
  file(GLOB api_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/openapi/*.yaml)
  set(console)
  if(TAKT_CONSOLE AND NOT IS_DIRECTORY ${CMAKE_SOURCE_DIR}/web/node_modules)
    message(WARNING "building without the console: run tools/setup.sh web, then configure again")
  elseif(TAKT_CONSOLE)
    file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/public/*)
    file(GLOB web_settings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*.json ${CMAKE_SOURCE_DIR}/web/*.ts
         ${CMAKE_SOURCE_DIR}/web/index.html)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/console.stamp
      COMMAND sh -c "npm run build --prefix '${CMAKE_SOURCE_DIR}/web' --silent >console.log 2>&1 || { cat console.log; exit 1; }"
      COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/console.stamp
      DEPENDS ${web_sources} ${web_settings} ${api_files}
      WORKING_DIRECTORY ${CMAKE_BINARY_DIR} COMMENT "Building the console" VERBATIM)
    set(console ${CMAKE_BINARY_DIR}/console.stamp)
    set(web_files)
  endif()
  add_custom_command(OUTPUT ${out}/assets.h ${out}/assets.cc ${out}/assets.S
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_files.py --out ${out}
            --console ${CMAKE_SOURCE_DIR}/web/dist --openapi ${CMAKE_SOURCE_DIR}/api/openapi
            --version ${PROJECT_VERSION}
    DEPENDS ${web_files} ${api_files} ${console} ${CMAKE_SOURCE_DIR}/tools/embed_files.py
            ${CMAKE_SOURCE_DIR}/tools/bundle_openapi.py
    COMMENT "Embedding the console and the API description" VERBATIM)
  add_custom_target(generate_assets DEPENDS ${out}/assets.h)
  set_property(GLOBAL APPEND PROPERTY TAKT_GENERATED generate_assets)
  target_sources(${target} PRIVATE ${out}/assets.h ${out}/assets.cc ${out}/assets.S)
  set_source_files_properties(${out}/assets.S PROPERTIES OBJECT_DEPENDS ${out}/assets.cc)
  set_source_files_properties(${out}/assets.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${target} PUBLIC ${TAKT_GEN}/app)
endfunction()
