/*
 * Happy path: the start of each module is recorded in the store, its files are read
 * into sealed memfds, and the module loads from those. A good edition serves at once;
 * a candidate replaces it when it is READY. Failures: if the current edition is
 * damaged on the disk, the previous one is used. Without a previous edition the
 * module is FAILED, and the record stays for a repair. If the start cannot be
 * recorded (the disk is full), no candidate is tried.
 */
#include "daemon/supervisor/repository/restore.h"

#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/config/options.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/module/life/canary_watch.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/repository/edition.h"
#include "daemon/supervisor/repository/stored_edition.h"
#include "store/editions.h"

/* State of the whole restore. */
struct restoring {
	struct msd_module_registry *registry;
	struct msd_store *store;
	const struct msd_options *options;
};

/* State of one module. */
struct restore {
	struct msd_module_registry *registry;
	const char *name;
	const struct msd_preload *section; /* NULL: it was loaded by a client */
	struct msd_record record;
	enum msd_ref ref; /* the edition to serve; MSD_REF_COUNT: no edition is left */
	struct msd_diag passed_over;        /* why the current edition is not used */
	struct msd_source source;           /* bytes of the edition to serve */
	struct msd_source tried;            /* of the candidate; fd -1: no candidate */
	struct msd_stored_self_tests trial; /* of the candidate */
	struct msd_diag candidate;          /* why the candidate cannot be tried */
};

/* Read the current edition, or the previous one if the current one cannot be read. */
static msd_err read_served(struct restore *r, const struct msd_store *s,
			   struct msd_diag *d)
{
	const uint64_t max_bytes = r->registry->limits->max_upload;

	if (msd_edition_find(r->registry, r->record.editions[r->ref], &r->source))
		return MSD_OK;
	msd_err err = msd_edition_read(s, r->record.editions[r->ref], max_bytes,
				       &r->source, d);

	if (err == MSD_OK || r->ref != MSD_REF_CURRENT ||
	    r->record.editions[MSD_REF_PREVIOUS] == NULL)
		return err;
	r->passed_over = *d;
	*d = (struct msd_diag){0};
	r->ref = MSD_REF_PREVIOUS;
	return msd_edition_read(s, r->record.editions[r->ref], max_bytes, &r->source,
				d);
}

/* The self-tests of a candidate have not passed yet, so they must run again. */
static msd_err read_candidate(struct restore *r, const struct msd_store *s,
			      struct msd_diag *d)
{
	const struct msd_edition *e = r->record.editions[MSD_REF_CANDIDATE];
	const msd_err err = msd_stored_self_tests_read(s, e, &r->trial, d);

	if (err != MSD_OK)
		return err;
	return msd_edition_read(s, e, r->registry->limits->max_upload, &r->tried, d);
}

static void say_given_up(const struct restore *r)
{
	const struct msd_failure *f = &r->record.failure;
	char digest[MSD_DIGEST_TEXT];

	msd_digest_format(&f->digest, digest);
	msd_log(MSD_LOG_ERROR, "edition_rejected",
		"name=%s version=%llu sha256=%s why=\"%s\"", r->name,
		(unsigned long long)f->version, digest, f->why);
}

static msd_err read_module(struct restore *r, struct msd_store *s, struct msd_diag *d)
{
	msd_err err = msd_record_load(s, r->name, &r->record, d);

	if (err != MSD_OK)
		return err;
	const bool is_changed = r->record.editions[MSD_REF_CANDIDATE] != NULL ||
				msd_record_is_watched(&r->record);
	const struct msd_record_begun begun = msd_record_start(&r->record);
	bool try_candidate = begun.try_candidate;

	r->ref = begun.ref;
	if (begun.has_given_up)
		say_given_up(r);
	/* Write the attempt to the disk before it is made; if that fails, do not make
	 * it. */
	if (is_changed)
		err = msd_record_save(s, r->name, &r->record, d);
	if (err != MSD_OK)
		try_candidate = false;
	if (err != MSD_OK && r->ref != MSD_REF_COUNT) { /* needs no record */
		r->candidate = *d;
		*d = (struct msd_diag){0};
		err = MSD_OK;
	}
	if (err == MSD_OK && r->ref != MSD_REF_COUNT)
		err = read_served(r, s, d);
	if (try_candidate)
		(void)!read_candidate(r, s, &r->candidate);
	return err;
}

