#include "daemon/supervisor/keep/maintenance.h"

#include "proto/value.h"
#include "store/inventory.h"

static msd_err pin(struct msd_store_maintenance *care, struct msd_store *s,
		   struct msd_diag *d)
{
	msd_pack_nil(&care->result);
	return msd_inventory_pin(s, care->name, care->what == MSD_STORE_MAINTENANCE_PIN,
				 d);
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_store_maintenance *care =
		MSD_CONTAINER_OF(job, struct msd_store_maintenance, job);
	struct msd_buf *result = &care->result;
	struct msd_store *s = &keeper->store;

	switch (care->what) {
	case MSD_STORE_MAINTENANCE_LIST:
		job->err = msd_inventory_list(s, care->name, result, &job->d);
		break;
	case MSD_STORE_MAINTENANCE_VERIFY:
		job->err = msd_inventory_verify(s, care->name, result, &job->d);
		break;
	case MSD_STORE_MAINTENANCE_COLLECT:
		job->err = msd_inventory_collect(s, result, &job->d);
		break;
	case MSD_STORE_MAINTENANCE_PIN:
	case MSD_STORE_MAINTENANCE_UNPIN:
	default:
		job->err = pin(care, s, &job->d);
		break;
	}
	if (job->err == MSD_OK && result->bad)
		job->err = msd_diag_no_memory(&job->d);
}

void msd_store_maintenance(struct msd_keeper *keeper,
			   struct msd_store_maintenance *care,
			   void (*done)(struct msd_keeper_job *job,
					struct msd_keeper *keeper))
{
	care->result = (struct msd_buf){0};
	care->job.work = work;
	care->job.done = done;
	msd_keeper_submit(keeper, &care->job);
}
