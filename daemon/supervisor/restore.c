/*
 * Happy path: for each module is written down what is started, its files are read into
 * sealed memfds, and those are loaded like any others: what was good serves at once, a
 * candidate takes its place when it is READY.
 * Failures: a current edition that is damaged on the disk is passed over for the
 * previous one; without that the module is FAILED, and the record stays for who mends
 * it.
 */
#include "daemon/supervisor/restore.h"

#include <errno.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/preload.h"
#include "daemon/supervisor/source/source.h"
#include "daemon/wire/reserve.h"
#include "store/blob.h"
#include "store/editions.h"

/* All of them. */
struct restoring {
	struct msd_house *house;
	struct msd_store *store;
};

/* One module. */
struct restore {
	struct msd_house *house;
	const char *name;
	struct msd_record record;
	enum msd_ref ref; /* what is served; MSD_REF_COUNT: nothing is left */
	struct msd_diag passed_over; /* why it is not the current one */
	struct msd_source source;    /* of its files */
	struct msd_source tried;     /* of the candidate's; fd -1: none */
	struct msd_diag candidate;   /* why that cannot be */
};

static enum msd_source_part part_of(enum msd_role role)
{
	return role == MSD_ROLE_GRAPH    ? MSD_PART_GRAPH
	       : role == MSD_ROLE_PARAMS ? MSD_PART_PARAMS
					 : MSD_PART_MODEL;
}

static msd_err copy_files(const struct msd_store *s, const struct msd_edition *e,
			  struct msd_source *source, struct msd_diag *d)
{
	for (uint32_t i = 0; i < e->n_files; i++) {
		const struct msd_edition_file *f = &e->files[i];
		msd_err err = msd_blob_get(s, &f->digest, f->bytes, source->fd, d);

		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "%s", f->name);
		source->part_bytes[part_of(f->role)] = f->bytes;
	}
	return msd_source_seal(source, d);
}

/* The edition's files as one source, as an upload would have left them. */
static msd_err read_files(const struct msd_store *s, const struct msd_edition *e,
			  uint64_t max_bytes, struct msd_source *ret,
			  struct msd_diag *d)
{
	struct msd_source source = {.fd = -1};
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < e->n_files; i++) {
		if (__builtin_add_overflow(bytes, e->files[i].bytes, &bytes))
			return msd_diag_set(d, MSD_BAD_ARTIFACT, "sizes overflow");
	}
	msd_err err = msd_source_check_size(bytes, max_bytes, d);
	if (err == MSD_OK) {
		source.fd = msd_reserve_now(MSD_SOURCE_NAME, bytes);
		if (source.fd < 0)
			err = msd_source_no_space(bytes, errno, d);
	}
	if (err == MSD_OK)
		err = copy_files(s, e, &source, d);
	if (err != MSD_OK) {
		msd_source_finish(&source);
	} else {
		*ret = source;
	}
	return err;
}

/* What is served: the current edition, or the previous one when that cannot be had. */
static msd_err read_served(struct restore *r, const struct msd_store *s,
			   struct msd_diag *d)
{
	const uint64_t max_bytes = r->house->limits->max_upload;
	msd_err err =
		read_files(s, r->record.editions[r->ref], max_bytes, &r->source, d);

	if (err == MSD_OK || r->ref != MSD_REF_CURRENT ||
	    r->record.editions[MSD_REF_PREVIOUS] == NULL)
		return err;
	r->passed_over = *d;
	*d = (struct msd_diag){0};
	r->ref = MSD_REF_PREVIOUS;
	return read_files(s, r->record.editions[r->ref], max_bytes, &r->source, d);
}

