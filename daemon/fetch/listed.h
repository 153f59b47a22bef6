#ifndef MSD_FETCH_LISTED_H
#define MSD_FETCH_LISTED_H
/* Whether a URL is one of those that a prefix stands for (`pull-from`). Both are
 * compared by their parts: scheme, host and port must be the same, the path begin with
 * whole segments of the prefix's. */
#include <stdbool.h>

/** A URL with a user, or with a path that a server may read as another one (dots,
 * percent signs and backslashes that are left when it is decoded), is never listed. */
bool msd_listed(const char *prefix, const char *url);
/** Is the file at @resolved, a path without links, in the folder that the prefix leads
 * to, or that file itself? */
bool msd_listed_path(const char *prefix, const char *resolved);

#endif
