#ifndef MSD_SUPERVISOR_FREEING_H
#define MSD_SUPERVISOR_FREEING_H
/*
 * Objects of a worker that nobody can name any more: it is told to free them, many with
 * one request, for a session may leave thousands.
 */
#include "daemon/supervisor/module/process.h"
#include "proto/method.h"
#include "proto/value.h"

#define MSD_FREEING_OBJECTS 256u

/* Objects of one worker that it is told of with one request. */
struct msd_freeing {
	struct msd_client *client;   /* whose lane it follows; NULL: it has left */
	struct msd_process *process; /* of all; a reference, while there are any */
	enum msd_kind kind;
	uint32_t n;
	struct msd_handle theirs[MSD_FREEING_OBJECTS]; /* the worker's */
};

/** The method that frees objects of @kind, MSD_K_TENSOR or MSD_K_INSTANCE. */
enum msd_method msd_freeing_method(enum msd_kind kind);
/** Gather @theirs of @p; what has gathered is sent first when it is of another worker
 * or kind, or enough. */
void msd_freeing_add(struct msd_freeing *f, struct msd_process *p, enum msd_kind kind,
		     struct msd_handle theirs);
/** Have the worker free what has gathered; @f is empty then. */
void msd_freeing_send(struct msd_freeing *f);
/** One alone, at once; @c as msd_freeing.client. */
void msd_freeing_one(struct msd_client *c, struct msd_process *p, enum msd_kind kind,
		     struct msd_handle theirs);

#endif
