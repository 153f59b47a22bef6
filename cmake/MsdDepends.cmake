# Libraries the project stands on. All are in Debian 12. What is absent is named all at once,
# with the line that installs it.
find_package(PkgConfig)
find_package(Threads REQUIRED)
set(msd_absent "") # Debian's names of the packages that are not there

# The pkg-config module MODULE as the target PkgConfig::PREFIX; DEBIAN is the package that has it.
macro(msd_need PREFIX MODULE DEBIAN)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${PREFIX} QUIET IMPORTED_TARGET ${MODULE})
  endif()
  if(NOT ${PREFIX}_FOUND)
    message(STATUS "absent: ${MODULE}")
    list(APPEND msd_absent ${DEBIAN})
  endif()
endmacro()

if(NOT PKG_CONFIG_FOUND)
  list(APPEND msd_absent pkg-config)
endif()
msd_need(UV libuv>=1.44 libuv1-dev)
msd_need(MSGPACK msgpack>=4.0 libmsgpack-dev)
msd_need(JANSSON jansson>=2.13 libjansson-dev)
msd_need(NETTLE nettle>=3.8 nettle-dev)
msd_need(SODIUM libsodium>=1.0.18 libsodium-dev)
msd_need(SECCOMP libseccomp>=2.5 libseccomp-dev)
msd_need(LIBARCHIVE libarchive>=3.6 libarchive-dev)
msd_need(CONFUSE libconfuse>=3.3 libconfuse-dev)
msd_need(PROTOBUF_C libprotobuf-c>=1.4 libprotobuf-c-dev)
find_program(PROTOC_C NAMES protoc-c)
if(NOT PROTOC_C)
  list(APPEND msd_absent protobuf-c-compiler)
endif()
if(BUILD_TESTING)
  msd_need(CRITERION criterion>=2.4 libcriterion-dev)
endif()
if(msd_absent)
  list(JOIN msd_absent " " msd_absent)
  message(FATAL_ERROR "these packages are absent:\n  apt-get install ${msd_absent}\n"
    "scripts/setup installs all that building and testing need; "
    "-DBUILD_TESTING=OFF needs no libcriterion-dev")
endif()

# modserd-fetch alone; without it a daemon pulls nothing.
pkg_check_modules(CURL IMPORTED_TARGET libcurl>=7.85)
option(MSD_FETCH "build modserd-fetch, by which modules are pulled" ${CURL_FOUND})
if(MSD_FETCH AND NOT CURL_FOUND)
  message(FATAL_ERROR "MSD_FETCH needs libcurl >= 7.85 (Debian: libcurl4-openssl-dev)")
elseif(NOT MSD_FETCH)
  message(STATUS "modserd-fetch is not built (MSD_FETCH is off): module.pull is refused")
endif()
# modserd-tls.so and the clients' TLS; without it nobody listens on tls://.
pkg_check_modules(OPENSSL IMPORTED_TARGET openssl>=3.0)
option(MSD_TLS "build what speaks TLS" ${OPENSSL_FOUND})
if(MSD_TLS AND NOT OPENSSL_FOUND)
  message(FATAL_ERROR "MSD_TLS needs OpenSSL >= 3.0 (Debian: libssl-dev)")
elseif(NOT MSD_TLS)
  message(STATUS "TLS is not built (MSD_TLS is off): tls:// is refused")
endif()
