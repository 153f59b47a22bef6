/*
 * Happy path: the keeper's thread reads the signature of each current edition and
 * compares the names of its keys with the trusted keys. The loop's thread logs the
 * result. Failures: this file ignores an edition that cannot be read; serving it
 * reports the error.
 */
#include "daemon/supervisor/repository/key_revocation.h"

#include <stdlib.h>

#include "daemon/log.h"
#include "daemon/supervisor/fetch/fetch_options.h"
#include "store/blob.h"
#include "store/record.h"

#define MAX_SIGNATURE_BYTES (16u * 1024u)

struct distrusted {
	struct distrusted *next;
	char name[MSD_RECORD_WORD];
	uint64_t version;
	struct msd_digest digest;
	uint32_t n_named;
};

struct look {
	struct msd_keeper_job job;
	const struct msd_source_pollers *source_pollers;
	struct msd_trust trust;
	const struct msd_store *store; /* on the keeper's thread */
	struct distrusted *found;      /* owned */
};

static uint32_t least_of(const struct msd_trust *t)
{
	return t->least > 0 ? t->least : 1;
}

static const struct msd_edition_file *signature_of(const struct msd_edition *e)
{
	for (uint32_t i = 0; e != NULL && i < e->n_files; i++) {
		if (e->files[i].role == MSD_ROLE_SIGNATURE)
			return &e->files[i];
	}
	return NULL;
}

static void note(struct look *look, const char *name, const struct msd_edition *e,
		 uint32_t n_named)
{
	struct distrusted *one = calloc(1, sizeof(*one));

	if (one == NULL)
		return; /* the next start logs it */
	(void)snprintf(one->name, sizeof(one->name), "%s", name);
	one->version = e->version;
	one->digest = e->digest;
	one->n_named = n_named;
	one->next = look->found;
	look->found = one;
}

static msd_err look_at(void *ctx, const char *name, struct msd_diag *d)
{
	struct look *look = ctx;
	uint8_t text[MAX_SIGNATURE_BYTES];
	struct msd_record r;
	size_t n;

	if (msd_record_load(look->store, name, &r, d) != MSD_OK) {
		msd_diag_finish(d);
		return MSD_OK;
	}
	const struct msd_edition *e = r.editions[MSD_REF_CURRENT];
	const struct msd_edition_file *f = signature_of(e);
	if (f != NULL && f->bytes <= sizeof(text) &&
	    msd_blob_read(look->store, &f->digest, 0, text, sizeof(text), &n, d) ==
		    MSD_OK) {
		const uint32_t n_named =
			msd_trust_count_named(&look->trust, (struct msd_span){text, n});
		if (n_named < least_of(&look->trust))
			note(look, name, e, n_named);
	}
	msd_diag_finish(d);
	msd_record_finish(&r);
	return MSD_OK;
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct look *look = MSD_CONTAINER_OF(job, struct look, job);

	look->store = &keeper->store;
	job->err = msd_record_each(&keeper->store, look_at, look, &job->d);
}

static bool must_be_signed(const struct look *look, const char *name)
{
	const struct msd_fetch_options *t =
		msd_source_pollers_terms(look->source_pollers, name);

	return (t != NULL && t->has_policy ? t->policy : look->trust.policy) ==
	       MSD_POLICY_SIGNED;
}

static void done(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct look *look = MSD_CONTAINER_OF(job, struct look, job);

	(void)keeper;
	while (look->found != NULL) {
		struct distrusted *one = look->found;
		char digest[MSD_DIGEST_TEXT];

		look->found = one->next;
		msd_digest_format(&one->digest, digest);
		if (must_be_signed(look, one->name)) {
			msd_log(MSD_LOG_WARN, "edition_untrusted",
				"name=%s version=%llu sha256=%s why=\"%u trusted keys "
				"have signed it, expected %u; the module still serves: "
				"unload it, or pull another version\"",
				one->name, (unsigned long long)one->version, digest,
				one->n_named, least_of(&look->trust));
		}
		free(one);
	}
	msd_diag_finish(&job->d);
	free(look);
}

void msd_key_revocation_look(struct msd_keeper *keeper,
			     const struct msd_source_pollers *source_pollers,
			     const struct msd_trust *trust)
{
	struct look *look;

	if (!keeper->is_open || trust->n_keys == 0)
		return;
	look = calloc(1, sizeof(*look));
	if (look == NULL)
		return; /* the next start logs it */
	look->source_pollers = source_pollers;
	look->trust = *trust;
	msd_keeper_submit(keeper, &look->job, work, done);
}
