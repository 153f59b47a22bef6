# Unit tests: one Criterion executable a room (a folder of tests/, with its subfolders where they
# say so), run by ctest as unit_<room>. Criterion runs each test in a process of its own, as many
# at once as the machine has processors.

# The rooms' executables are linked with most of the project: gold takes half of ld's time.
set(MSD_TEST_LINKER "")
find_program(MSD_GOLD ld.gold)
if(MSD_GOLD AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CROSSCOMPILING)
  set(MSD_TEST_LINKER -fuse-ld=gold)
endif()

# msd_add_run(NAME ROOM [FILTER]): a ctest that runs those tests of test_<ROOM> whose
# suite/name the pattern FILTER matches. In a build with AddressSanitizer a report of a sanitizer
# fails it: Criterion prints a leak and passes.
function(msd_add_run NAME ROOM FILTER)
  set(command $<TARGET_FILE:test_${ROOM}> --timeout 300 --filter "${FILTER}")
  if(MSD_SANITIZE MATCHES "address")
    list(PREPEND command "${PROJECT_SOURCE_DIR}/tests/lint/leaks.sh"
      "${PROJECT_BINARY_DIR}/reports/${NAME}")
  endif()
  add_test(NAME ${NAME} COMMAND ${command})
  set_tests_properties(${NAME} PROPERTIES LABELS unit TIMEOUT ${MSD_TEST_LIMIT_S} PROCESSORS 2)
endfunction()

# msd_add_tests(ROOM a.c b.c ... [LIBS lib ...] [DEPENDS target ...]): more sources, libraries and
# targets for the room's executable test_<ROOM>. A new test file is one more name in the list.
# Names of functions that are not static and names of suites are the room's: no two files have the
# same.
function(msd_add_tests ROOM)
  cmake_parse_arguments(T "" "" "LIBS;DEPENDS" ${ARGN})
  if(NOT TARGET test_${ROOM})
    add_executable(test_${ROOM} "${PROJECT_SOURCE_DIR}/tests/support/criterion.c")
    target_link_libraries(test_${ROOM} PRIVATE msd_compile PkgConfig::CRITERION)
    target_link_options(test_${ROOM} PRIVATE ${MSD_TEST_LINKER})
    # Criterion's macros are not clean under the project's warnings.
    target_compile_options(test_${ROOM} PRIVATE -Wno-pedantic -Wno-conversion
      -Wno-missing-prototypes -Wno-cast-qual -Wno-undef -Wno-switch-enum)
    set_target_properties(test_${ROOM} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    target_compile_definitions(test_${ROOM} PRIVATE
      MSD_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MSD_BINARY_DIR="${PROJECT_BINARY_DIR}")
    # Suites that msd_add_suites() runs elsewhere are left out.
    set(apart "$<TARGET_PROPERTY:test_${ROOM},MSD_APART>")
    msd_add_run(unit_${ROOM} ${ROOM} "$<IF:$<BOOL:${apart}>,!($<JOIN:${apart},|>),*>/*")
  endif()
  target_sources(test_${ROOM} PRIVATE ${T_UNPARSED_ARGUMENTS})
  target_link_libraries(test_${ROOM} PRIVATE ${T_LIBS})
  if(T_DEPENDS)
    add_dependencies(test_${ROOM} ${T_DEPENDS})
  endif()
endfunction()

# msd_add_suites(NAME ROOM SUITES suite ... [ENVIRONMENT NAME=value ...]): a ctest of its own for
# suites of the room that want another environment.
function(msd_add_suites NAME ROOM)
  cmake_parse_arguments(S "" "" "SUITES;ENVIRONMENT" ${ARGN})
  set_property(TARGET test_${ROOM} APPEND PROPERTY MSD_APART ${S_SUITES})
  list(JOIN S_SUITES "|" suites)
  msd_add_run(unit_${NAME} ${ROOM} "@(${suites})/*")
  set_tests_properties(unit_${NAME} PROPERTIES ENVIRONMENT "${S_ENVIRONMENT}")
endfunction()
