#ifndef MSD_SUPERVISOR_HANDOVER_POOL_H
#define MSD_SUPERVISOR_HANDOVER_POOL_H
/*
 * Handover pool: workers that an earlier daemon left, as the service manager returns
 * them. Each is four descriptors with one name (handover_name.h). A complete worker
 * waits here until a module needs one with the same start options. Incomplete and
 * unneeded workers are killed.
 *
 *   (put, part by part) --judge--> complete --take--> (owned by the caller)
 *                            |        '--clear--> killed
 *                            '--> incomplete: killed, if its process is known
 *
 * Only the pidfd identifies the process: no process is killed by its pid.
 */
#include "daemon/loop/list.h"
#include "daemon/supervisor/module/handover/handover_name.h"

/* Its descriptors, identified by their kind. */
enum msd_handover_part {
	MSD_HANDOVER_DOOR,     /* socket: receives the next supervisor's channel */
	MSD_HANDOVER_PROCESS,  /* pidfd */
	MSD_HANDOVER_OUTPUT,   /* read end of a pipe */
	MSD_HANDOVER_LIFELINE, /* write end of a pipe: the worker lives as long */
	MSD_HANDOVER_PARTS     /* not a part */
};

struct msd_handover {
	struct msd_list link; /* msd_handover_shelf.all */
	char text[MSD_HANDOVER_NAME_BYTES];
	struct msd_handover_name name;
	int fds[MSD_HANDOVER_PARTS]; /* owned; -1: missing */
	bool is_odd;                 /* a descriptor arrived that cannot belong to it */
};

#define MSD_HANDOVER_MOST 1024u /* maximum; further ones are killed */

struct msd_handover_shelf {
	struct msd_list all; /* msd_handover.link */
	uint32_t n;
};

/** Return the kind of @fd. */
enum msd_handover_part msd_handover_part_of(int fd);
/** Return the process of a pidfd; 0: not a pidfd, or the process is gone. */
pid_t msd_handover_process_of(int pidfd);
/**
 * Return why @w cannot be taken over; NULL: it is complete and its process lives.
 * Static.
 */
const char *msd_handover_fault(const struct msd_handover *w);

void msd_handover_shelf_init(struct msd_handover_shelf *s);
/**
 * Add the descriptor @fd, which is taken, with @name. False: it fits no worker, and
 * is closed.
 */
bool msd_handover_shelf_put(struct msd_handover_shelf *s, struct msd_span name, int fd);
/** All descriptors have arrived: kill incomplete workers. */
void msd_handover_shelf_judge(struct msd_handover_shelf *s);
/**
 * Remove and return a worker that was started for @key; NULL: none. The caller ends
 * it with msd_handover_free() or msd_handover_kill().
 */
struct msd_handover *msd_handover_shelf_pop(struct msd_handover_shelf *s,
					    const struct msd_digest *key);
/** True if one of them is in the control group of that number. */
bool msd_handover_shelf_has_group(const struct msd_handover_shelf *s, uint64_t group);
/** Kill all remaining workers, for @why. */
void msd_handover_shelf_clear(struct msd_handover_shelf *s, const char *why);

/**
 * Close its descriptors and free it. Its process lives as long as another process has
 * its lifeline.
 */
void msd_handover_free(struct msd_handover *w);
/** Kill its process and process group, for @why; then free it. */
void msd_handover_kill(struct msd_handover *w, const char *why);

#endif
