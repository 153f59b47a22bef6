# msd_add_fuzz(NAME body [WITH parsers] SOURCES fuzz_body.c LIBS msd_proto): a fuzz target.
#
# The source defines `int msd_fuzz_accepts(const uint8_t *data, size_t n)`, non-zero when the
# parser takes the input (tests/fuzz/fuzz.h). Everywhere: the ctest replay_<name> runs it over
# tests/corpus/<name>/, where accept_* must be accepted and reject_* refused. One program,
# replay_<WITH>, has all targets with the same WITH; each source's function gets a name of its own
# there. With -DMSD_FUZZ=ON (clang): fuzz_<name>, a libFuzzer binary, as well; combine it with
# -DMSD_SANITIZE=address,undefined.
option(MSD_FUZZ "Build libFuzzer binaries (needs clang)" OFF)
if(MSD_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "MSD_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
endif()
if(MSD_FUZZ) # the parsers, too: libFuzzer is blind to code without coverage counters
  target_compile_options(msd_compile INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(msd_add_fuzz)
  cmake_parse_arguments(F "" "NAME;WITH" "SOURCES;LIBS" ${ARGN})
  if(NOT F_WITH)
    set(F_WITH parsers)
  endif()
  set(corpus "${PROJECT_SOURCE_DIR}/tests/corpus/${F_NAME}")
  set(fuzz "${PROJECT_SOURCE_DIR}/tests/fuzz")
  set(program replay_${F_WITH})

  if(NOT TARGET ${program})
    add_executable(${program} "${fuzz}/replay_main.c")
    target_link_libraries(${program} PRIVATE msd_compile)
    target_link_options(${program} PRIVATE ${MSD_TEST_LINKER})
    if(MSD_SANITIZE) # a list may have a comma, which no generator expression takes
      target_compile_definitions(${program} PRIVATE MSD_SANITIZED=1)
    else()
      target_compile_definitions(${program} PRIVATE MSD_SANITIZED=0)
    endif()
    # The rows of replay_main.c's table.
    set(rows "${CMAKE_CURRENT_BINARY_DIR}/${program}.h")
    file(GENERATE OUTPUT "${rows}" CONTENT
      "$<JOIN:$<TARGET_PROPERTY:${program},MSD_ROWS>,\n>\n" TARGET ${program})
    target_compile_definitions(${program} PRIVATE REPLAY_ROWS="${rows}")
  endif()
  set_property(TARGET ${program} APPEND PROPERTY MSD_ROWS "ROW(${F_NAME})")
  set_source_files_properties(fuzz_${F_NAME}.c PROPERTIES
    COMPILE_DEFINITIONS "msd_fuzz_accepts=msd_fuzz_accepts_${F_NAME}")
  target_sources(${program} PRIVATE ${F_SOURCES})
  target_link_libraries(${program} PRIVATE ${F_LIBS})
  add_test(NAME replay_${F_NAME} COMMAND ${program} ${F_NAME} "${corpus}")
  set_tests_properties(replay_${F_NAME} PROPERTIES LABELS "unit;fuzz" TIMEOUT ${MSD_TEST_LIMIT_S})
  if(MSD_SANITIZE) # four times as many places of each file
    add_test(NAME replay_${F_NAME}_closely COMMAND ${program} ${F_NAME} "${corpus}")
    set_tests_properties(replay_${F_NAME}_closely PROPERTIES LABELS "fuzz;nightly"
      TIMEOUT 1800 ENVIRONMENT MODSERD_MUTATIONS=4096)
  endif()

  if(MSD_FUZZ)
    add_executable(fuzz_${F_NAME} ${F_SOURCES} "${fuzz}/fuzz_main.c")
    target_link_libraries(fuzz_${F_NAME} PRIVATE ${F_LIBS} msd_compile)
    target_compile_definitions(fuzz_${F_NAME} PRIVATE
      msd_fuzz_accepts=msd_fuzz_accepts_${F_NAME})
    target_compile_options(fuzz_${F_NAME} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${F_NAME} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
