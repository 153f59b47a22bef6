#include "daemon/supervisor/keep/keeper.h"

#include "proto/value.h"
#include "store/inventory.h"

bool msd_keeper_is_busy(const struct msd_keeper *k)
{
	return k->is_open && !msd_list_is_empty(&k->jobs);
}

static struct msd_keeper_job *job_of(struct msd_work *step)
{
	return MSD_CONTAINER_OF(step, struct msd_keeper_job, step);
}

static void on_work(struct msd_work *step)
{
	struct msd_keeper_job *job = job_of(step);

	job->work(job, job->keeper);
}

static void end(struct msd_keeper_job *job)
{
	msd_list_remove(&job->link);
	job->done(job, job->keeper);
}

static void on_worked(struct msd_work *step)
{
	struct msd_keeper *k = job_of(step)->keeper;

	end(job_of(step));
	if (!msd_keeper_is_busy(k) && k->on_idle != NULL)
		k->on_idle(k);
}

msd_err msd_keeper_open(struct msd_keeper *k, uv_loop_t *loop, const char *path,
			uint64_t max_bytes, struct msd_diag *d)
{
	msd_err err = msd_store_open(&k->store, path, MSD_STORE_WRITE, d);

	if (err != MSD_OK)
		return err;
	k->loop = loop;
	k->max_bytes = max_bytes > 0 ? max_bytes : UINT64_MAX;
	k->is_open = true;
	msd_work_lane_init(&k->lane, MSD_WORK_BULK, 1);
	msd_list_init(&k->jobs);
	return MSD_OK;
}

void msd_keeper_submit(struct msd_keeper *k, struct msd_keeper_job *job,
		       msd_keeper_call work, msd_keeper_call done)
{
	job->work = work;
	job->done = done;
	job->err = MSD_OK;
	job->d = (struct msd_diag){0};
	job->keeper = k;
	job->step =
		(struct msd_work){.run = on_work, .done = on_worked, .lane = &k->lane};
	msd_list_append(&k->jobs, &job->link);
	msd_work_begin(k->loop, &job->step);
}

void msd_keeper_close(struct msd_keeper *k)
{
	struct msd_list dropped;

	if (!k->is_open)
		return;
	msd_list_init(&dropped);
	MSD_LIST_EACH_SAFE (it, &k->jobs) {
		struct msd_keeper_job *job =
			MSD_CONTAINER_OF(it, struct msd_keeper_job, link);
		if (!msd_work_cancel(&job->step))
			continue;
		msd_list_remove(it);
		msd_list_append(&dropped, it);
	}
	k->on_idle = NULL;
	while (!msd_list_is_empty(&dropped)) {
		struct msd_keeper_job *job = MSD_CONTAINER_OF(
			msd_list_first(&dropped), struct msd_keeper_job, link);

		job->err = msd_diag_set(&job->d, MSD_DRAINING,
					"the daemon is shutting down");
		end(job);
	}
	while (!msd_list_is_empty(&k->jobs))
		(void)uv_run(k->loop, UV_RUN_ONCE);
	k->is_open = false;
	msd_store_close(&k->store);
}

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
			   struct msd_store_maintenance *care, msd_keeper_call done)
{
	care->result = (struct msd_buf){0};
	msd_keeper_submit(keeper, &care->job, work, done);
}
