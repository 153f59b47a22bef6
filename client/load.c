/*
 * Loads a module; uses only modser_start() and modser_wait().
 *
 * Happy path: `begin` returns an upload. Its chunks are written, up to
 * CHUNKS_IN_FLIGHT at a time; each is a tensor that borrows the caller's bytes. Then
 * `commit`, then module.load, which ends when the module is READY. Failures: the
 * upload is aborted, and the result is that of the first failure.
 */
#include <stddef.h>
#include <stdlib.h>

#include "client/result.h"
#include "proto/base/clock.h"
#include "proto/words/external_data.h"
#include "proto/words/params_folder.h"
#include "proto/words/run_options.h"

#define CHUNK_BYTES ((size_t)1 << 20) /* bytes of one write of an upload */
#define CHUNKS_IN_FLIGHT 16
#define ABORT_MS 1000u
#define PARTS 3u /* without external data: a library, graph and params */

/* A run option: its place in modser_load_options and modser_pull_options. */
static const struct option {
	const char *wire;
	enum { TEXT, FLAG, COUNT, TIME } type;
	size_t of_load, of_pull;
} run_options[] = {
#define ROW(NAME, member, KIND, parameter, fronts, key, former, wire, field, ...)      \
	{wire,                                                                         \
	 _Generic(((modser_load_options *)NULL)->field, const char *: TEXT,            \
		  bool: FLAG, uint32_t: COUNT, int64_t: TIME),                         \
	 offsetof(modser_load_options, field), offsetof(modser_pull_options, field)},
	MSD_RUN_CLIENT_KEY_MAP(ROW)
#undef ROW
};
#define N_RUN_OPTIONS (sizeof(run_options) / sizeof(run_options[0]))

/* Upload in progress. */
struct upload {
	modser_client *client;
	modser_value handle;
	uint64_t until_ns;              /* deadline of the whole load; 0: none */
	struct msd_span *parts;         /* in upload order */
	size_t n;                       /* bytes of all parts */
	size_t next;                    /* first byte that no write covers */
	uint64_t written;               /* bytes that the daemon has confirmed */
	uint64_t ids[CHUNKS_IN_FLIGHT]; /* ring; the oldest is at `oldest` */
	size_t sizes[CHUNKS_IN_FLIGHT];
	size_t oldest, n_ids;
	bool is_begun;       /* the daemon has created it */
	modser_value *files; /* (name, size) pairs of the files, then the tuples */
	/* For the third part, if it comes from a folder: the chunks of the ring. */
	struct msd_params_folder folder;
	uint8_t *chunks; /* owned */
};

/* The next chunk to write, from a single part. Without an address it is of the folder,
 * at *@ret_at. */
static struct msd_span next_piece(const struct upload *u, size_t *ret_at)
{
	size_t at = u->next;
	size_t i = 0;

	while (at >= u->parts[i].n)
		at -= u->parts[i++].n;
	size_t left = u->parts[i].n - at;
	*ret_at = at;
	return (struct msd_span){u->parts[i].p != NULL ? u->parts[i].p + at : NULL,
				 left < CHUNK_BYTES ? left : CHUNK_BYTES};
}

/* Options of the next request: the rest of the deadline, at least 1 ms. */
static modser_options options_now(const struct upload *u)
{
	const uint64_t left_ns =
		u->until_ns - msd_now_ns(); /* wraps when the deadline has passed */
	modser_options options = {0};

	if (u->until_ns != 0 && left_ns <= (uint64_t)UINT32_MAX * 1000000u)
		options.deadline_ms = (uint32_t)(left_ns / 1000000u);
	if (u->until_ns != 0 && options.deadline_ms == 0)
		options.deadline_ms = 1;
	return options;
}

static bool is_late(const struct upload *u)
{
	return u->until_ns != 0 && msd_now_ns() >= u->until_ns;
}

/* Create a local result. */
static modser_err fail(msd_err err, const struct msd_diag *d, modser_result **ret)
{
	*ret = msd_result_create(0);
	if (*ret != NULL)
		msd_result_fail(*ret, err, msd_diag_text(d));
	return (modser_err)err;
}

/* The deadline passed before the load. */
static modser_err late(const struct upload *u, modser_result **ret)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_DEADLINE,
			   "the deadline passed after %llu of %llu bytes, so the "
			   "upload was cancelled",
			   (unsigned long long)u->written, (unsigned long long)u->n);
	(void)fail(MSD_DEADLINE, &d, ret);
	msd_diag_finish(&d);
	return MODSER_DEADLINE;
}

