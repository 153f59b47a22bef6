#ifndef MSD_CHILD_CGROUP_FILE_H
#define MSD_CHILD_CGROUP_FILE_H
/* The files of control groups: each takes a word in one write, or refuses it. */
#include <stddef.h>

/** Write @word to @file of the folder @dir. Returns 0, or the errno of what failed. */
int msd_cgroup_put(int dir, const char *file, const char *word);
/** The first bytes of a file, "" where it cannot be read, in the @room bytes at @ret.
 */
void msd_cgroup_get(int dir, const char *file, char *ret, size_t room);

#endif
