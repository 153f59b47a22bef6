#ifndef MSD_FETCH_PULL_PREFIXES_H
#define MSD_FETCH_PULL_PREFIXES_H
/* Match a URL against a prefix of `pull-from`. The parts are compared: scheme, host
 * and port must be equal, and the path must begin with whole segments of the prefix. */
#include <stdbool.h>

/**
 * False for a URL with a user. Also false for a path that a server may read
 * differently: one with dots, or with percent signs or backslashes after decoding.
 */
bool msd_pull_prefix(const char *prefix, const char *url);
/**
 * True if @resolved, a path without links, is in the directory that the prefix leads
 * to, or is that file itself.
 */
bool msd_pull_prefix_path(const char *prefix, const char *resolved);

#endif