/* Read @piece, which begins at @at of the folder, into the chunk of @slot. */
static modser_err read_chunk(const struct upload *u, size_t slot, size_t at,
			     struct msd_span *piece, modser_result **ret)
{
	uint8_t *chunk = u->chunks + slot * CHUNK_BYTES;
	struct msd_diag d = {0};
	const msd_err err = msd_params_folder_read(&u->folder, at, chunk, piece->n, &d);

	piece->p = chunk;
	if (err != MSD_OK)
		(void)fail(err, &d, ret);
	msd_diag_finish(&d);
	return (modser_err)err;
}

static modser_err upload_write(struct upload *u, modser_result **ret)
{
	const modser_options options = options_now(u);
	const size_t slot = (u->oldest + u->n_ids) % CHUNKS_IN_FLIGHT;
	size_t at;
	struct msd_span piece = next_piece(u, &at);
	modser_err err =
		piece.p == NULL ? read_chunk(u, slot, at, &piece, ret) : MODSER_OK;
	const int64_t extent = (int64_t)piece.n;
	modser_value params[4] = {
		modser_str("write"), u->handle, modser_int((int64_t)u->next),
		modser_tensor_arg((modser_dtype){1, 8, 1}, &extent, 1, piece.p)};

	if (err == MODSER_OK) {
		err = modser_start(u->client, "module.upload", params, 4, &options,
				   &u->ids[slot]);
	}
	if (err == MODSER_OK) {
		u->sizes[slot] = piece.n;
		u->next += piece.n;
		u->n_ids++;
	}
	return err;
}

/* Write everything. All writes have ended on return; *@ret is the result of the first
 * failure. */
static modser_err upload_all(struct upload *u, const modser_load_options *o,
			     modser_result **ret)
{
	modser_err err = MODSER_OK;

	while (u->n_ids > 0 || (err == MODSER_OK && u->next < u->n)) {
		modser_result *r = NULL;

		if (err == MODSER_OK && is_late(u))
			err = late(u, ret);
		if (err == MODSER_OK && u->next < u->n && u->n_ids < CHUNKS_IN_FLIGHT) {
			err = upload_write(u, ret);
			continue;
		}
		if (u->n_ids == 0) /* the deadline passed before any chunk was sent */
			break;
		modser_err one = modser_wait(u->client, u->ids[u->oldest], &r);
		u->written += u->sizes[u->oldest];
		u->oldest = (u->oldest + 1) % CHUNKS_IN_FLIGHT;
		u->n_ids--;
		if (one != MODSER_OK && err == MODSER_OK) {
			err = one;
			*ret = r;
			continue;
		}
		modser_result_free(r);
		if (o->progress != NULL && err == MODSER_OK)
			o->progress(o->ctx, u->written, u->n);
	}
	return err;
}

static modser_err upload_end(struct upload *u, const char *how,
			     const modser_options *options, modser_result **ret)
{
	modser_value params[2] = {modser_str(how), u->handle};

	return modser_request(u->client, "module.upload", params, 2, options, ret);
}

/* Best effort: the daemon drops the upload with the connection anyway. */
static void upload_abort(struct upload *u)
{
	const modser_options options = {.deadline_ms = ABORT_MS};
	modser_result *r = NULL;

	(void)upload_end(u, "abort", &options, &r);
	modser_result_free(r);
}

static void add_text(modser_value *pairs, size_t *n, const char *key, const char *text)
{
	if (text == NULL)
		return;
	pairs[(*n)++] = modser_str(key);
	pairs[(*n)++] = modser_str(text);
}

static modser_value map_of(const modser_value *pairs, size_t n)
{
	return (modser_value){.kind = MODSER_MAP,
			      .as.tuple = {.item = pairs, .n = n / 2}};
}

/* False: the option was not given. */
static bool value_of(const struct option *o, const void *field, modser_value *ret)
{
	switch (o->type) {
	case TEXT: {
		const char *text = *(const char *const *)field;
		*ret = modser_str(text != NULL ? text : "");
		return text != NULL;
	}
	case FLAG:
		*ret = modser_bool(true);
		return *(const bool *)field;
	case COUNT:
		*ret = modser_int(*(const uint32_t *)field);
		return *(const uint32_t *)field > 0;
	case TIME:
	default: {
		const int64_t ms = *(const int64_t *)field;
		*ret = modser_int(ms > 0 ? ms : 0);
		return ms != 0;
	}
	}
}

