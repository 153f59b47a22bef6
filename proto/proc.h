#ifndef MSD_PROTO_PROC_H
#define MSD_PROTO_PROC_H
/* Files by which the kernel tells what goes on, below a folder that stands for "/" in
 * tests. */
#include <stddef.h>
#include <stdint.h>

/** The first bytes of the file, fewer than @n, as text in @ret, which is returned; "":
 * it cannot be read. */
const char *msd_proc_text(const char *root, const char *path, char *ret, size_t n);
/** The number behind @key and a space at the beginning of a line; 0: there is none. */
uint64_t msd_proc_number(const char *text, const char *key);
/** Call @each with the folder of every control group that the process @pid is in, and
 * of those around it. */
void msd_proc_groups(const char *root, int64_t pid,
		     void (*each)(void *ctx, const char *root, const char *folder),
		     void *ctx);
/** How many processors @pid may use, by its affinity and its groups' quotas, a part of
 * one as a whole; 0: not known. */
uint32_t msd_proc_processors(const char *root, int64_t pid);
/** The same of the calling thread, in thousandths of a processor, by the groups that
 * @root has; with one that it may use no file is read. */
uint64_t msd_proc_own_millis(const char *root);

#endif
