#include "daemon/supervisor/repository/kept_load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/supervisor/keep/keep.h"
#include "daemon/supervisor/module/life/canary_watch.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/module_source.h"
#include "daemon/supervisor/repository/stored_edition.h"

/*
 * Happy path: a candidate is LOADING; its bytes and its record are written to the
 * disk; its worker starts. When it is READY, the record marks it as good, and then
 * the client gets its reply. Failures: a disk error fails the load. The module may be
 * gone when the disk job is done, so a job refers to it by serial number.
 */

struct keeping {
	struct msd_keep keep;
	struct msd_module_registry *registry;
	uint64_t serial;
};

static void keeping_free(struct keeping *k)
{
	if (k == NULL)
		return;
	if (k->keep.fd >= 0) {
		(void)close(k->keep.fd); /* not the last reference */
	}
	for (unsigned i = 0; i < MSD_PAPERS; i++)
		msd_attachment_close(&k->keep.papers[i]);
	msd_diag_finish(&k->keep.job.d);
	free(k->keep.edition);
	free(k);
}

static void on_written(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct keeping *k = MSD_CONTAINER_OF(
		MSD_CONTAINER_OF(job, struct msd_keep, job), struct keeping, keep);
	struct msd_module *m = msd_module_by_serial(k->registry, k->serial);

	if (m != NULL && job->err == MSD_OK) {
		m->group.source.version = k->keep.kept_version;
		m->group.source.edition = k->keep.kept_digest;
	}
	if (m != NULL) {
		msd_module_kept(m, job->err != MSD_OK ? &job->d : NULL);
	} else if (job->err == MSD_OK) {
		msd_keep_tried(keeper, k->keep.name, MSD_KEEP_WITHDRAWN, NULL, NULL);
	}
	keeping_free(k);
}

static struct msd_attachment *paper_of(struct keeping *k, enum msd_role role)
{
	return &k->keep.papers[role - MSD_ROLE_TEST];
}

/* Move the texts out of the module. */
static msd_err take_papers(struct keeping *k, struct msd_module *m, struct msd_diag *d)
{
	struct msd_buf *manifest = &m->group.source.manifest_text;
	struct msd_buf *signature = &m->group.source.signature;
	msd_err err = MSD_OK;

	if (m->trial != NULL) {
		err = msd_stored_self_tests_write(m->trial, paper_of(k, MSD_ROLE_TEST),
						  d);
	}
	if (err == MSD_OK) {
		err = msd_attachment_write((struct msd_span){manifest->p, manifest->n},
					   paper_of(k, MSD_ROLE_MANIFEST), d);
	}
	if (err == MSD_OK) {
		err = msd_attachment_write(
			(struct msd_span){signature->p, signature->n},
			paper_of(k, MSD_ROLE_SIGNATURE), d);
	}
	msd_buf_finish(manifest);
	msd_buf_finish(signature);
	return err;
}

/* Duplicate the descriptor: the module may be gone before the disk job is done. */
static msd_err fill(struct keeping *k, struct msd_module *m, struct msd_diag *d)
{
	const struct msd_worker_group *group = &m->group;
	const struct msd_source *source = &group->source;

	k->registry = m->group.registry;
	k->serial = m->serial;
	k->keep.fd = -1;
	k->keep.edition = calloc(1, sizeof(*k->keep.edition));
	if (k->keep.edition == NULL)
		return msd_diag_no_memory(d);
	k->keep.edition->version = source->version;
	k->keep.edition->digest = source->edition;
	k->keep.edition->has_name = source->has_name;
	k->keep.edition->name = source->name;
	msd_keep_label(&k->keep, msd_span_of(m->group.name),
		       msd_span_of(m->group.file));
	k->keep.part_bytes[0] = source->part_bytes[MSD_PART_MODEL];
	k->keep.part_bytes[1] = source->part_bytes[MSD_PART_GRAPH];
	k->keep.part_bytes[2] = source->part_bytes[MSD_PART_PARAMS];
	if (k->keep.part_bytes[0] == 0) { /* an upload, which has no part sizes */
		k->keep.part_bytes[0] =
			source->bytes - k->keep.part_bytes[1] - k->keep.part_bytes[2];
	}
	k->keep.fd = fcntl(source->fd, F_DUPFD_CLOEXEC, 0);
	if (k->keep.fd < 0)
		return msd_diag_set(d, MSD_IO, "no descriptor for the artifact");
	const msd_err err = take_papers(k, m, d);
	return err == MSD_OK ? msd_stored_options_put(&group->run, k->keep.edition, d)
			     : err;
}

void msd_kept_load_begin(struct msd_repository *r, struct msd_module *m)
{
	struct keeping *k = calloc(1, sizeof(*k));
	struct msd_diag d = {0};

	if ((k != NULL ? fill(k, m, &d) : msd_diag_no_memory(&d)) == MSD_OK) {
		msd_keep_candidate(r->keeper, &k->keep, on_written);
		return;
	}
	keeping_free(k);
	msd_module_kept(m, &d);
	msd_diag_finish(&d);
}

/* Reply even if the write failed: the next start retries a candidate that is not
 * marked as good. */
static void on_told(void *registry, uint64_t serial, bool is_watched)
{
	struct msd_module *m = msd_module_by_serial(registry, serial);

	if (m == NULL)
		return;
	if (m->life.state == MSD_STATE_READY || m->life.state == MSD_STATE_ASLEEP)
		msd_module_answer_waiters(m);
	if (is_watched)
		msd_module_watch(m);
}

void msd_kept_load_tried(struct msd_repository *r, struct msd_module *m, bool is_good)
{
	const struct msd_keep_after answer = {on_told, r->registry, m->serial};

	msd_keep_tried(r->keeper, m->group.name,
		       is_good ? MSD_KEEP_GOOD : MSD_KEEP_FAILED,
		       m->error != NULL ? m->error : "it was unloaded while it loaded",
		       is_good ? &answer : NULL);
}
