#include "daemon/supervisor/keep/look.h"

#include <unistd.h>

#include "daemon/wire/reserve.h"
#include "store/blob.h"

static msd_err read_found(struct msd_look *look, const struct msd_store *s,
			  struct msd_diag *d)
{
	msd_err err;

	look->fd = msd_reserve_now("modserd-artifact", look->bytes);
	if (look->fd < 0)
		return msd_diag_set(d, MSD_NO_SPACE, "no memory to read it into");
	err = msd_blob_get(s, &look->digest, look->bytes, look->fd, d);
	if (err == MSD_OK && msd_reserve_seal(look->fd) != 0)
		err = msd_diag_set(d, MSD_IO, "it cannot be sealed");
	if (err != MSD_OK) {
		(void)close(look->fd);
		look->fd = -1;
	}
	return err;
}

static bool has_manifest(const struct msd_edition *e, const struct msd_digest *digest)
{
	for (uint32_t i = 0; e != NULL && i < e->n_files; i++) {
		if (e->files[i].role == MSD_ROLE_MANIFEST &&
		    msd_digest_equal(&e->files[i].digest, digest))
			return true;
	}
	return false;
}

/* Of those that came up: one that is being tried is not tried again meanwhile. */
static enum msd_ref find_edition(const struct msd_look *look, const struct msd_store *s)
{
	static const enum msd_ref refs[] = {MSD_REF_CURRENT, MSD_REF_PREVIOUS};
	enum msd_ref found = MSD_REF_COUNT;
	struct msd_diag d = {0};
	struct msd_record r = {0};

	if (look->name == NULL || msd_record_load(s, look->name, &r, &d) != MSD_OK) {
		msd_diag_finish(&d); /* whoever brings it anew finds that again */
		return MSD_REF_COUNT;
	}
	for (unsigned i = 0; found == MSD_REF_COUNT && i < 2; i++) {
		if (has_manifest(r.editions[refs[i]], &look->digest))
			found = refs[i];
	}
	msd_record_finish(&r);
	return found;
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_look *look = MSD_CONTAINER_OF(job, struct msd_look, job);

	look->ref = find_edition(look, &keeper->store);
	if (look->ref != MSD_REF_COUNT)
		return;
	if (!msd_blob_find(&keeper->store, &look->digest, &look->bytes) ||
	    look->bytes == 0) {
		job->err = msd_diag_set(&job->d, MSD_NOT_FOUND, "it is not stored");
	} else if (look->bytes > look->max_bytes) {
		job->err = msd_diag_set(&job->d, MSD_TOO_LARGE, "it is too large");
	} else {
		job->err = read_found(look, &keeper->store, &job->d);
	}
}

void msd_look(struct msd_keeper *keeper, struct msd_look *look,
	      void (*done)(struct msd_keeper_job *job, struct msd_keeper *keeper))
{
	look->fd = -1;
	look->job.work = work;
	look->job.done = done;
	msd_keeper_submit(keeper, &look->job);
}
