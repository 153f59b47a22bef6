/*
 * store: what a folder of models holds, without a daemon.
 *
 * Happy path: the word after `store` picks a row of the table below; the folder is
 * opened as that row needs it, and what it does is printed.
 */
#include <inttypes.h>
#include <string.h>

#include "artifact/json.h"
#include "client/cli/print.h"
#include "client/cli/report.h"
#include "store/care.h"
#include "store/record.h"

/* What a row's function works on. */
struct job {
	struct msd_store store;
	const struct msd_cli *cli;
	struct msd_buf out;
	json_t *list; /* of --json: editions or faults */
	size_t n_faults;
};

static const char *name_of(const struct job *job)
{
	return job->cli->words[1];
}

static json_t *digest_json(const struct msd_digest *digest)
{
	char text[MSD_DIGEST_TEXT];

	msd_digest_format(digest, text);
	return msd_json_string(text);
}

static json_t *edition_json(const char *module, enum msd_ref ref,
			    const struct msd_edition *e, bool is_pinned)
{
	json_t *map = json_object();
	json_t *files = json_array();
	json_t *options = json_object();

	for (uint32_t i = 0; i < e->n_files; i++) {
		const struct msd_edition_file *f = &e->files[i];
		json_t *file = json_object();

		msd_json_set(&file, "role", msd_json_string(msd_role_word(f->role)));
		msd_json_set(&file, "name", msd_json_string(f->name));
		msd_json_set(&file, "bytes", json_integer((json_int_t)f->bytes));
		msd_json_set(&file, "sha256", digest_json(&f->digest));
		msd_json_add(&files, file);
	}
	for (uint32_t i = 0; i < e->n_options; i++) {
		msd_json_set(&options, e->options[i].key,
			     msd_json_string(e->options[i].value));
	}
	msd_json_set(&map, "module", msd_json_string(module));
	msd_json_set(&map, "ref", msd_json_string(msd_ref_word(ref)));
	msd_json_set(&map, "version", json_integer((json_int_t)e->version));
	msd_json_set(&map, "sha256", digest_json(&e->digest));
	msd_json_set(&map, "pinned", json_boolean(is_pinned));
	msd_json_set(&map, "files", files);
	msd_json_set(&map, "options", options);
	return map;
}

/* A line an edition: module, which one, version, digest, bytes, pinned. */
static void put_edition(struct msd_buf *out, const char *module, enum msd_ref ref,
			const struct msd_edition *e, bool is_pinned)
{
	bool for_people = msd_print_for_people();
	char digest[MSD_DIGEST_TEXT];
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < e->n_files; i++)
		bytes += e->files[i].bytes;
	msd_digest_format(&e->digest, digest);
	if (for_people) {
		msd_buf_printf(out,
			       "%-20s %-9s %12" PRIu64 " %.12s %12" PRIu64 " bytes%s\n",
			       module, msd_ref_word(ref), e->version, digest, bytes,
			       is_pinned ? " pinned" : "");
	} else {
		msd_buf_printf(out, "%s\t%s\t%" PRIu64 "\t%s\t%" PRIu64 "\t%s\n",
			       module, msd_ref_word(ref), e->version, digest, bytes,
			       is_pinned ? "pinned" : "");
	}
}

static msd_err list_module(void *ctx, const char *name, struct msd_diag *d)
{
	struct job *job = ctx;
	struct msd_record r;
	msd_err err = msd_record_load(&job->store, name, &r, d);

	if (err != MSD_OK)
		return err;
	for (unsigned ref = 0; ref < MSD_REF_COUNT; ref++) {
		const struct msd_edition *e = r.editions[ref];

		if (e == NULL)
			continue;
		if (job->cli->json) {
			msd_json_add(&job->list, edition_json(name, (enum msd_ref)ref,
							      e, r.is_pinned));
		} else {
			put_edition(&job->out, name, (enum msd_ref)ref, e, r.is_pinned);
		}
	}
	msd_record_finish(&r);
	return MSD_OK;
}

/* The document of --json, which is taken. */
static void put_json(struct job *job, json_t *json)
{
	msd_json_put(&job->out, json, 0);
	msd_buf_printf(&job->out, "\n");
}

static msd_err list(struct job *job, struct msd_diag *d)
{
	msd_err err = msd_record_each(&job->store, list_module, job, d);

	if (err == MSD_OK && job->cli->json)
		put_json(job, json_incref(job->list));
	return err;
}

static void put_fault(void *ctx, const char *module, const char *text)
{
	struct job *job = ctx;
	json_t *map = json_object();

	job->n_faults++;
	if (!job->cli->json)
		msd_buf_printf(&job->out, "%s: %s\n", module, text);
	msd_json_set(&map, "module", msd_json_string(module));
	msd_json_set(&map, "fault", msd_json_string(text));
	msd_json_add(&job->list, map);
}

