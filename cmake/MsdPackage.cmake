# Debian packages: scripts/package, which configures a tree for /usr, calls cpack there. What
# belongs to which package is each install()'s component.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME modserd)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "The modserd authors <modserd@localhost>")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_SET_DESTDIR ON) # /etc is not below /usr
set(CPACK_COMPONENTS_ALL modserd modser libmodser-dev python3-modser)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

function(msd_package NAME SECTION DESCRIPTION)
  string(TOUPPER "${NAME}" key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME "${NAME}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION "${SECTION}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${DESCRIPTION}" PARENT_SCOPE)
endfunction()
msd_package(modserd net "daemon that serves compiled TVM modules")
msd_package(modser net "command line of modserd, the daemon that serves compiled TVM modules")
msd_package(libmodser-dev libdevel "C library of modserd's clients, serializers of modules and graphs")
msd_package(python3-modser python "Python client of modserd, the daemon that serves compiled TVM modules")

# Its units reload it and wait for it by the command line.
set(CPACK_DEBIAN_MODSERD_PACKAGE_DEPENDS "modser, systemd | systemd-standalone-sysusers")
set(CPACK_DEBIAN_MODSER_PACKAGE_SUGGESTS gcc) # links archives and what `modser pack` puts together
set(CPACK_DEBIAN_LIBMODSER-DEV_PACKAGE_SUGGESTS "libmsgpack-dev, libjansson-dev") # the static ones
set(deb "${PROJECT_SOURCE_DIR}/systemd/deb")
set(CPACK_DEBIAN_MODSERD_PACKAGE_CONTROL_EXTRA
  "${deb}/postinst;${deb}/prerm;${deb}/postrm;${deb}/conffiles")
set(CPACK_DEBIAN_LIBMODSER-DEV_PACKAGE_CONTROL_EXTRA "${deb}/triggers")
set(CPACK_DEBIAN_PYTHON3-MODSER_PACKAGE_DEPENDS
  "python3 (>= 3.9), python3-numpy, python3-msgpack")
set(CPACK_DEBIAN_PYTHON3-MODSER_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-MODSER_PACKAGE_SHLIBDEPS OFF)
foreach(package IN LISTS CPACK_COMPONENTS_ALL) # llhttp's notice goes with what has it in it
  install(FILES "${deb}/copyright" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}"
    COMPONENT "${package}")
endforeach()
include(CPack)
