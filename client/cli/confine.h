#ifndef MSD_CLI_CONFINE_H
#define MSD_CLI_CONFINE_H
/*
 * A process that can read nothing of its user's: it compiles code that a stranger
 * wrote, and C can take any file in (#include, .incbin, a linker script). By Landlock,
 * in Linux since 5.13; Debian 12 has it on.
 */

#include <stdbool.h>
#include <stddef.h>

/* What such a compiler needs: all borrowed. */
struct msd_confine {
	const char *dir;    /* to be read and written */
	const char *tool;   /* the compiler: a name in PATH, or a path */
	const char *folder; /* to be read; NULL: none */
	char *const *files; /* the same */
	size_t n_files;
};

/** Whether the user wants no such thing: MODSER_TRUST_SOURCES is set. */
bool msd_confine_is_off(void);
/**
 * From now on the calling process, of one thread, and what it starts read system
 * folders (/usr, /lib, /bin, /opt and the like) and what @c names, and open nothing
 * else; the tool may be run and finds what is installed with it. No privileges can be
 * gained either. 0 or an errno; ENOSYS or EOPNOTSUPP where the kernel has no Landlock.
 */
int msd_confine_process(const struct msd_confine *c);

#endif
