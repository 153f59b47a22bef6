/*
 * store: shows the contents of a daemon's store, from the daemon or, with -d, from
 * its folder.
 *
 * Happy path: the word after `store` selects a row of the table below. The daemon's
 * method or the folder returns a page, in the same form; it is added to the output,
 * and the next page follows. Failures: the pages so far are printed anyway.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/session.h"
#include "client/cli/values/json.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "client/decode.h"
#include "client/result.h"
#include "store/inventory.h"
#include "store/record.h"

struct row;

/* State of a row's functions. */
struct job {
	const struct msd_cli *cli;
	const struct row *row;
	modser_client *client;  /* NULL: use the folder */
	struct msd_store store; /* used if there is no client */
	char after[MSD_RECORD_WORD];
	struct msd_buf out;
	size_t n_items, n_faults;
	int64_t n_files;
};

struct row {
	const char *word;
	bool has_name;      /* a module name follows the word */
	bool is_pinning;    /* value that the daemon gets after the name */
	const char *method; /* NULL: not available from a daemon */
	enum msd_store_mode mode;
	/** Append the page after @word, or the outcome for the module of that name. */
	msd_err (*look)(struct msd_store *s, const char *word, struct msd_buf *out,
			struct msd_diag *d);
	/** Add a page to job->out and to the totals. May be NULL. */
	void (*add)(struct job *job, const modser_value *page);
	void (*end)(struct job *job);
};

static struct msd_span text_of(const modser_value *map, const char *key)
{
	const modser_value *v = modser_find(map, key);

	if (v == NULL || v->kind != MODSER_STR)
		return msd_span_of("");
	return (struct msd_span){(const uint8_t *)v->as.str.p, v->as.str.n};
}

static int64_t number_of(const modser_value *map, const char *key)
{
	const modser_value *v = modser_find(map, key);

	return v != NULL && v->kind == MODSER_INT ? v->as.i : 0;
}

static void put_text(struct msd_buf *out, struct msd_span text)
{
	msd_print_line(out, (const char *)text.p, text.n);
}

/* Append text, padded to @width for people, with a tab for scripts. */
static void put_cell(struct msd_buf *out, struct msd_span text, size_t width)
{
	put_text(out, text);
	if (!msd_print_for_people()) {
		msd_buf_put_u8(out, '\t');
		return;
	}
	do {
		msd_buf_put_u8(out, ' ');
	} while (width-- > text.n);
}

/* Append one line an edition: module, ref, version, digest, bytes, and "pinned" or,
 * for a failed edition, the reason. */
static void put_edition(struct msd_buf *out, const modser_value *e)
{
	const bool for_people = msd_print_for_people();
	const modser_value *pinned = modser_find(e, "pinned");
	const bool is_pinned =
		pinned != NULL && pinned->kind == MODSER_BOOL && pinned->as.b;
	struct msd_span digest = text_of(e, "sha256"), why = text_of(e, "why");

	put_cell(out, text_of(e, "module"), 20);
	put_cell(out, text_of(e, "ref"), 9);
	msd_buf_printf(out, for_people ? "%12" PRId64 " " : "%" PRId64 "\t",
		       number_of(e, "version"));
	if (for_people && digest.n > 12)
		digest.n = 12;
	put_cell(out, digest, 0);
	msd_buf_printf(out, for_people ? "%12" PRId64 " bytes" : "%" PRId64 "\t",
		       number_of(e, "bytes"));
	if (for_people && (is_pinned || why.n > 0))
		msd_buf_put_u8(out, ' ');
	put_text(out, is_pinned ? msd_span_of("pinned") : why);
	msd_buf_put_u8(out, '\n');
}

static void put_fault(struct msd_buf *out, const modser_value *fault)
{
	put_text(out, text_of(fault, "module"));
	msd_buf_printf(out, ": ");
	put_text(out, text_of(fault, "fault"));
	msd_buf_put_u8(out, '\n');
}

/* Add the maps at @key of a page: as one JSON list over all pages, or with @put. */
static size_t add_maps(struct job *job, const modser_value *page, const char *key,
		       void (*put)(struct msd_buf *out, const modser_value *map))
{
	const modser_value *list = modser_find(page, key);
	const size_t n =
		list != NULL && list->kind == MODSER_TUPLE ? list->as.tuple.n : 0;

	for (size_t i = 0; i < n; i++) {
		if (!job->cli->json) {
			put(&job->out, &list->as.tuple.item[i]);
			continue;
		}
		msd_buf_printf(&job->out, "%s", job->n_items++ > 0 ? ", " : "[");
		msd_json_put_value(&job->out, &list->as.tuple.item[i]);
	}
	return n;
}

