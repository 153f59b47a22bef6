#ifndef MSD_SUPERVISOR_QUEUE_H
#define MSD_SUPERVISOR_QUEUE_H

#include "daemon/supervisor/module/process.h"
#include "daemon/supervisor/module/replica.h"
/*
 * A module's queue. Requests of one client form a lane, in order; lanes take turns, one
 * request each, or some calls that are known to be short, so that a client with a long
 * pipeline does not starve the others. The background's lanes have theirs when no other
 * has anything, and one for every MSD_QUEUE_FOREGROUND_TURNS of the others'.
 */
#define MSD_QUEUE_FOREGROUND_TURNS 16u

/** Queue @r of the crew's module, and send what can be sent. Takes @r. */
void msd_queue_put(struct msd_crew *crew, struct msd_req *r);
/** Send the workers what they have room for. */
void msd_queue_pump(struct msd_crew *crew);
/** Have @rep do what nobody needs the answer of, behind what @c (or NULL) has queued.
 */
void msd_queue_tell(struct msd_replica *rep, struct msd_client *c,
		    enum msd_method method, const struct msd_buf *params);
/** @r names an object in the worker @p: it goes there, or nowhere. */
void msd_queue_need(struct msd_req *r, struct msd_process *p);
/** @c goes: send at once what it left to be told, and forget its lanes. */
void msd_queue_leave(struct msd_client *c);

#endif