static msd_err read_module(struct restore *r, struct msd_store *s, struct msd_diag *d)
{
	bool try_candidate;
	msd_err err = msd_record_load(s, r->name, &r->record, d);

	if (err != MSD_OK)
		return err;
	bool is_changed = r->record.editions[MSD_REF_CANDIDATE] != NULL;
	r->ref = msd_record_start(&r->record, &try_candidate);
	/* The attempt is on the disk before it is made. */
	if (is_changed)
		err = msd_record_save(s, r->name, &r->record, d);
	if (err == MSD_OK && r->ref != MSD_REF_COUNT)
		err = read_served(r, s, d);
	if (try_candidate) {
		(void)!read_files(s, r->record.editions[MSD_REF_CANDIDATE],
				  r->house->limits->max_upload, &r->tried,
				  &r->candidate);
	}
	return err;
}

/* Load the edition @ref from @source, which is taken. */
static msd_err load(struct restore *r, enum msd_ref ref, struct msd_source *source,
		    struct msd_diag *d)
{
	const struct msd_span name = {(const uint8_t *)r->name, strlen(r->name)};
	const struct msd_edition *e = r->record.editions[ref];
	struct msd_preload how = {0};
	struct msd_module *m;
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < e->n_options; i++)
		err = msd_preload_set(&how, e->options[i].key, e->options[i].value, d);
	if (err != MSD_OK) {
		msd_source_finish(source);
		return err;
	}
	const struct msd_load load = {.file = e->files[0].name,
				      .source = *source,
				      .replace = ref == MSD_REF_CANDIDATE &&
						 r->ref != MSD_REF_COUNT,
				      .device = how.device,
				      .workers = how.workers,
				      .era = how.era,
				      .fill = how.fill,
				      .is_candidate = ref == MSD_REF_CANDIDATE,
				      .is_written = true,
				      .tvm_inputs = how.tvm_inputs};
	return msd_module_load(r->house, name, &load, &m, d);
}

static void say(const struct restore *r, const char *edition, const struct msd_diag *d)
{
	if (d->code != MSD_OK) {
		msd_log(MSD_LOG_ERROR, "restore", "name=%s edition=%s why=\"%s\"",
			r->name, edition, msd_diag_text(d));
	}
}

/* It is FAILED, unless another has the name by now. */
static void add_failed(struct restore *r, struct msd_diag *d)
{
	const struct msd_span name = {(const uint8_t *)r->name, strlen(r->name)};

	if (d->code == MSD_EXISTS)
		return;
	(void)msd_diag_wrap(d, d->code, "load %s from the store", r->name);
	(void)!msd_module_add_failed(r->house, name, "store", d);
}

/* What came of each is told here: one module's failure is not the others'. */
static msd_err restore_module(void *ctx, const char *name, struct msd_diag *d)
{
	struct restoring *all = ctx;
	struct restore r = {.house = all->house,
			    .name = name,
			    .ref = MSD_REF_COUNT,
			    .source = {.fd = -1},
			    .tried = {.fd = -1}};
	msd_err err = read_module(&r, all->store, d);

	say(&r, "current", &r.passed_over);
	if (err == MSD_OK && r.ref != MSD_REF_COUNT)
		err = load(&r, r.ref, &r.source, d);
	if (err != MSD_OK) {
		say(&r, r.ref != MSD_REF_COUNT ? msd_ref_word(r.ref) : "any", d);
		add_failed(&r, d);
	}
	if (r.tried.fd >= 0)
		(void)!load(&r, MSD_REF_CANDIDATE, &r.tried, &r.candidate);
	say(&r, "candidate", &r.candidate);
	msd_diag_finish(&r.passed_over);
	msd_diag_finish(&r.candidate);
	msd_record_finish(&r.record);
	msd_diag_finish(d);
	return MSD_OK;
}

void msd_restore(struct msd_keeper *keeper, struct msd_house *house)
{
	struct restoring all = {house, &keeper->store};
	struct msd_diag d = {0};

	if (msd_record_each(&keeper->store, restore_module, &all, &d) != MSD_OK)
		msd_log(MSD_LOG_ERROR, "restore", "why=\"%s\"", msd_diag_text(&d));
	msd_diag_finish(&d);
}
