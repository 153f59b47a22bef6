#ifndef MSD_PROTO_PROC_H
#define MSD_PROTO_PROC_H
/* Read kernel files such as /proc and cgroups, below a root directory that tests
 * replace. */
#include <stddef.h>
#include <stdint.h>

/**
 * Read the start of the file, fewer than @n bytes, as text into @ret, which is
 * returned; "" if it cannot be read.
 */
const char *msd_proc_text(const char *root, const char *path, char *ret, size_t n);
/** The number after @key and a space at the start of a line; 0 if absent. */
uint64_t msd_proc_number(const char *text, const char *key);
/**
 * Call @each with the directory of every control group of the process @pid, and of
 * its parent groups.
 */
void msd_proc_groups(const char *root, int64_t pid,
		     void (*each)(void *ctx, const char *root, const char *folder),
		     void *ctx);
/**
 * Number of processors that @pid may use, by affinity and cgroup quotas, rounded up;
 * 0 if unknown.
 */
uint32_t msd_proc_processors(const char *root, int64_t pid);
/**
 * The same for the calling thread, in thousandths of a processor, by the groups under
 * @root. If its affinity is one processor, no file is read.
 */
uint64_t msd_proc_own_millis(const char *root);

#endif