static void end_maps(struct job *job)
{
	if (job->cli->json)
		msd_buf_printf(&job->out, "%s]", job->n_items > 0 ? "" : "[");
}

static void add_editions(struct job *job, const modser_value *page)
{
	(void)add_maps(job, page, "editions", put_edition);
}

static void end_editions(struct job *job)
{
	end_maps(job);
	if (job->cli->json)
		msd_buf_put_u8(&job->out, '\n');
}

static void add_faults(struct job *job, const modser_value *page)
{
	if (job->cli->json && job->out.n == 0)
		msd_buf_printf(&job->out, "{\"faults\": ");
	job->n_faults += add_maps(job, page, "faults", put_fault);
	job->n_files += number_of(page, "files");
}

static void end_faults(struct job *job)
{
	end_maps(job);
	if (job->cli->json) {
		msd_buf_printf(&job->out, ", \"files\": %" PRId64 "}\n", job->n_files);
	} else {
		msd_buf_printf(&job->out, "%" PRId64 " file%s read, %zu fault%s\n",
			       job->n_files, job->n_files == 1 ? "" : "s",
			       job->n_faults, job->n_faults == 1 ? "" : "s");
	}
}

static void add_collected(struct job *job, const modser_value *page)
{
	if (job->cli->json) {
		msd_json_put_value(&job->out, page);
		msd_buf_put_u8(&job->out, '\n');
		return;
	}
	msd_buf_printf(&job->out,
		       "removed: %" PRId64 " (%" PRId64 " bytes); kept: %" PRId64
		       " (%" PRId64 " bytes)\n",
		       number_of(page, "removed"), number_of(page, "removed_bytes"),
		       number_of(page, "kept"), number_of(page, "kept_bytes"));
}

static msd_err list(struct msd_store *s, const char *word, struct msd_buf *out,
		    struct msd_diag *d)
{
	return msd_inventory_list(s, word, out, d);
}

static msd_err verify(struct msd_store *s, const char *word, struct msd_buf *out,
		      struct msd_diag *d)
{
	return msd_inventory_verify(s, word, out, d);
}

static msd_err collect(struct msd_store *s, const char *word, struct msd_buf *out,
		       struct msd_diag *d)
{
	(void)word;
	return msd_inventory_collect(s, out, d);
}

static msd_err pin(struct msd_store *s, const char *word, struct msd_buf *out,
		   struct msd_diag *d)
{
	(void)out;
	return msd_inventory_pin(s, word, true, d);
}

static msd_err unpin(struct msd_store *s, const char *word, struct msd_buf *out,
		     struct msd_diag *d)
{
	(void)out;
	return msd_inventory_pin(s, word, false, d);
}

static msd_err forget(struct msd_store *s, const char *word, struct msd_buf *out,
		      struct msd_diag *d)
{
	(void)out;
	return msd_record_remove(s, word, d);
}

