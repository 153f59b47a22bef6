#ifndef MSD_SUPERVISOR_CARE_H
#define MSD_SUPERVISOR_CARE_H
/* The store is looked into, or after, for who administers the daemon: between what else
 * the keeper has to do. */
#include "daemon/supervisor/keep/keeper.h"
#include "proto/bytes.h"
#include "proto/limits.h"

enum msd_care_what {
	MSD_CARE_LIST,    /* a page of the editions behind `name` */
	MSD_CARE_VERIFY,  /* the files of the first module behind `name` */
	MSD_CARE_COLLECT, /* what nobody needs is removed */
	MSD_CARE_PIN,     /* the module `name` */
	MSD_CARE_UNPIN
};

/* Embedded by who asks. */
struct msd_care {
	struct msd_keeper_job job; /* its err and d say how it went */
	enum msd_care_what what;
	char name[MSD_MAX_NAME_BYTES + 1]; /* a module's; empty: before all */
	struct msd_buf result; /* one msgpack object (store/inventory.h); the owner's,
				  who finishes it */
};

/** @done is called when it is done, or with the errors of store/inventory.h. */
void msd_care(struct msd_keeper *keeper, struct msd_care *care,
	      void (*done)(struct msd_keeper_job *job, struct msd_keeper *keeper));

#endif
