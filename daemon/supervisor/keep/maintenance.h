#ifndef MSD_SUPERVISOR_MAINTENANCE_H
#define MSD_SUPERVISOR_MAINTENANCE_H
/* Administrative jobs on the store: list, verify, collect, pin. They run in the
 * keeper's queue between other jobs. */
#include "daemon/supervisor/keep/keeper.h"
#include "proto/base/bytes.h"
#include "proto/limits.h"

enum msd_store_maintenance_what {
	MSD_STORE_MAINTENANCE_LIST,    /* a page of the editions after `name` */
	MSD_STORE_MAINTENANCE_VERIFY,  /* the files of the first module after `name` */
	MSD_STORE_MAINTENANCE_COLLECT, /* remove unused files */
	MSD_STORE_MAINTENANCE_PIN,     /* the module `name` */
	MSD_STORE_MAINTENANCE_UNPIN
};

/* Embedded by the caller. */
struct msd_store_maintenance {
	struct msd_keeper_job job; /* its err and d are the result */
	enum msd_store_maintenance_what what;
	char name[MSD_MAX_NAME_BYTES + 1]; /* module; empty: before the first one */
	struct msd_buf result; /* one msgpack object (store/inventory.h); owner frees */
};

/**
 * Submit the job; @done is called after success, or with the errors of
 * store/inventory.h.
 */
void msd_store_maintenance(struct msd_keeper *keeper,
			   struct msd_store_maintenance *care,
			   void (*done)(struct msd_keeper_job *job,
					struct msd_keeper *keeper));

#endif
