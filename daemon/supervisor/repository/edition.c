/*
 * Happy path: the files of an edition become one sealed source. The module loads from
 * it, with the options that the store keeps. Failures: a damaged edition, or one
 * without room in memory, is not loaded, and the caller gets the error.
 */
#include "daemon/supervisor/repository/edition.h"

#include <errno.h>
#include <string.h>

#include "daemon/segments/reserve.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/module/handover/handover_artifact.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/repository/stored_edition.h"
#include "store/blob.h"

static enum msd_source_part part_of(enum msd_role role)
{
	return role == MSD_ROLE_GRAPH    ? MSD_PART_GRAPH
	       : role == MSD_ROLE_PARAMS ? MSD_PART_PARAMS
					 : MSD_PART_MODEL;
}

static msd_err copy_files(const struct msd_store *s, const struct msd_edition *e,
			  struct msd_source *source, struct msd_diag *d)
{
	const struct msd_edition_file *only = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_files; i++) {
		const struct msd_edition_file *f = &e->files[i];

		if (!msd_role_is_loaded(f->role))
			continue;
		const msd_err err =
			msd_blob_get(s, &f->digest, f->bytes, source->fd, d);

		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "%s", f->name);
		source->part_bytes[part_of(f->role)] = f->bytes;
		only = f;
		n++;
	}
	/* A single file was hashed while it was read, which saves half of the start
	 * time. */
	return n == 1 ? msd_source_seal_hashed(source, &only->digest, only->bytes, d)
		      : msd_source_seal(source, d);
}

/* Name the source by the store's version and digest of the edition. */
static void name_source(struct msd_source *source, const struct msd_edition *e)
{
	source->version = e->version;
	source->edition = e->digest;
}

msd_err msd_edition_read(const struct msd_store *s, const struct msd_edition *e,
			 uint64_t max_bytes, struct msd_source *ret, struct msd_diag *d)
{
	struct msd_source source = {.fd = -1};
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < e->n_files; i++) {
		if (msd_role_is_loaded(e->files[i].role) &&
		    __builtin_add_overflow(bytes, e->files[i].bytes, &bytes))
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
		name_source(&source, e);
		*ret = source;
	}
	return err;
}

bool msd_edition_find(struct msd_module_registry *registry, const struct msd_edition *e,
		      struct msd_source *ret)
{
	const struct msd_edition_file *only = NULL;

	for (uint32_t i = 0; i < e->n_files; i++) {
		if (!msd_role_is_loaded(e->files[i].role))
			continue;
		if (only != NULL)
			return false; /* several files together have another digest */
		only = &e->files[i];
	}
	const int fd = only == NULL
			       ? -1
			       : msd_handover_artifact_find(&registry->warm.artifacts,
							    &only->digest, only->bytes);
	if (fd < 0)
		return false;
	*ret = (struct msd_source){
		.fd = fd, .bytes = only->bytes, .sha256 = only->digest};
	ret->part_bytes[part_of(only->role)] = only->bytes;
	name_source(ret, e);
	return true;
}

msd_err msd_edition_keys(const struct msd_edition *e, struct msd_preload *ret,
			 struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = (struct msd_preload){0};
	for (uint32_t i = 0; err == MSD_OK && i < e->n_options; i++)
		err = msd_preload_set(ret, e->options[i].key, e->options[i].value, d);
	return err;
}

static msd_err read_options(const struct msd_edition *e, struct msd_load *ret,
			    struct msd_diag *d)
{
	struct msd_preload how;
	const msd_err err = msd_edition_keys(e, &how, d);

	msd_preload_options(&how, ret);
	return err;
}

msd_err msd_edition_load(struct msd_module_registry *registry, const char *name,
			 const struct msd_edition *e, struct msd_source *source,
			 struct msd_edition_how more, struct msd_module **ret,
			 struct msd_diag *d)
{
	const struct msd_span span = msd_span_of(name);
	struct msd_load load = {0};
	msd_err err = MSD_OK;

	if (more.options != NULL) {
		load = *more.options;
	} else {
		err = read_options(e, &load, d);
	}
	if (err != MSD_OK) {
		msd_source_finish(source);
		return err;
	}
	load.file = e->files[0].name;
	load.source = *source;
	load.is_stored = true;
	load.replace = more.replace;
	load.begins = more.is_candidate ? MSD_LOAD_STORED : MSD_LOAD_READING;
	if (more.trial != NULL) {
		load.tests = more.trial->tests;
		load.warmup = more.trial->warmup;
	}
	return msd_module_load(registry, span, &load, ret, d);
}
