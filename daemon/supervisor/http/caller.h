#ifndef MSD_SUPERVISOR_CALLER_H
#define MSD_SUPERVISOR_CALLER_H
/*
 * The session of a visit, and what it asks for right now. One request is answered after
 * the other, so there is one call of it at a time at most (infer.h).
 */
#include "daemon/http/scatter.h"
#include "daemon/supervisor/edge/session.h"
#include "daemon/supervisor/http/asking.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/course.h"

struct msd_chores;
struct msd_history;
struct msd_infer;
struct msd_pieces;

struct msd_caller {
	struct msd_session session;
	struct msd_asking asking;
	struct msd_bearer bearer; /* who asks it */
	struct msd_course course; /* of its last request */
	struct msd_chores *chores;
	const struct msd_history *history;
	struct msd_infer *infer;   /* its call; NULL: there is none */
	struct msd_infer *last;    /* the one before it, in case that it comes again */
	struct msd_scatter inputs; /* of its call: where those that still come go */
	struct msd_pieces *pieces; /* of the answer that is being made; NULL: none */
	struct msd_buf text;       /* what is not copied: the first of the tail */
	/* What is written behind the answer, from where it lies; owned, but where the
	 * answer is known (infer_told.h). */
	struct iovec *tail;
	uint32_t n_tail;
	bool is_tail_known;
	struct msd_out *held; /* whose bytes they are */
	bool is_starting;     /* who asks looks at the answer himself */
	bool is_gone;         /* its connection is; what still works for it ends */
	/** The answer that was to come later is there: in `asking`. */
	void (*on_answer)(struct msd_caller *c);
	/** Its call has waited, and has room now for inputs that still come. */
	void (*on_room)(struct msd_caller *c);
	/** It holds more than it did, in `asking`. */
	void (*on_grown)(struct msd_caller *c);
};

#endif
