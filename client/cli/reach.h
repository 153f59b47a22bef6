#ifndef MSD_CLI_REACH_H
#define MSD_CLI_REACH_H
/* What a module may read in its sandbox, by what a daemon of this machine says of it.
 */
#include "client/modser.h"

/** May a module read the file at @path, which is absolute and goes through no link?
 * @info: the answer to server.info. True where that does not say. */
bool msd_reach_has(const modser_value *info, const char *path);

#endif
