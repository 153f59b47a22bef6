#ifndef MSD_WORKER_LANDLOCK_H
#define MSD_WORKER_LANDLOCK_H
/*
 * Landlock, by which a process without any privilege gives up what it could reach:
 * files that no rule allows, other processes' memory and descriptors, and from some
 * release of Linux on TCP, and signals to who is not in the same sandbox. It holds for
 * the thread that enters it and all that comes of it, for good.
 *
 * (nothing) --begin--> (rules are added) --enter--> (in force)
 *
 * The numbers of the interface stand in landlock.c: a kernel is often newer than the
 * headers that a program is built with.
 */
#include <stdbool.h>
#include <stdint.h>

/* From this version of the kernel's interface on it holds ... */
#define MSD_LANDLOCK_FILES 1u
#define MSD_LANDLOCK_TRUNCATE 3u /* ... files against being cut off, too */
#define MSD_LANDLOCK_SIGNALS 6u  /* ... other processes against signals */

enum msd_landlock_reach {
	MSD_REACH_READ,
	MSD_REACH_RUN,  /* read, and execute */
	MSD_REACH_USE,  /* read and write what is there: devices */
	MSD_REACH_WRITE /* all but execute, and make devices and sockets */
};

struct msd_landlock {
	/* private */
	int fd;
	unsigned abi;
	uint64_t files; /* what is forbidden where no rule is */
};

/** The version of the kernel's interface; 0: it has none, or it is not to be had. */
unsigned msd_landlock_abi(void);
/** Begin a set of rules for version @abi, which may be less than the kernel's; false:
 * the kernel refuses. */
bool msd_landlock_begin(struct msd_landlock *l, unsigned abi);
/** Allow @reach of the file at @path or of all below that folder. What is not there is
 * left out. */
void msd_landlock_allow(const struct msd_landlock *l, const char *path,
			enum msd_landlock_reach reach);
/** Put the rules in force; false: the kernel refuses, and nothing holds. Wants no new
 * privileges (prctl), or the privilege for it. Ends @l in every case. */
bool msd_landlock_enter(struct msd_landlock *l);

#endif
