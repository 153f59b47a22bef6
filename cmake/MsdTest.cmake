# msd_test_command(VAR COMMAND...): COMMAND, so wrapped in a build with AddressSanitizer that a
# report of a sanitizer fails it: Criterion prints a leak and passes.
function(msd_test_command VAR TARGET)
  set(command $<TARGET_FILE:${TARGET}> ${ARGN})
  if(MSD_SANITIZE MATCHES "address")
    set(command "${PROJECT_SOURCE_DIR}/tests/lint/leaks.sh"
      "${PROJECT_BINARY_DIR}/reports/${TARGET}" ${command})
  endif()
  set(${VAR} ${command} PARENT_SCOPE)
endfunction()

# Some hundred tests are linked, each with most of the project: gold takes half of ld's time.
set(MSD_TEST_LINKER "")
find_program(MSD_GOLD ld.gold)
if(MSD_GOLD AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CROSSCOMPILING)
  set(MSD_TEST_LINKER -fuse-ld=gold)
endif()

# msd_add_test(NAME noun SOURCES a.c ... LIBS lib ... [LABELS unit]): a Criterion executable
# test_<noun>, run by ctest under that name.
function(msd_add_test)
  cmake_parse_arguments(T "" "NAME" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT T_LABELS)
    set(T_LABELS unit)
  endif()
  add_executable(test_${T_NAME} ${T_SOURCES})
  target_link_libraries(test_${T_NAME} PRIVATE ${T_LIBS} msd_compile PkgConfig::CRITERION)
  target_link_options(test_${T_NAME} PRIVATE ${MSD_TEST_LINKER})
  # Criterion's macros are not clean under the project's warnings.
  target_compile_options(test_${T_NAME} PRIVATE -Wno-pedantic -Wno-conversion
    -Wno-missing-prototypes -Wno-cast-qual -Wno-undef -Wno-switch-enum)
  set_target_properties(test_${T_NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  target_compile_definitions(test_${T_NAME} PRIVATE
    MSD_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MSD_BINARY_DIR="${PROJECT_BINARY_DIR}")
  msd_test_command(run test_${T_NAME} --timeout 300)
  add_test(NAME ${T_NAME} COMMAND ${run})
  set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${MSD_TEST_LIMIT_S})
endfunction()
