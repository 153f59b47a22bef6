# Libraries the project stands on. All are in Debian 12.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv>=1.44)
pkg_check_modules(MSGPACK REQUIRED IMPORTED_TARGET msgpack>=4.0)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle>=3.8)
pkg_check_modules(LIBARCHIVE REQUIRED IMPORTED_TARGET libarchive>=3.6)
pkg_check_modules(CONFUSE REQUIRED IMPORTED_TARGET libconfuse>=3.3)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c>=1.4)
find_program(PROTOC_C NAMES protoc-c REQUIRED) # Debian: protobuf-c-compiler
if(BUILD_TESTING)
  pkg_check_modules(CRITERION REQUIRED IMPORTED_TARGET criterion>=2.4)
endif()
