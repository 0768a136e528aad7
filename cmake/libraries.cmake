# SPDX-License-Identifier: Apache-2.0
# Outside libraries, and which room links which. A library not named for a room is not linked there;
# tools/check_layers.py keeps its headers out as well.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(GTest REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibArchive REQUIRED)
find_package(CURL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(protobuf REQUIRED IMPORTED_TARGET protobuf)
pkg_check_modules(grpc REQUIRED IMPORTED_TARGET grpc++)

# Plain library names where a distribution's CMake files differ between releases.
add_library(takt_httplib INTERFACE)
target_link_libraries(takt_httplib INTERFACE cpp-httplib OpenSSL::SSL OpenSSL::Crypto)
add_library(takt_prometheus INTERFACE)
target_link_libraries(takt_prometheus INTERFACE prometheus-cpp-core)
if(TARGET yaml-cpp::yaml-cpp)
  set(TAKT_YAML yaml-cpp::yaml-cpp)
else()
  set(TAKT_YAML yaml-cpp)
endif()

set(TAKT_LIBS_base nlohmann_json::nlohmann_json ${TAKT_YAML} OpenSSL::Crypto spdlog::spdlog Threads::Threads)
set(TAKT_LIBS_content PkgConfig::zstd PkgConfig::xxhash LibArchive::LibArchive)
set(TAKT_LIBS_net takt_httplib PkgConfig::grpc OpenSSL::SSL ZLIB::ZLIB PkgConfig::zstd Threads::Threads)
set(TAKT_LIBS_store SQLite::SQLite3 PostgreSQL::PostgreSQL CURL::libcurl OpenSSL::Crypto PkgConfig::zstd)
set(TAKT_LIBS_access OpenSSL::Crypto)
set(TAKT_LIBS_data PkgConfig::xxhash)
set(TAKT_LIBS_track PkgConfig::zstd PkgConfig::xxhash)
set(TAKT_LIBS_serve PkgConfig::simdjson PkgConfig::grpc PkgConfig::protobuf ${CMAKE_DL_LIBS} ZLIB::ZLIB)
set(TAKT_LIBS_gateway PkgConfig::grpc PkgConfig::protobuf)
set(TAKT_LIBS_services takt_prometheus PkgConfig::grpc)
set(TAKT_LIBS_observe takt_prometheus)
set(TAKT_LIBS_cli CLI11_headers)
set(TAKT_LIBS_app CLI11_headers takt_prometheus PkgConfig::grpc ${TAKT_YAML} ZLIB::ZLIB)
add_library(CLI11_headers INTERFACE)  # header-only and in the system's include path

# The rooms that may include the generated headers of api/proto.
set(TAKT_PROTO_ROOMS net serve gateway app)

# takt-shim is one static file: an exec of it costs 0.3 ms.
set(TAKT_SHIM_STATIC_LIBS libcrypto.a libzstd.a libz.a)