static const struct row rows[] = {
	{"ls", false, false, "store.list", MSD_STORE_READ, list, add_editions,
	 end_editions},
	{"verify", false, false, "store.verify", MSD_STORE_READ, verify, add_faults,
	 end_faults},
	{"prune", false, false, "store.collect", MSD_STORE_WRITE, collect,
	 add_collected, NULL},
	{"pin", true, true, "store.pin", MSD_STORE_WRITE, pin, NULL, NULL},
	{"unpin", true, false, "store.pin", MSD_STORE_WRITE, unpin, NULL, NULL},
	{"rm", true, false, NULL, MSD_STORE_WRITE, forget, NULL, NULL},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static enum msd_exit report(const struct msd_diag *d)
{
	if (d->code == MSD_NOT_FOUND) {
		return msd_report_diag(
			MSD_EXIT_NOT_FOUND,
			"`modser store ls` lists the modules of the store", d);
	}
	if (d->code == MSD_BAD_ARTIFACT || d->code == MSD_UNSUPPORTED) {
		return msd_report_diag(
			MSD_EXIT_BAD_FILE,
			"load the module again with --keep, or unload it", d);
	}
	if (d->code == MSD_BUSY) {
		return msd_report_diag(
			MSD_EXIT_REMOTE,
			"a daemon has the store open: omit -C to ask the daemon", d);
	}
	return msd_report_file(d);
}

static enum msd_exit ask_folder(struct job *job, const char *word, modser_result **ret)
{
	struct msd_decoded decoded = {0};
	struct msd_diag d = {0};
	struct msd_buf page = {0};
	enum msd_exit code = MSD_EXIT_OK;
	msd_err err = job->row->look(&job->store, word, &page, &d);

	*ret = msd_result_create(0);
	if (err == MSD_OK && (page.bad || *ret == NULL))
		err = msd_diag_no_memory(&d);
	if (err == MSD_OK && page.n > 0)
		err = msd_decode((struct msd_span){page.p, page.n}, *ret, &decoded, &d);
	if (err != MSD_OK)
		code = report(&d);
	free(decoded.tensors);
	msd_buf_finish(&page);
	msd_diag_finish(&d);
	return code;
}

static enum msd_exit ask_daemon(const struct job *job, const char *word,
				modser_result **ret)
{
	const modser_options options = {.deadline_ms = job->cli->deadline_ms};
	const modser_value params[] = {modser_str(word),
				       modser_bool(job->row->is_pinning)};
	const size_t n = job->row->has_name ? 2 : word[0] != '\0' ? 1 : 0;

	if (modser_request(job->client, job->row->method, params, n, &options, ret) !=
	    MODSER_OK)
		return msd_report_result(job->client, *ret);
	return MSD_EXIT_OK;
}

/* Get one page; false: it was the last one. */
static bool turn(struct job *job, enum msd_exit *code)
{
	const char *word = job->row->has_name ? job->cli->words[1] : job->after;
	modser_result *result = NULL;
	struct msd_span after;
	bool has_more = false;

	*code = job->client != NULL ? ask_daemon(job, word, &result)
				    : ask_folder(job, word, &result);
	if (*code == MSD_EXIT_OK && job->row->add != NULL) {
		const modser_value *page = modser_result_value(result);

		job->row->add(job, page);
		after = text_of(page, "after");
		has_more = after.n > 0 && after.n < sizeof(job->after);
		if (has_more) {
			memcpy(job->after, after.p, after.n);
			job->after[after.n] = '\0';
		}
	}
	modser_result_free(result);
	return has_more;
}

static enum msd_exit open_it(struct job *job)
{
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if (job->cli->dir == NULL)
		return msd_session_open(job->cli, &job->client);
	if (msd_store_open(&job->store, job->cli->dir, job->row->mode, &d) != MSD_OK)
		code = report(&d);
	msd_diag_finish(&d);
	return code;
}

static enum msd_exit report_faults(const struct job *job)
{
	struct msd_diag d = {0};
	enum msd_exit code;

	(void)msd_diag_set(
		&d, MSD_BAD_ARTIFACT, "%s: %zu of its files or records are damaged",
		job->cli->dir != NULL ? job->cli->dir : "the store", job->n_faults);
	code = report(&d);
	msd_diag_finish(&d);
	return code;
}

static enum msd_exit run(const struct msd_cli *cli, const struct row *row)
{
	struct job job = {.cli = cli, .row = row};
	enum msd_exit code = open_it(&job);

	if (code != MSD_EXIT_OK)
		return code;
	while (turn(&job, &code))
		;
	if (code == MSD_EXIT_OK && row->end != NULL)
		row->end(&job);
	if (job.client != NULL) {
		modser_close(job.client);
	} else {
		msd_store_close(&job.store);
	}
	if (job.out.bad) {
		code = msd_report_no_memory();
	} else if (code == MSD_EXIT_OK || !cli->json) {
		msd_print_flush(&job.out); /* an incomplete JSON document is useless */
	}
	if (code == MSD_EXIT_OK && job.n_faults > 0)
		code = report_faults(&job);
	msd_buf_finish(&job.out);
	return code;
}

enum msd_exit msd_verb_store(const struct msd_cli *cli)
{
	static const char hint[] = "modser store ls|verify|prune, or pin|unpin|rm NAME";

	const bool is_former = strcmp(cli->words[0], "gc") == 0;
	const char *word = is_former ? "prune" : cli->words[0];

	for (size_t i = 0; i < N_ROWS; i++) {
		if (strcmp(word, rows[i].word) != 0)
			continue;
		if (cli->n_words != 1u + rows[i].has_name) {
			return msd_report_usage(hint, "store %s takes %s", rows[i].word,
						rows[i].has_name ? "one module's name"
								 : "no name");
		}
		if (cli->dir == NULL && rows[i].method == NULL) {
			return msd_report_usage(
				"`modser unload NAME` makes a running daemon forget it",
				"store %s needs -C DIR, the store of a stopped "
				"daemon",
				rows[i].word);
		}
		return run(cli, &rows[i]);
	}
	return msd_report_usage(hint, "store: unknown word \"%s\"", cli->words[0]);
}
