#ifndef MSD_PROTO_INSTALLED_H
#define MSD_PROTO_INSTALLED_H

/**
 * Find the file @name that is installed with this program: $@variable, or beside this
 * program, or in ../libexec/modserd, where it must allow @access_mode. The caller
 * frees the path. NULL: it is missing, or out of memory.
 */
char *msd_installed_find(const char *variable, const char *name, int access_mode);

#endif
