#ifndef MSD_SUPERVISOR_QUEUE_H
#define MSD_SUPERVISOR_QUEUE_H

#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/replica.h"
/*
 * The queue of a module. The requests of one client form a client queue, in order.
 * Client queues take turns: one request each, or several calls that are known to be
 * short. So a client with a long pipeline does not starve other clients. Background
 * queues get a turn when all other queues are empty, and after every
 * MSD_QUEUE_FOREGROUND_TURNS turns of those.
 */
#define MSD_QUEUE_FOREGROUND_TURNS 16u

/** Queue @r of the group's module, and send all that can be sent. Takes @r. */
void msd_queue_put(struct msd_worker_group *group, struct msd_req *r);
/** Send the workers requests that they have room for. */
void msd_queue_pump(struct msd_worker_group *group);
/**
 * Send @rep a request whose answer is not needed, behind the queued requests of @c
 * (or NULL).
 */
void msd_queue_tell(struct msd_replica *rep, struct msd_client *c,
		    enum msd_method method, const struct msd_buf *params);
/** No client can name the @n objects of @rep: it frees them. */
void msd_queue_free_objects(struct msd_replica *rep,
			    const struct msd_reply_object *objects, uint32_t n);
/** @r names an object in the worker @p: send it to that worker, or refuse it. */
void msd_queue_need(struct msd_req *r, struct msd_process *p);
/** @c leaves: send its remaining notifications at once, and drop its client queues. */
void msd_queue_leave(struct msd_client *c);

#endif
