# msd_install_pc(NAME DESCRIPTION [REQUIRES MODULE...] [PRIVATE FLAG...]): the pkg-config file of
# the library NAME. PRIVATE is what its static form alone is linked with: no modules, which
# pkg-config would want of those who link the shared one, too. Paths are relative, so that
# `cmake --install --prefix` may choose another place.
function(msd_install_pc NAME DESCRIPTION)
  cmake_parse_arguments(MSD_PC "" "" "REQUIRES;PRIVATE" ${ARGN})
  set(MSD_PC_NAME "${NAME}")
  set(MSD_PC_DESCRIPTION "${DESCRIPTION}")
  list(JOIN MSD_PC_REQUIRES ", " MSD_PC_REQUIRES)
  list(JOIN MSD_PC_PRIVATE " " MSD_PC_PRIVATE)
  file(RELATIVE_PATH MSD_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/library.pc.in"
    "${CMAKE_CURRENT_BINARY_DIR}/${NAME}.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${NAME}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT libmodser-dev)
endfunction()
