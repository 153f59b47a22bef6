#ifndef MSD_SUPERVISOR_OBJECT_RELEASE_H
#define MSD_SUPERVISOR_OBJECT_RELEASE_H
/* Frees objects of a worker that no client can name any more. One request frees many
 * objects, because a session may leave thousands. */
#include "daemon/supervisor/module/workers/process.h"
#include "proto/method.h"
#include "proto/value.h"

#define MSD_OBJECT_RELEASE_OBJECTS 256u

/* Objects of one worker that one request frees. */
struct msd_object_release {
	struct msd_client *client;   /* uses its queue; NULL: the client left */
	struct msd_process *process; /* of all; a reference while n > 0 */
	enum msd_kind kind;
	uint32_t n;
	struct msd_handle theirs[MSD_OBJECT_RELEASE_OBJECTS]; /* the worker's handles */
};

/** Return the method that frees objects of @kind: msd_object_made in object.h. */
enum msd_method msd_object_release_method(enum msd_kind kind);
/**
 * Add the handle @theirs of @p. If the collected objects are full or belong to
 * another worker or kind, they are sent first.
 */
void msd_object_release_add(struct msd_object_release *f, struct msd_process *p,
			    enum msd_kind kind, struct msd_handle theirs);
/** Send the collected objects to the worker; @f is empty afterwards. */
void msd_object_release_send(struct msd_object_release *f);
/** Free one object at once. @c: see msd_object_release.client. */
void msd_object_release_one(struct msd_client *c, struct msd_process *p,
			    enum msd_kind kind, struct msd_handle theirs);

#endif