/* Load the edition @ref from @source, which is taken. */
static msd_err load(struct restore *r, enum msd_ref ref, struct msd_source *source,
		    struct msd_diag *d)
{
	const bool is_candidate = ref == MSD_REF_CANDIDATE;
	struct msd_load options;
	struct msd_module *m;

	if (r->section != NULL)
		msd_preload_options(r->section, &options);
	const msd_err err = msd_edition_load(
		r->registry, r->name, r->record.editions[ref], source,
		(struct msd_edition_how){
			.options = r->section != NULL ? &options : NULL,
			.is_candidate = is_candidate,
			.trial = is_candidate ? &r->trial : NULL,
			.replace = is_candidate && r->ref != MSD_REF_COUNT},
		&m, d);
	if (err != MSD_OK || is_candidate)
		return err;
	if (ref == MSD_REF_CURRENT && msd_record_is_watched(&r->record))
		msd_module_watch(m);
	if (r->record.failure.why[0] != '\0') {
		msd_failed_edition_note(&m->failed_edition, &r->record.failure.digest,
					r->record.failure.why);
	}
	return MSD_OK;
}

/* Without a candidate, the start of a watched edition could not be recorded. */
static const char *tried(const struct restore *r)
{
	return r->record.editions[MSD_REF_CANDIDATE] != NULL ? "candidate" : "record";
}

static void say(const struct restore *r, const char *edition, const struct msd_diag *d)
{
	if (d->code != MSD_OK) {
		msd_log(MSD_LOG_ERROR, "store_restore", "name=%s edition=%s why=\"%s\"",
			r->name, edition, msd_diag_text(d));
	}
}

/* Add it as FAILED, unless another module has the name. */
static void add_failed(struct restore *r, struct msd_diag *d)
{
	const struct msd_span name = msd_span_of(r->name);

	if (d->code == MSD_EXISTS)
		return;
	(void)msd_diag_wrap(d, d->code, "load %s from the store", r->name);
	(void)!msd_module_add_failed(r->registry, name, "store", d);
}

/* Log the result of each module here: the failure of a module does not affect the
 * other modules. */
static msd_err restore_module(void *ctx, const char *name, struct msd_diag *d)
{
	struct restoring *all = ctx;
	struct restore r = {.registry = all->registry,
			    .name = name,
			    .section = msd_options_preload(all->options, name),
			    .ref = MSD_REF_COUNT,
			    .source = {.fd = -1},
			    .tried = {.fd = -1}};
	msd_err err = read_module(&r, all->store, d);

	say(&r, "current", &r.passed_over);
	if (err == MSD_OK && r.ref != MSD_REF_COUNT)
		err = load(&r, r.ref, &r.source, d);
	if (err == MSD_OK && r.ref == MSD_REF_COUNT && r.tried.fd < 0 &&
	    r.record.failure.why[0] != '\0')
		err = msd_diag_set(d, MSD_MODULE_FAILED, "%s", r.record.failure.why);
	if (err != MSD_OK) {
		say(&r, r.ref != MSD_REF_COUNT ? msd_ref_word(r.ref) : "any", d);
		add_failed(&r, d);
	}
	if (r.tried.fd >= 0)
		(void)!load(&r, MSD_REF_CANDIDATE, &r.tried, &r.candidate);
	say(&r, tried(&r), &r.candidate);
	msd_diag_finish(&r.passed_over);
	msd_diag_finish(&r.candidate);
	msd_stored_self_tests_finish(&r.trial);
	msd_record_finish(&r.record);
	msd_diag_finish(d);
	return MSD_OK;
}

void msd_restore(struct msd_keeper *keeper, struct msd_module_registry *registry,
		 const struct msd_options *o)
{
	struct restoring all = {registry, &keeper->store, o};
	struct msd_diag d = {0};

	if (msd_record_each(&keeper->store, restore_module, &all, &d) != MSD_OK) {
		msd_log(MSD_LOG_ERROR, "store_restore", "why=\"%s\"",
			msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}
