# One interface target that every target of the project links: include root, warnings,
# sanitizers. Nothing else sets flags.
option(MSD_WERROR "Treat warnings as errors (CI does)" OFF)
option(MSD_BENCH "Build the benchmarks in bench/" ON)
set(MSD_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

add_library(msd_compile INTERFACE)
target_include_directories(msd_compile INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(msd_compile INTERFACE _GNU_SOURCE
  MSD_VERSION="${PROJECT_VERSION}")
target_compile_options(msd_compile INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wcast-qual -Wundef -Wvla -Wformat=2 -Wswitch-enum
  -Wimplicit-fallthrough -Wwrite-strings -fno-strict-aliasing)
if(MSD_WERROR)
  target_compile_options(msd_compile INTERFACE -Werror)
endif()
# A sanitizer's build is compiled and linked far more often than its reports are read: -O1 and
# line numbers alone take a third of its time away. What a format may be cut off at is judged
# by what -O2 knows of its arguments, which the other build does.
if(MSD_SANITIZE)
  target_compile_options(msd_compile INTERFACE
    -fsanitize=${MSD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -O1 -g1
    -Wno-format-truncation)
  target_link_options(msd_compile INTERFACE -fsanitize=${MSD_SANITIZE})
endif()

# A call crosses some forty small functions of three libraries: in a release the compiler sees
# them together, which takes a tenth of the supervisor's instructions. The objects are fat, and
# whoever else links them says so: a hundred tests would each compile them anew.
set(MSD_WHOLE OFF)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MSD_SANITIZE)
  set(MSD_WHOLE ON)
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -fno-lto")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -fno-lto")
  string(APPEND CMAKE_MODULE_LINKER_FLAGS " -fno-lto")
endif()
function(msd_whole_program executable)
  if(NOT MSD_WHOLE)
    return()
  endif()
  foreach(library IN LISTS ARGN)
    target_compile_options(${library} PRIVATE -flto -ffat-lto-objects)
  endforeach()
  target_link_options(${executable} PRIVATE -flto -flto-partition=one)
endfunction()
