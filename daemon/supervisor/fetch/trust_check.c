#include "daemon/supervisor/fetch/trust_check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/log.h"
#include "proto/value.h"
#include "store/trusted_clock.h"

/*
 * Happy path: the keeper's thread reads the versions from the disk, raises them and
 * writes them. Then the loop's copy is raised, too, and the caller is notified.
 * Failures: the version is too old by now, or the disk write fails: the content is
 * rejected.
 */

void msd_trust_check_open(struct msd_trust_check *v)
{
	struct msd_diag d = {0};

	if (msd_minimum_versions_load(&v->keeper->store, &v->floors, &d) != MSD_OK) {
		msd_minimum_versions_finish(&v->floors);
		v->fault = strdup(msd_diag_text(&d));
		msd_log(MSD_LOG_ERROR, "store_failed", "why=\"%s\"", msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

void msd_trust_check_finish(struct msd_trust_check *v)
{
	msd_minimum_versions_finish(&v->floors);
	free(v->fault);
	v->fault = NULL;
}

/* The file may have been repaired since. */
msd_err msd_trust_check_check(struct msd_trust_check *v, struct msd_diag *d)
{
	if (v->fault != NULL) {
		free(v->fault);
		v->fault = NULL;
		msd_trust_check_open(v);
	}
	if (v->fault == NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO,
			    "the known signed versions cannot be read: %s; restore the "
			    "file \"versions\" of that folder, or move it away: then "
			    "the daemon accepts older versions, too",
			    v->fault);
}

static void put_keys(const struct msd_trust *t, struct msd_buf *ret)
{
	struct msd_buf keys = {0};

	for (uint32_t i = 0; i < t->n_keys; i++) {
		msd_buf_put(&keys, t->keys[i].id.b, MSD_KEY_ID_BYTES);
		msd_buf_put(&keys, t->keys[i].b, MSD_PUBLIC_KEY_BYTES);
	}
	msd_pack_cstr(ret, "keys");
	msd_pack_bin(ret, keys.p, keys.n);
	ret->bad = ret->bad || keys.bad;
	msd_buf_finish(&keys);
}

static void put_floors(const struct msd_trust_check *v, const char *name,
		       struct msd_buf *ret)
{
	const struct msd_trust *t = &v->trust;

	msd_pack_cstr(ret, "floors");
	msd_pack_array(ret, t->n_keys);
	for (uint32_t i = 0; i < t->n_keys; i++) {
		msd_pack_array(ret, 2);
		msd_pack_bin(ret, t->keys[i].id.b, MSD_KEY_ID_BYTES);
		msd_pack_uint(ret, msd_minimum_versions_find(&v->floors, name,
							     &t->keys[i].id));
	}
}

void msd_trust_check_put(const struct msd_trust_check *v, const char *name,
			 enum msd_policy policy, struct msd_buf *ret)
{
	msd_pack_cstr(ret, "policy");
	msd_pack_cstr(ret, msd_policy_word(policy));
	put_keys(&v->trust, ret);
	msd_pack_cstr(ret, "least");
	msd_pack_uint(ret, v->trust.least);
	put_floors(v, name, ret);
	msd_pack_cstr(ret, "newest");
	msd_pack_uint(ret, v->floors.newest_s);
}

static msd_err raise_floors(struct msd_minimum_versions *f,
			    const struct msd_checked_trust *v, struct msd_diag *d)
{
	const struct msd_fetched *got = &v->got;
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < got->n_signers; i++) {
		err = msd_minimum_versions_raise(f, v->name, &got->signers[i],
						 got->source.version, d);
	}
	f->newest_s = msd_trusted_clock_push((uint64_t)time(NULL), f->newest_s,
					     got->created_s);
	return err;
}

/* A newer version may have been accepted since the fetch began. */
static msd_err check_again(const struct msd_minimum_versions *f,
			   const struct msd_checked_trust *v, struct msd_diag *d)
{
	for (uint32_t i = 0; i < v->got.n_signers; i++) {
		if (msd_minimum_versions_find(f, v->name, &v->got.signers[i]) >
		    v->got.source.version) {
			return msd_diag_set(
				d, MSD_NOT_VERIFIED,
				"a later signed version was accepted meanwhile");
		}
	}
	return MSD_OK;
}

static struct msd_checked_trust *vouched_of(struct msd_keeper_job *job)
{
	return MSD_CONTAINER_OF(job, struct msd_checked_trust, job);
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	const struct msd_checked_trust *v = vouched_of(job);
	struct msd_minimum_versions f;

	job->err = msd_minimum_versions_load(&keeper->store, &f, &job->d);
	if (job->err == MSD_OK)
		job->err = check_again(&f, v, &job->d);
	if (job->err == MSD_OK)
		job->err = raise_floors(&f, v, &job->d);
	if (job->err == MSD_OK)
		job->err = msd_minimum_versions_save(&keeper->store, &f, &job->d);
	msd_minimum_versions_finish(&f);
}

static void vouched_free(struct msd_checked_trust *v)
{
	msd_source_finish(&v->got.source);
	msd_buf_finish(&v->tests);
	free(v->name);
	free(v->file);
	free(v);
}

static void on_worked(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_checked_trust *v = vouched_of(job);

	(void)keeper;
	if (job->err == MSD_OK)
		job->err = raise_floors(&v->vouch->floors, v, &job->d);
	v->done(v, &job->d);
	v->got.source = (struct msd_source){.fd = -1}; /* done() has taken it */
	msd_diag_finish(&job->d);
	vouched_free(v);
}

/* Copy borrowed data of the response that is needed longer. */
static bool keep_spans(struct msd_checked_trust *v, const char *name)
{
	v->name = strdup(name);
	v->file = v->got.file.n > 0
			  ? strndup((const char *)v->got.file.p, v->got.file.n)
			  : strdup("");
	msd_buf_put(&v->tests, v->got.tests.p, v->got.tests.n);
	v->got.file.p = (const uint8_t *)v->file;
	v->got.tests.p = v->tests.p;
	v->got.etag = (struct msd_span){0};
	return v->name != NULL && v->file != NULL && !v->tests.bad;
}

msd_err msd_signature_check_set(struct msd_trust_check *vouch, const char *name,
				struct msd_fetched *got, struct msd_checked_trust **ret,
				struct msd_diag *d)
{
	struct msd_checked_trust *v = calloc(1, sizeof(*v));

	if (v == NULL) {
		msd_source_finish(&got->source);
		return msd_diag_no_memory(d);
	}
	v->got = *got;
	v->vouch = vouch;
	if (!keep_spans(v, name)) {
		vouched_free(v);
		return msd_diag_no_memory(d);
	}
	msd_keeper_submit(vouch->keeper, &v->job, work, on_worked);
	*ret = v;
	return MSD_OK;
}
