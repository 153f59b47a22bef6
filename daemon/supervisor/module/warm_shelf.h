#ifndef MSD_SUPERVISOR_WARM_SHELF_H
#define MSD_SUPERVISOR_WARM_SHELF_H
/*
 * Handover pool: workers that an earlier daemon left, as the service manager returns
 * them. Each is four descriptors with one name (warm_name.h). A complete worker waits
 * here until a module needs one with the same start options. Incomplete and unneeded
 * workers are killed.
 *
 *   (put, part by part) --judge--> complete --take--> (owned by the caller)
 *                            |        '--clear--> killed
 *                            '--> incomplete: killed, if its process is known
 *
 * Only the pidfd identifies the process: no process is killed by its pid.
 */
#include "daemon/supervisor/module/warm_name.h"
#include "daemon/wire/list.h"

/* Its descriptors, identified by their kind. */
enum msd_warm_part {
	MSD_WARM_DOOR,     /* socket: receives the next supervisor's channel */
	MSD_WARM_PROCESS,  /* pidfd */
	MSD_WARM_OUTPUT,   /* read end of a pipe */
	MSD_WARM_LIFELINE, /* write end of a pipe: the worker lives as long */
	MSD_WARM_PARTS     /* none of these */
};

struct msd_warm {
	struct msd_list link; /* msd_warm_shelf.all */
	char text[MSD_WARM_NAME_BYTES];
	struct msd_warm_name name;
	int fds[MSD_WARM_PARTS]; /* owned; -1: missing */
	bool is_odd;             /* a descriptor arrived that cannot belong to it */
};

#define MSD_WARM_MOST 1024u /* maximum; further ones are killed */

struct msd_warm_shelf {
	struct msd_list all; /* msd_warm.link */
	uint32_t n;
};

/** Return the kind of @fd. */
enum msd_warm_part msd_warm_part_of(int fd);
/** Return the process of a pidfd; 0: not a pidfd, or the process is gone. */
pid_t msd_warm_process_of(int pidfd);
/**
 * Return why @w cannot be taken over; NULL: it is complete and its process lives.
 * Static.
 */
const char *msd_warm_fault(const struct msd_warm *w);

void msd_warm_shelf_init(struct msd_warm_shelf *s);
/**
 * Add the descriptor @fd, which is taken, with @name. False: it fits no worker, and
 * is closed.
 */
bool msd_warm_shelf_put(struct msd_warm_shelf *s, struct msd_span name, int fd);
/** All descriptors have arrived: kill incomplete workers. */
void msd_warm_shelf_judge(struct msd_warm_shelf *s);
/**
 * Remove and return a worker that was started for @key; NULL: none. The caller ends
 * it with msd_warm_free() or msd_warm_kill().
 */
struct msd_warm *msd_warm_shelf_take(struct msd_warm_shelf *s,
				     const struct msd_digest *key);
/** True if one of them is in the control group of that number. */
bool msd_warm_shelf_has_group(const struct msd_warm_shelf *s, uint64_t group);
/** Kill all remaining workers, for @why. */
void msd_warm_shelf_clear(struct msd_warm_shelf *s, const char *why);

/**
 * Close its descriptors and free it. Its process lives as long as another process has
 * its lifeline.
 */
void msd_warm_free(struct msd_warm *w);
/** Kill its process and process group, for @why; then free it. */
void msd_warm_kill(struct msd_warm *w, const char *why);

#endif
