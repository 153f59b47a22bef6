#ifndef MSD_CONFINE_LANDLOCK_H
#define MSD_CONFINE_LANDLOCK_H
/*
 * Landlock: an unprivileged process restricts its own access. It covers files that no
 * rule allows, and other processes' memory and descriptors. On newer kernels it also
 * covers TCP, and signals outside the sandbox. It is permanent for the calling thread
 * and its descendants.
 *
 *   (nothing) --begin--> (rules are added) --enter--> (in force)
 *
 * landlock.c defines the interface's numbers, because a kernel is often newer than
 * the headers of the build.
 */
#include <stdbool.h>
#include <stdint.h>

/* Minimum version of the kernel's interface that restricts ... */
#define MSD_LANDLOCK_FILES 1u
#define MSD_LANDLOCK_TRUNCATE 3u /* ... truncation of files, too */
#define MSD_LANDLOCK_SIGNALS 6u  /* ... signals to other processes */

enum msd_landlock_reach {
	MSD_REACH_READ,
	MSD_REACH_RUN,  /* read, and execute */
	MSD_REACH_USE,  /* read and write existing files: devices */
	MSD_REACH_WRITE /* all except execute, and make devices and sockets */
};

struct msd_landlock {
	/* private */
	int fd;
	unsigned abi;
	uint64_t files; /* forbidden unless a rule allows it */
};

/** The version of the kernel's interface; 0: unsupported or disabled. */
unsigned msd_landlock_abi(void);
/**
 * Begin a rule set for version @abi, which may be lower than the kernel's; false if
 * the kernel refuses.
 */
bool msd_landlock_begin(struct msd_landlock *l, unsigned abi);
/**
 * Allow @reach on the file @path, or on everything below that directory. A missing
 * path is skipped.
 */
void msd_landlock_allow(const struct msd_landlock *l, const char *path,
			enum msd_landlock_reach reach);
/**
 * Enforce the rules; false if the kernel refuses, and nothing is enforced. Needs
 * no_new_privs (prctl), or the privilege for it. Ends @l in every case.
 */
bool msd_landlock_enter(struct msd_landlock *l);

#endif
