#ifndef MSD_SUPERVISOR_CLIENT_QUEUE_H
#define MSD_SUPERVISOR_CLIENT_QUEUE_H
/*
 * Client queue: the queued requests of one client to one module, in order. Requests
 * that need no order are sorted by their deadlines, earliest first.
 *
 * If a client holds objects in one of several workers (resident tensors, instances,
 * objects of libraries),
 * that replica is the home of its queue. All its requests go there, in order, until
 * it holds no object and has no request queued, or the worker is gone. In a module
 * with one worker no queue has a home.
 *
 * Requests that need no order need not wait for the home worker. Such a client has a
 * second queue, the loose one, which never has a home. A third queue, the
 * background's, holds requests that may wait for all other requests.
 *
 * While some of its requests are being refused (bulk_reject.h), a queue takes no turns.
 */
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/replica.h"

/* Objects that a client holds in a worker: numbers of entries in the worker's table,
 * and their bytes. */
enum msd_client_object {
	MSD_CLIENT_OBJECT_TENSOR,
	MSD_CLIENT_OBJECT_INSTANCE,
	MSD_CLIENT_OBJECT_OTHER, /* a library's */
	MSD_CLIENT_OBJECT_BYTES,
	MSD_CLIENT_OBJECT_COUNT
};

#define MSD_CLIENT_QUEUE_TURN_US                                                       \
	8u /* per turn, if calls are expected to be shorter                            \
	    */

enum msd_client_queue_kind {
	MSD_CLIENT_QUEUE_ORDERED,
	MSD_CLIENT_QUEUE_LOOSE,
	MSD_CLIENT_QUEUE_BACKGROUND
};

/* The level of refusal of a queue. */
enum msd_refused {
	MSD_REFUSED_NONE,
	MSD_REFUSED_LATE,
	MSD_REFUSED_DEADLY,
	MSD_REFUSED_ASKED,
	MSD_REFUSED_ALL
};

struct msd_reject_reason;

struct msd_client_queue {
	/*
	 * If it has requests: msd_worker_group.refused while some are being refused,
	 * else its home's lanes, else msd_worker_group.lanes, or
	 * msd_worker_group.background for the background's.
	 */
	struct msd_list link;
	struct msd_list client_link; /* msd_client.lanes */
	struct msd_list all_link;    /* msd_worker_group.all_client_queues */
	struct msd_worker_group *group;
	struct msd_client *client;
	struct msd_list requests; /* msd_req.link */
	struct msd_list passed;   /* msd_req.link: that stay in a refused queue */
	enum msd_refused refused;
	struct msd_reject_reason
		*why;             /* the reason; a reference, or NULL: out of memory */
	uint32_t n_requests;      /* in both lists */
	uint64_t queued_us;       /* expected time, of those with a known one */
	uint32_t turn_us;         /* expected time of what it sent in this turn */
	struct msd_replica *home; /* NULL: any worker */
	/* At home, or in the only worker; includes objects being created. */
	uint64_t n_held[MSD_CLIENT_OBJECT_COUNT];
	enum msd_client_queue_kind kind;
};

/** Return the queue of @c for @group that keeps the order, or NULL. */
struct msd_client_queue *msd_client_queue_find(struct msd_client *c,
					       const struct msd_worker_group *group);
/**
 * The same; create it if it does not exist, in the account of @c. NULL: out of
 * memory.
 */
struct msd_client_queue *msd_client_queue_get(struct msd_client *c,
					      struct msd_worker_group *group);
/** The same for the queue of @kind. */
struct msd_client_queue *msd_client_queue_get_kind(struct msd_client *c,
						   struct msd_worker_group *group,
						   enum msd_client_queue_kind kind);
/** The same, or NULL if it does not exist. */
struct msd_client_queue *
msd_client_queue_find_kind(struct msd_client *c, const struct msd_worker_group *group,
			   enum msd_client_queue_kind kind);
/* Requests at the end of a queue that a new one overtakes. */
struct msd_overtaken {
	struct msd_list *last; /* the new one goes behind it; may be the list head */
	uint32_t n;
	uint64_t us; /* their expected time */
};

/**
 * Return the requests of @client_queue that @r, which is in no queue, would overtake. A
 * call that needs no order overtakes the calls at the end that need no order either and
 * are due later, or never.
 */
struct msd_overtaken
msd_client_queue_overtaken(const struct msd_client_queue *client_queue,
			   const struct msd_req *r);
/** True for a call with a deadline that a later call may overtake. */
bool msd_client_queue_is_by_deadline(const struct msd_req *r);
/** Append @r to the queue, before the requests that it overtakes. */
void msd_client_queue_append(struct msd_client_queue *client_queue, struct msd_req *r);
/**
 * Remove and return the first request of a queue that has one. When its turn is over,
 * the queue goes behind the other queues.
 */
struct msd_req *msd_client_queue_pop(struct msd_client_queue *client_queue);
struct msd_req *msd_client_queue_first(const struct msd_client_queue *client_queue);
/**
 * Account for @r, which is in no list any more and is being freed while queued
 * (cancelled, expired, its client gone).
 */
void msd_client_queue_left(struct msd_req *r);
/**
 * Start to refuse @what of a queue, from its first request on, for @why, borrowed or
 * NULL. The queue sends nothing meanwhile. No-op without requests; @what must not be
 * below the current level.
 */
void msd_client_queue_refuse(struct msd_client_queue *client_queue,
			     enum msd_refused what, struct msd_reject_reason *why);
/** Check passed requests again, from the first request on. */
void msd_client_queue_look_again(struct msd_client_queue *client_queue);
/** Pass the first request of a refused queue that has one: it stays. */
void msd_client_queue_pass(struct msd_client_queue *client_queue);
/** End the refusal: the queue takes turns with its remaining requests. */
void msd_client_queue_serve(struct msd_client_queue *client_queue);
/** Send all further requests to @home. */
void msd_client_queue_bind(struct msd_client_queue *client_queue,
			   struct msd_replica *home);
/** The kind of object that @r, a request that creates one, returns. */
static inline enum msd_client_object msd_client_queue_held(const struct msd_req *r)
{
	return r->method == MSD_M_MODULE_INSTANCE ? MSD_CLIENT_OBJECT_INSTANCE
						  : MSD_CLIENT_OBJECT_TENSOR;
}
/**
 * Count one object of @bytes more that the client holds, or will hold, in the worker
 * @p; or one less.
 */
void msd_client_queue_hold(struct msd_client *c, const struct msd_process *p,
			   enum msd_client_object what, uint64_t bytes);
void msd_client_queue_release(struct msd_client *c, const struct msd_process *p,
			      enum msd_client_object what, uint64_t bytes);
/**
 * Return how many more objects @client_queue's client may hold in its worker, of @all
 * in total. A connection may have @max and its peer twice as many. The peer gets a fair
 * part of what other peers leave, so that new peers get some.
 */
uint64_t msd_client_queue_room(const struct msd_client_queue *client_queue,
			       enum msd_client_object what, uint64_t max, uint64_t all);
/** Unbind the queues of @home: its worker is gone, with all objects held there. */
void msd_client_queues_unbind(struct msd_replica *home);
/** Free an empty queue. */
void msd_client_queue_free(struct msd_client_queue *client_queue);

#endif
