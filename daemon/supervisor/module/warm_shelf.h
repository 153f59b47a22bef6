#ifndef MSD_SUPERVISOR_WARM_SHELF_H
#define MSD_SUPERVISOR_WARM_SHELF_H
/*
 * Workers that an earlier daemon left, as the service manager hands them over: each is
 * four descriptors under one name (warm_name.h). What is whole waits here until a
 * module asks for a worker that was started for just the same; what is not, and what
 * nobody asks for, is ended.
 *
 *   (put, part by part) --judge--> whole --take--> (its taker's)
 *                            |       '--clear--> killed
 *                            '--> not whole: killed, where it is known who it is
 *
 * Which process a descriptor is of says the descriptor alone: nothing is killed by a
 * number.
 */
#include "daemon/supervisor/module/warm_name.h"
#include "daemon/wire/list.h"

/* Its descriptors; what each is, is known by its kind. */
enum msd_warm_part {
	MSD_WARM_DOOR,     /* socket: the next supervisor's way to it */
	MSD_WARM_PROCESS,  /* pidfd */
	MSD_WARM_OUTPUT,   /* the end of a pipe that is read */
	MSD_WARM_LIFELINE, /* the end of a pipe that is written: it lives as long */
	MSD_WARM_PARTS     /* none of these */
};

struct msd_warm {
	struct msd_list link; /* msd_warm_shelf.all */
	char text[MSD_WARM_NAME_BYTES];
	struct msd_warm_name name;
	int fds[MSD_WARM_PARTS]; /* owned; -1: it has not come */
	bool is_odd;             /* something came that cannot be of it */
};

#define MSD_WARM_MOST 1024u /* more are ended */

struct msd_warm_shelf {
	struct msd_list all; /* msd_warm.link */
	uint32_t n;
};

/** What @fd is. */
enum msd_warm_part msd_warm_part_of(int fd);
/** Which process a pidfd is of; 0: it is none, or its process is gone. */
pid_t msd_warm_process_of(int pidfd);
/** Why @w cannot be taken over; NULL: it is whole, and its process lives. Static. */
const char *msd_warm_fault(const struct msd_warm *w);

void msd_warm_shelf_init(struct msd_warm_shelf *s);
/** A descriptor, owned from here on, came under @name. False: it is nobody's, and is
 * closed. */
bool msd_warm_shelf_put(struct msd_warm_shelf *s, struct msd_span name, int fd);
/** All has come: end what is not whole. */
void msd_warm_shelf_judge(struct msd_warm_shelf *s);
/** One that was started for @key, the caller's from here on, who ends it with
 * msd_warm_free() or msd_warm_kill(); NULL: there is none. */
struct msd_warm *msd_warm_shelf_take(struct msd_warm_shelf *s,
				     const struct msd_digest *key);
/** One of them is in the control group of that number. */
bool msd_warm_shelf_has_group(const struct msd_warm_shelf *s, uint64_t group);
/** End all that is left, because of @why. */
void msd_warm_shelf_clear(struct msd_warm_shelf *s, const char *why);

/** Close what it has, and free it. Its process lives as long as others have its
 * lifeline. */
void msd_warm_free(struct msd_warm *w);
/** The same, and kill its process and that one's group, because of @why. */
void msd_warm_kill(struct msd_warm *w, const char *why);

#endif
