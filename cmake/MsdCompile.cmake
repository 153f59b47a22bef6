# One interface target that every target of the project links: include root, warnings,
# sanitizers. Nothing else sets flags.
option(MSD_WERROR "Treat warnings as errors (CI does)" OFF)
option(MSD_BENCH "Build the benchmarks in bench/" ON)
set(MSD_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

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
if(MSD_SANITIZE)
  target_compile_options(msd_compile INTERFACE
    -fsanitize=${MSD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  target_link_options(msd_compile INTERFACE -fsanitize=${MSD_SANITIZE})
endif()