static msd_err verify(struct job *job, struct msd_diag *d)
{
	uint64_t n_blobs;
	msd_err err = msd_store_verify(&job->store, put_fault, job, &n_blobs, d);

	if (job->cli->json) {
		json_t *map = json_object();

		msd_json_set(&map, "faults", json_incref(job->list));
		msd_json_set(&map, "files", json_integer((json_int_t)n_blobs));
		put_json(job, map);
	} else {
		msd_buf_printf(&job->out, "%" PRIu64 " file%s read, %zu fault%s\n",
			       n_blobs, n_blobs == 1 ? "" : "s", job->n_faults,
			       job->n_faults == 1 ? "" : "s");
	}
	if (err == MSD_OK && job->n_faults > 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "%s: %zu of its files or records are damaged",
				   job->store.path, job->n_faults);
	}
	return err;
}

static msd_err collect(struct job *job, struct msd_diag *d)
{
	struct msd_store_use use;
	msd_err err = msd_store_collect(&job->store, &use, d);

	if (err != MSD_OK)
		return err;
	const uint64_t kept = use.n_blobs - use.n_unneeded;
	const uint64_t kept_bytes = use.blob_bytes - use.unneeded_bytes;
	if (job->cli->json) {
		json_t *map = json_object();

		msd_json_set(&map, "removed", json_integer((json_int_t)use.n_unneeded));
		msd_json_set(&map, "removed_bytes",
			     json_integer((json_int_t)use.unneeded_bytes));
		msd_json_set(&map, "kept", json_integer((json_int_t)kept));
		msd_json_set(&map, "kept_bytes", json_integer((json_int_t)kept_bytes));
		put_json(job, map);
	} else {
		msd_buf_printf(&job->out,
			       "removed: %" PRIu64 " (%" PRIu64
			       " bytes); kept: %" PRIu64 " (%" PRIu64 " bytes)\n",
			       use.n_unneeded, use.unneeded_bytes, kept, kept_bytes);
	}
	return MSD_OK;
}

static msd_err set_pin(struct job *job, bool is_pinned, struct msd_diag *d)
{
	struct msd_record r;
	msd_err err = msd_record_load(&job->store, name_of(job), &r, d);

	if (err != MSD_OK)
		return err;
	if (r.is_pinned != is_pinned) {
		r.is_pinned = is_pinned;
		err = msd_record_save(&job->store, name_of(job), &r, d);
	}
	msd_record_finish(&r);
	return err;
}

static msd_err pin(struct job *job, struct msd_diag *d)
{
	return set_pin(job, true, d);
}

static msd_err unpin(struct job *job, struct msd_diag *d)
{
	return set_pin(job, false, d);
}

static msd_err forget(struct job *job, struct msd_diag *d)
{
	return msd_record_remove(&job->store, name_of(job), d);
}

static const struct {
	const char *word;
	bool has_name; /* a module's, after it */
	enum msd_store_mode mode;
	msd_err (*run)(struct job *job, struct msd_diag *d);
} rows[] = {
	{"ls", false, MSD_STORE_READ, list},
	{"verify", false, MSD_STORE_READ, verify},
	{"gc", false, MSD_STORE_WRITE, collect},
	{"pin", true, MSD_STORE_WRITE, pin},
	{"unpin", true, MSD_STORE_WRITE, unpin},
	{"rm", true, MSD_STORE_WRITE, forget},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static enum msd_exit report(const struct msd_diag *d)
{
	if (d->code == MSD_NOT_FOUND) {
		return msd_report_diag(MSD_EXIT_NOT_FOUND,
				       "`modser store ls -d DIR` lists what is there",
				       d);
	}
	if (d->code == MSD_BAD_ARTIFACT || d->code == MSD_UNSUPPORTED) {
		return msd_report_diag(
			MSD_EXIT_REFUSED,
			"load the module anew with --keep, or `modser store rm` it", d);
	}
	if (d->code == MSD_BUSY) {
		return msd_report_diag(MSD_EXIT_REMOTE,
				       "stop the daemon whose store it is first", d);
	}
	return msd_report_file(d);
}

static enum msd_exit run_row(size_t row, const struct msd_cli *cli)
{
	struct job job = {.cli = cli, .list = json_array()};
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;
	msd_err err = msd_store_open(&job.store, cli->dir, rows[row].mode, &d);

	if (err == MSD_OK) {
		err = rows[row].run(&job, &d);
		msd_store_close(&job.store);
	}
	if (job.out.bad) {
		code = msd_report_no_memory();
	} else {
		msd_print_flush(&job.out); /* a verification's faults, too */
	}
	if (err != MSD_OK)
		code = report(&d);
	json_decref(job.list);
	msd_buf_finish(&job.out);
	msd_diag_finish(&d);
	return code;
}

enum msd_exit msd_verb_store(const struct msd_cli *cli)
{
	static const char hint[] =
		"modser store ls|verify|gc -d DIR, or pin|unpin|rm NAME -d DIR";

	if (cli->dir == NULL)
		return msd_report_usage(hint, "store needs the store's folder: -d DIR");
	for (size_t i = 0; i < N_ROWS; i++) {
		if (strcmp(cli->words[0], rows[i].word) != 0)
			continue;
		if (cli->n_words != 1u + rows[i].has_name) {
			return msd_report_usage(hint, "store %s takes %s", rows[i].word,
						rows[i].has_name ? "one module's name"
								 : "no name");
		}
		return run_row(i, cli);
	}
	return msd_report_usage(hint, "store cannot %s", cli->words[0]);
}
