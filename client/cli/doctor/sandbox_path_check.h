#ifndef MSD_CLI_SANDBOX_PATH_CHECK_H
#define MSD_CLI_SANDBOX_PATH_CHECK_H
/* Checks which files a module can read in its sandbox, by the answer of a daemon on
 * this machine. */
#include "client/modser.h"

/**
 * True if a module may read the file at @path, which is absolute and without links.
 * @info: the answer to server.info; true if it does not describe the sandbox.
 */
bool msd_sandbox_path_check_has(const modser_value *info, const char *path);

#endif
