/* Read-only views of a job: its progress, and facts about its content. */
#include <string.h>

#include "daemon/fetch/job.h"
#include "daemon/fetch/target.h"

bool msd_job_needs_devices(const struct msd_job *job)
{
	return job->plan.needs_devices || job->oci.needs_devices;
}

/* Total of all files once the manifest is known. The manifest's own size is
 * negligible. */
static uint64_t total_bytes(const struct msd_job *job, uint64_t alone)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < job->plan.manifest.n_files; i++) {
		if (job->plan.manifest.files[i].role <= MSD_ROLE_MODEL)
			total += job->plan.manifest.files[i].bytes;
	}
	return job->plan.has_manifest ? total : alone;
}

uint64_t msd_job_progress(const struct msd_job *job, uint64_t *ret_total)
{
	uint64_t alone = 0, bytes = 0;

	*ret_total = 0;
	if (msd_fetch_target_is_text(job))
		return 0;
	if (job->uri.scheme == MSD_SCHEME_OCI) {
		const struct msd_oci_layer *layer =
			job->pick.manifest != NULL ? msd_pick_layer(&job->pick) : NULL;

		alone = layer != NULL ? layer->blob.bytes : 0;
		bytes = job->landing.sink.bytes;
	} else {
		bytes = msd_transfer_progress(&job->transfer, &alone);
	}
	*ret_total = total_bytes(job, alone);
	return job->landing.part_at + bytes;
}

const char *msd_job_etag(const struct msd_job *job)
{
	const char *etag = job->version[0] != '\0' ? job->version : job->transfer.etag;

	return !job->plan.has_manifest && etag != NULL && etag[0] == '"' ? etag : NULL;
}

const char *msd_job_file(const struct msd_job *job)
{
	const struct msd_edition_manifest *m = &job->plan.manifest;
	const char *picked = msd_pick_file(&job->pick);
	const char *path = picked[0] != '\0' ? picked : job->uri.path;
	const char *slash = strrchr(path, '/');

	for (uint32_t i = 0; job->plan.has_manifest && i < m->n_files; i++) {
		if (m->files[i].role == MSD_ROLE_LIBRARY ||
		    m->files[i].role == MSD_ROLE_MODEL)
			return m->files[i].name;
	}
	if (slash != NULL)
		path = slash + 1;
	return path[0] != '\0' ? path : "artifact";
}
