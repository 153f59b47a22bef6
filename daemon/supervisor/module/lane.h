#ifndef MSD_SUPERVISOR_LANE_H
#define MSD_SUPERVISOR_LANE_H
/*
 * The queued requests of one client to one module, in order; those that need none by
 * their deadlines, the earliest first.
 *
 * A lane whose client holds objects in one of several workers (resident tensors,
 * instances) has that replica as its home: all its requests go there, in order, until
 * it holds none and has none queued, or that worker is gone. Of a module with one
 * worker no lane has a home.
 *
 * What needs no order need not wait for that home: such a client has a second lane, the
 * loose one, which never has a home. What may wait for all others is in a third, the
 * background's.
 *
 * While something of it is being refused (refusal.h) a lane takes no turns.
 */
#include "daemon/supervisor/module/process.h"
#include "daemon/supervisor/module/replica.h"

/* What a client holds in a worker: how many objects, which are in the worker's table,
 * and their bytes. */
enum msd_held { MSD_HELD_TENSOR, MSD_HELD_INSTANCE, MSD_HELD_BYTES, MSD_HELD_COUNT };

#define MSD_LANE_TURN_US 8u /* of calls that are expected to be shorter */

enum msd_lane_kind { MSD_LANE_ORDERED, MSD_LANE_LOOSE, MSD_LANE_BACKGROUND };

/* What is being refused of a lane. */
enum msd_refused {
	MSD_REFUSED_NONE,
	MSD_REFUSED_LATE,
	MSD_REFUSED_DEADLY,
	MSD_REFUSED_ASKED,
	MSD_REFUSED_ALL
};

struct msd_why;

struct msd_lane {
	/* While it has requests: msd_crew.refused if some are being refused, else its
	 * home's lanes, else msd_crew.lanes or, of the background's,
	 * msd_crew.background. */
	struct msd_list link;
	struct msd_list client_link; /* msd_client.lanes */
	struct msd_list all_link;    /* msd_crew.all_lanes */
	struct msd_crew *crew;
	struct msd_client *client;
	struct msd_list requests; /* msd_req.link */
	struct msd_list passed;   /* likewise: of a refused one, those that stay */
	enum msd_refused refused;
	struct msd_why *why; /* it is; a reference, or NULL: out of memory */
	uint32_t n_requests; /* in both lists */
	uint64_t queued_us;  /* what they are expected to take, where it is known */
	uint32_t turn_us;    /* of what it has sent in this turn */
	struct msd_replica *home; /* NULL: any worker will do */
	/* At home, or with the only worker; what is being made included. */
	uint64_t n_held[MSD_HELD_COUNT];
	enum msd_lane_kind kind;
};

/** The lane of @c for @crew that keeps its order, or NULL. */
struct msd_lane *msd_lane_find(struct msd_client *c, const struct msd_crew *crew);
/** The same, made when there is none, in the account of @c; NULL: out of memory. */
struct msd_lane *msd_lane_get(struct msd_client *c, struct msd_crew *crew);
/** The one of that kind, likewise. */
struct msd_lane *msd_lane_get_kind(struct msd_client *c, struct msd_crew *crew,
				   enum msd_lane_kind kind);
/** The same, or NULL. */
struct msd_lane *msd_lane_find_kind(struct msd_client *c, const struct msd_crew *crew,
				    enum msd_lane_kind kind);
/* The requests at a lane's end that a new one goes ahead of. */
struct msd_overtaken {
	struct msd_list *last; /* the new one goes behind it; maybe the list */
	uint32_t n;
	uint64_t us; /* that they are expected to take */
};

/** What @r, which is in no lane, would overtake of @lane: a call that needs no order
 * those behind which no other stands that does, and which are due later, or not at all.
 */
struct msd_overtaken msd_lane_overtaken(const struct msd_lane *lane,
					const struct msd_req *r);
/** A call that one which comes later may overtake, and which is due. */
bool msd_lane_is_by_deadline(const struct msd_req *r);
/** Queue @r behind what is there, but for what it overtakes. */
void msd_lane_append(struct msd_lane *lane, struct msd_req *r);
/** The first request of a lane that has one, out of the queue; when its turn is over
 * the lane goes behind the others. */
struct msd_req *msd_lane_take(struct msd_lane *lane);
struct msd_req *msd_lane_first(const struct msd_lane *lane);
/** @r, which is in no list any more, is being freed while it was queued (cancelled,
 * expired, its client gone). */
void msd_lane_left(struct msd_req *r);
/** From its first request on @what is to be refused of a lane for @why, borrowed or
 * NULL, and nothing is sent. No-op without requests; @what is no less than before. */
void msd_lane_refuse(struct msd_lane *lane, enum msd_refused what, struct msd_why *why);
/** What was passed is looked at again, from the first request on. */
void msd_lane_look_again(struct msd_lane *lane);
/** The first request of a refused lane that has one stays. */
void msd_lane_pass(struct msd_lane *lane);
/** Nothing more is refused of a refused lane: it takes turns with what it has. */
void msd_lane_serve(struct msd_lane *lane);
/** All requests go to @home from here on. */
void msd_lane_bind(struct msd_lane *lane, struct msd_replica *home);
/** What the answer of @r is, which makes something. */
static inline enum msd_held msd_lane_held(const struct msd_req *r)
{
	return r->method == MSD_M_MODULE_INSTANCE ? MSD_HELD_INSTANCE : MSD_HELD_TENSOR;
}
/** The client has, or is about to have, one object more of @bytes in the worker @p; one
 * less. */
void msd_lane_hold(struct msd_client *c, const struct msd_process *p,
		   enum msd_held what, uint64_t bytes);
void msd_lane_release(struct msd_client *c, const struct msd_process *p,
		      enum msd_held what, uint64_t bytes);
/** How many @lane's client may have yet where it holds them, of which there are @all,
 * when each connection may have @max and its peer twice as many: that part of what
 * other peers leave, so that there are some for whoever comes next. */
uint64_t msd_lane_room(const struct msd_lane *lane, enum msd_held what, uint64_t max,
		       uint64_t all);
/** The worker of @home is gone, with all that anybody held there. */
void msd_lanes_unbind(struct msd_replica *home);
/** Free a lane with nothing in it. */
void msd_lane_free(struct msd_lane *lane);

#endif
