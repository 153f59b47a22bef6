#ifndef MSD_CLI_CONFINE_H
#define MSD_CLI_CONFINE_H
/*
 * Sandbox for a process that compiles untrusted code: it cannot read the user's
 * files. C can include any file (#include, .incbin, a linker script). Uses Landlock,
 * in Linux since 5.13; Debian 12 enables it.
 */

#include <stdbool.h>
#include <stddef.h>

/* Paths that the compiler needs: all borrowed. */
struct msd_confine {
	const char *dir;    /* readable and writable */
	const char *tool;   /* the compiler: a name in PATH, or a path */
	const char *folder; /* readable; NULL: none */
	char *const *files; /* readable */
	size_t n_files;
};

/** True if the user disabled the sandbox: MODSER_TRUST_SOURCES is set. */
bool msd_confine_is_off(void);
/**
 * Sandbox the calling process, which must have one thread, and its children. They can
 * read system folders (/usr, /lib, /bin, /opt and the like) and the paths of @c, and
 * open nothing else. They can run the tool, which finds the files installed with it.
 * They cannot gain privileges. Returns 0 or an errno; ENOSYS or EOPNOTSUPP if the
 * kernel has no Landlock.
 */
int msd_confine_process(const struct msd_confine *c);

#endif