/* Append the run options of @options. Options that were not given are not sent, because
 * an older daemon does not know them. */
static void add_run(modser_value *pairs, size_t *n, const void *options, bool is_pull)
{
	for (size_t i = 0; i < N_RUN_OPTIONS; i++) {
		const struct option *o = &run_options[i];
		const size_t at = is_pull ? o->of_pull : o->of_load;

		if (value_of(o, (const char *)options + at, &pairs[*n + 1])) {
			pairs[*n] = modser_str(o->wire);
			*n += 2;
		}
	}
}

static modser_err load_uploaded(struct upload *u, const char *name,
				const modser_load_options *o, modser_result **ret)
{
	modser_value pairs[2 * (N_RUN_OPTIONS + 9)] = {
		modser_str("replace"), modser_bool(o->replace),
		modser_str("file"),    modser_str(o->file != NULL ? o->file : name),
		modser_str("graph"),   modser_int((int64_t)u->parts[1].n),
		modser_str("params"),  modser_int((int64_t)u->parts[2].n)};
	size_t n = 8;

	add_run(pairs, &n, o, false);
	if (o->keep) {
		pairs[n++] = modser_str("keep");
		pairs[n++] = modser_bool(true);
	}
	if (o->n_files > 0) {
		pairs[n++] = modser_str("model");
		pairs[n++] = modser_int((int64_t)u->parts[0].n);
		pairs[n++] = modser_str("files");
		pairs[n++] = (modser_value){.kind = MODSER_TUPLE,
					    .as.tuple = {u->files, o->n_files}};
	}
	modser_value params[3] = {modser_str(name), u->handle, map_of(pairs, n)};
	const modser_options options = options_now(u);

	return is_late(u) ? late(u, ret)
			  : modser_request(u->client, "module.load", params, 3,
					   &options, ret);
}

/*
 * True: the daemon's store has the bytes to keep, and u->handle refers to them.
 * Otherwise everything is sent; a daemon without a store rejects that with a better
 * message.
 */
static bool find_kept(struct upload *u, const modser_load_options *o)
{
	const modser_options options = options_now(u);
	modser_value params[2] = {modser_str("find")};
	modser_result *found = NULL;

	if (!o->keep || o->sha256 == NULL || u->n != u->parts[0].n)
		return false;
	params[1] = (modser_value){.kind = MODSER_BYTES,
				   .as.str = {(const char *)o->sha256, 32}};
	const modser_err err =
		modser_request(u->client, "module.upload", params, 2, &options, &found);
	const bool is_there = err == MODSER_OK && found->root.kind == MODSER_UPLOAD;
	if (is_there)
		u->handle = found->root;
	modser_result_free(found);
	return is_there;
}

/* Upload all bytes; on failure *@ret has the reason. */
static modser_err send_all(struct upload *u, const modser_load_options *o,
			   modser_result **ret)
{
	const modser_options first = options_now(u);
	modser_value params[2] = {modser_str("begin"), modser_int((int64_t)u->n)};
	modser_result *begun = NULL, *done = NULL;
	modser_err err =
		modser_request(u->client, "module.upload", params, 2, &first, &begun);

	if (err != MODSER_OK) {
		*ret = begun;
		return err;
	}
	if (begun->root.kind != MODSER_UPLOAD) {
		msd_result_fail(begun, MSD_PROTOCOL,
				"module.upload: no upload came back");
		*ret = begun;
		return MODSER_PROTOCOL;
	}
	u->handle = begun->root;
	u->is_begun = true;
	modser_result_free(begun);
	err = upload_all(u, o, ret);
	if (err == MODSER_OK && is_late(u))
		err = late(u, ret);
	if (err != MODSER_OK)
		return err;
	const modser_options rest = options_now(u);
	err = upload_end(u, "commit", &rest, &done);
	if (err == MODSER_OK) {
		modser_result_free(done);
	} else {
		*ret = done;
	}
	return err;
}

