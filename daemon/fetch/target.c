#include "daemon/fetch/target.h"

#include <string.h>

#define SIDE_BYTES MSD_MANIFEST_BYTES

/* The size limit of a manifest or signature is fixed, not an option. */
static msd_err open_side(struct msd_job *job, struct msd_diag *d)
{
	msd_download_buffer_close(&job->side);
	const msd_err err = msd_download_buffer_open(&job->side, SIDE_BYTES, d);

	job->side.limit =
		job->plan.want == MSD_WANT_MANIFEST ? "of a manifest" : "of signatures";
	return err;
}

msd_err msd_fetch_target_open(struct msd_job *job, uint64_t bytes,
			      const struct msd_digest *digest, struct msd_diag *d)
{
	msd_err err;

	if (msd_fetch_target_is_text(job))
		return open_side(job, d);
	err = msd_download_buffer_next(&job->landing, bytes, d);
	/* A local file is faster to read again than to resume. */
	if (err == MSD_OK && digest != NULL && job->uri.scheme != MSD_SCHEME_FILE)
		err = msd_download_buffer_go_on(&job->landing, digest, bytes, d);
	return err;
}

bool msd_fetch_target_again(struct msd_job *job, msd_err err, struct msd_diag *d)
{
	if (err != MSD_NOT_VERIFIED || msd_fetch_target_is_text(job))
		return false;
	const bool has_old = job->landing.has_old;
	msd_resume_file_drop(&job->landing.saved);
	if (!has_old || msd_download_buffer_restart(&job->landing, NULL) != MSD_OK)
		return false;
	msd_diag_finish(d);
	return true;
}

struct msd_download_buffer *msd_fetch_target_of(struct msd_job *job)
{
	const enum msd_want want = job->plan.want;

	return want == MSD_WANT_FILE || want == MSD_WANT_ALONE ? &job->landing
							       : &job->side;
}

bool msd_fetch_target_is_text(const struct msd_job *job)
{
	return job->plan.want == MSD_WANT_MANIFEST ||
	       job->plan.want == MSD_WANT_SIGNATURE;
}

msd_err msd_fetch_target_look(struct msd_job *job, struct msd_diag *d)
{
	const struct msd_edition_file *f = msd_fetch_steps_file(&job->plan);
	const char *name = f != NULL ? f->name : NULL;
	const msd_err err =
		msd_fetch_target_is_text(job)
			? msd_fetch_steps_text(&job->plan, &job->side, d)
			: msd_fetch_steps_came(&job->plan, &job->landing, d);

	if (err == MSD_OK)
		return MSD_OK;
	if (name != NULL)
		(void)msd_diag_wrap(d, err, "%s", name);
	return msd_diag_wrap(d, err, "%s", job->uri.shown);
}

static msd_err copy_text(const struct msd_job *job, char **ret, struct msd_diag *d)
{
	*ret = strdup(job->text);
	return *ret != NULL ? MSD_OK : msd_diag_no_memory(d);
}

msd_err msd_fetch_target_uri(const struct msd_job *job, char **ret, struct msd_diag *d)
{
	const struct msd_edition_file *f = msd_fetch_steps_file(&job->plan);

	if (job->uri.scheme == MSD_SCHEME_MODSER) /* transfer.file selects the file */
		return copy_text(job, ret, d);
	switch (job->plan.want) {
	case MSD_WANT_MANIFEST:
		return msd_uri_beside(job->text, NULL, ".json", ret, d);
	case MSD_WANT_SIGNATURE:
		return msd_uri_beside(job->text, NULL, ".json.minisig", ret, d);
	case MSD_WANT_FILE:
		return msd_uri_beside(job->text, f->name, NULL, ret, d);
	case MSD_WANT_ALONE:
	case MSD_WANT_NOTHING:
	default:
		return copy_text(job, ret, d);
	}
}
