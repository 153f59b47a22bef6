# What `cmake --install` puts in place of the client: the command, the library (shared and
# static), its one header (as <client/modser.h> in the tree, as <modser.h> installed), pkg-config and CMake
# packages, completion, manual pages.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libmodser-dev) # the package
set(MODSER_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/modser")
install(TARGETS modser_shared modser_archive EXPORT modserTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES modser.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT modserTargets NAMESPACE modser:: DESTINATION "${MODSER_CMAKE_DIR}")

configure_package_config_file(modserConfig.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/modserConfig.cmake"
  INSTALL_DESTINATION "${MODSER_CMAKE_DIR}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/modserConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
msd_install_pc(modser "Client library of modserd, the daemon that serves machine learning models"
  PRIVATE -lmsgpackc)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/modserConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/modserConfigVersion.cmake"
  DESTINATION "${MODSER_CMAKE_DIR}")
install(FILES "${PROJECT_SOURCE_DIR}/docs/man/modser.3"
  DESTINATION "${CMAKE_INSTALL_MANDIR}/man3")

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME modser)
install(TARGETS modser RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES completion/modser.bash RENAME modser
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES completion/modser.fish
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(FILES completion/_modser
  DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(FILES "${PROJECT_SOURCE_DIR}/docs/man/modser.1"
  DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${PROJECT_SOURCE_DIR}/docs/man/modserd.8"
  DESTINATION "${CMAKE_INSTALL_MANDIR}/man8" COMPONENT modserd)
# By its package alone: pip installs it elsewhere.
install(DIRECTORY python/modser DESTINATION lib/python3/dist-packages
  COMPONENT python3-modser EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