/* Append the external data files after the three parts, each page-aligned. */
static void add_files(struct upload *u, const modser_load_options *o)
{
	static const uint8_t zeros[MSD_EXTERNAL_DATA_PAGE];
	modser_value *pair = u->files + o->n_files;
	struct msd_span *part = u->parts + PARTS;

	for (size_t i = 0; i < o->n_files; i++, pair += 2) {
		const modser_file *f = &o->files[i];
		const size_t at = (size_t)msd_external_data_at(u->n);

		*part++ = (struct msd_span){zeros, at - u->n};
		*part++ = (struct msd_span){f->bytes, f->n};
		u->n = at + f->n;
		pair[0] = modser_str(f->name);
		pair[1] = modser_int((int64_t)f->n);
		u->files[i] =
			(modser_value){.kind = MODSER_TUPLE, .as.tuple = {pair, 2}};
	}
}

static msd_err open_folder(struct upload *u, const char *path, struct msd_diag *d)
{
	const msd_err err = msd_params_folder_open(path, u->n, &u->folder, d);

	if (err != MSD_OK)
		return err;
	u->parts[2].n = (size_t)u->folder.bytes;
	u->n += u->parts[2].n;
	u->chunks = malloc(CHUNKS_IN_FLIGHT * CHUNK_BYTES);
	return u->chunks != NULL ? MSD_OK : msd_diag_no_memory(d);
}

/* The third part comes from a folder; a failure is a local result. */
static modser_err add_folder(struct upload *u, const modser_load_options *o,
			     modser_result **ret)
{
	struct msd_diag d = {0};
	msd_err err;

	if (o->params_bytes > 0 || o->n_files > 0) {
		err = msd_diag_set(&d, MSD_BAD_REQUEST,
				   "a folder of parameters, but there are %s already",
				   o->n_files > 0 ? "external data" : "parameters");
	} else {
		err = open_folder(u, o->params_folder, &d);
	}
	if (err != MSD_OK)
		(void)fail(err, &d, ret);
	msd_diag_finish(&d);
	return (modser_err)err;
}

static modser_err load(struct upload *u, const char *name, const modser_load_options *o,
		       modser_result **ret)
{
	u->is_begun = find_kept(u, o);
	modser_err err = u->is_begun ? MODSER_OK : send_all(u, o, ret);
	if (err == MODSER_OK)
		err = load_uploaded(u, name, o, ret);
	if (err != MODSER_OK && u->is_begun)
		upload_abort(u);
	return err;
}

modser_err modser_load(modser_client *client, const char *name, const void *bytes,
		       size_t n, const modser_load_options *options,
		       modser_result **ret)
{
	static const modser_load_options none;
	const modser_load_options *o = options != NULL ? options : &none;
	struct upload u = {.client = client,
			   .parts = calloc(PARTS + 2 * o->n_files, sizeof(*u.parts)),
			   .n = n + o->graph_bytes + o->params_bytes,
			   .files = calloc(3 * o->n_files + 1, sizeof(*u.files))};
	modser_err err = MODSER_NOMEM;

	*ret = NULL;
	if (o->deadline_ms != 0)
		u.until_ns = msd_now_ns() + (uint64_t)o->deadline_ms * 1000000u;
	if (u.parts != NULL && u.files != NULL) {
		u.parts[0] = (struct msd_span){bytes, n};
		u.parts[1] = (struct msd_span){o->graph, o->graph_bytes};
		u.parts[2] = (struct msd_span){o->params, o->params_bytes};
		add_files(&u, o);
		err = o->params_folder != NULL ? add_folder(&u, o, ret) : MODSER_OK;
		if (err == MODSER_OK)
			err = load(&u, name, o, ret);
	}
	msd_params_folder_finish(&u.folder);
	free(u.chunks);
	free(u.parts);
	free(u.files);
	return err;
}

modser_err modser_pull(modser_client *client, const char *name, const char *uri,
		       const modser_pull_options *options, modser_result **ret)
{
	static const modser_pull_options none;
	const modser_pull_options *o = options != NULL ? options : &none;
	modser_options request = {
		.deadline_ms = o->deadline_ms, .progress = o->progress, .ctx = o->ctx};
	modser_value pairs[2 * (N_RUN_OPTIONS + 3)];
	size_t n = 0;

	add_text(pairs, &n, "sha256", o->sha256);
	if (o->progress != NULL) {
		pairs[n++] = modser_str("progress");
		pairs[n++] = modser_bool(true);
	}
	add_run(pairs, &n, o, true);
	modser_value params[3] = {modser_str(name), modser_str(uri), map_of(pairs, n)};
	return modser_request(client, "module.pull", params, 3, &request, ret);
}
