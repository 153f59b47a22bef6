#ifndef MSD_CHILD_CGROUP_FILE_H
#define MSD_CHILD_CGROUP_FILE_H
/* Files of control groups: the kernel accepts one string per write, or rejects it. */
#include <stddef.h>

/** Write @word to @file in the directory @dir. Returns 0, or an errno. */
int msd_cgroup_put(int dir, const char *file, const char *word);
/**
 * Read the first bytes of a file into the @room bytes at @ret; "" if it cannot be
 * read.
 */
void msd_cgroup_get(int dir, const char *file, char *ret, size_t room);

#endif
