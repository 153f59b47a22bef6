#ifndef MSD_SUPERVISOR_CARE_H
#define MSD_SUPERVISOR_CARE_H
/* Administrative jobs on the store: list, verify, collect, pin. They run in the
 * keeper's queue between other jobs. */
#include "daemon/supervisor/keep/keeper.h"
#include "proto/bytes.h"
#include "proto/limits.h"

enum msd_care_what {
	MSD_CARE_LIST,    /* a page of the editions after `name` */
	MSD_CARE_VERIFY,  /* the files of the first module after `name` */
	MSD_CARE_COLLECT, /* remove unused files */
	MSD_CARE_PIN,     /* the module `name` */
	MSD_CARE_UNPIN
};

/* Embedded by the caller. */
struct msd_care {
	struct msd_keeper_job job; /* its err and d are the result */
	enum msd_care_what what;
	char name[MSD_MAX_NAME_BYTES + 1]; /* module; empty: before the first one */
	struct msd_buf result; /* one msgpack object (store/inventory.h); owner frees */
};

/**
 * Submit the job; @done is called after success, or with the errors of
 * store/inventory.h.
 */
void msd_care(struct msd_keeper *keeper, struct msd_care *care,
	      void (*done)(struct msd_keeper_job *job, struct msd_keeper *keeper));

#endif
