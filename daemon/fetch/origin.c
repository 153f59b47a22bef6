/*
 * Happy path: one connection for each file. One request lists the files of the
 * module; a file needs one request for each chunk, manifest and signature included.
 * Failures: temporary ones are retried after a random back-off. The retry resumes,
 * because a digest is checked at the end.
 */
#include "daemon/fetch/origin.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/fetch/daemon_client.h"
#include "daemon/fetch/transfer/download_buffer.h"
#include "daemon/fetch/transfer/transfer.h"
#include "daemon/loop/list.h"
#include "proto/unpack.h"
#include "store/manifest/manifest.h"

#define PIECE_BYTES (1u << 20)
#define ANSWER_BYTES (PIECE_BYTES + 4096u)
#define REST_LOOK_MS 100u

static const char *module_of(const struct msd_origin *o)
{
	return o->uri.path + 1; /* skip the slash */
}

static msd_err bad_edition(const struct msd_origin *o, const char *what,
			   struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "%s: its description of the module: %s", o->uri.shown,
			    what);
}

/* A daemon may give several files of an edition the same name. */
static void name_file(struct msd_edition_file *f, struct msd_span name)
{
	if (f->role == MSD_ROLE_GRAPH || f->role == MSD_ROLE_PARAMS) {
		(void)snprintf(f->name, sizeof(f->name), "%s", msd_role_word(f->role));
	} else {
		(void)snprintf(f->name, sizeof(f->name), "%.*s", (int)name.n,
			       (const char *)name.p);
	}
}

static bool find_role(struct msd_span word, enum msd_role *ret)
{
	for (unsigned i = 0; i < MSD_ROLE_COUNT; i++) {
		if (msd_span_is(word, msd_role_word((enum msd_role)i))) {
			*ret = (enum msd_role)i;
			return true;
		}
	}
	return false;
}

/* These files are read into memory, and an empty one is invalid. */
static msd_err read_paper(const struct msd_origin *o, const struct msd_edition_file *f,
			  struct msd_digest *ret, uint64_t *ret_bytes,
			  struct msd_diag *d)
{
	if (f->bytes == 0 || f->bytes > MSD_MANIFEST_BYTES)
		return bad_edition(o, "a manifest or signature of 1 byte to a MiB", d);
	*ret = f->digest;
	*ret_bytes = f->bytes;
	return MSD_OK;
}

static msd_err read_file(struct msd_origin *o, const msgpack_object *map,
			 struct msd_edition_manifest *ret, struct msd_diag *d)
{
	struct msd_origin_papers *papers = &o->papers;
	const msgpack_object *sha256 = msd_map_find(map, "sha256");
	struct msd_span role = {0}, name = {0}, digest = {0};
	struct msd_edition_file f = {0};
	msd_err err = msd_map_str(map, "role", &role, d);

	if (err == MSD_OK)
		err = msd_map_str(map, "file", &name, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "bytes", INT64_MAX, &f.bytes, d);
	if (err == MSD_OK && sha256 != NULL)
		err = msd_object_bin(sha256, "sha256", &digest, d);
	if (err != MSD_OK || digest.n != MSD_DIGEST_BYTES ||
	    !find_role(role, &f.role) || name.n >= sizeof(f.name)) {
		msd_diag_finish(d);
		return bad_edition(o, "a file without its role or digest", d);
	}
	memcpy(f.digest.b, digest.p, MSD_DIGEST_BYTES);
	if (f.role == MSD_ROLE_MANIFEST) {
		return read_paper(o, &f, &papers->manifest, &papers->manifest_bytes, d);
	}
	if (f.role == MSD_ROLE_SIGNATURE) {
		return read_paper(o, &f, &papers->signature, &papers->signature_bytes,
				  d);
	}
	if (f.role > MSD_ROLE_MODEL) /* only files to load are needed besides */
		return MSD_OK;
	name_file(&f, name);
	ret->files[ret->n_files++] = f;
	return MSD_OK;
}

static msd_err read_edition(struct msd_origin *o, const msgpack_object *map,
			    struct msd_edition_manifest *ret, struct msd_diag *d)
{
	const msgpack_object *files = msd_map_find(map, "files");
	msd_err err = msd_map_uint(map, "version", INT64_MAX, &ret->version, d);

	if (err != MSD_OK)
		return err;
	if (files == NULL || files->type != MSGPACK_OBJECT_ARRAY ||
	    files->via.array.size > MSD_EDITION_FILES)
		return bad_edition(o, "at most 16 files", d);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", module_of(o));
	/* The files themselves tell whether they run here. */
	(void)snprintf(ret->arch, sizeof(ret->arch), "any");
	for (uint32_t i = 0; err == MSD_OK && i < files->via.array.size; i++)
		err = read_file(o, &files->via.array.ptr[i], ret, d);
	return err;
}

static msd_err write_manifest(const struct msd_origin *o,
			      const struct msd_edition_manifest *m, struct msd_diag *d)
{
	struct msd_buf text = {0};
	msd_err err;

	msd_edition_manifest_write(m, &text);
	err = text.bad ? bad_edition(o, "it cannot be recorded", d)
		       : msd_download_buffer_append(
				 o->landing, (struct msd_span){text.p, text.n}, d);
	msd_buf_finish(&text);
	return err;
}

/* The daemon may report another edition than at an earlier attempt. */
static msd_err take_edition(struct msd_origin *o, struct msd_span told,
			    struct msd_diag *d)
{
	struct msd_edition_manifest m = {0};
	struct msd_sink *sink = &o->landing->sink;
	struct msd_unpack unpack = {0};
	const msgpack_object *map;
	msd_err err = msd_unpack(&unpack, told, &map, d);

	o->papers = (struct msd_origin_papers){0};
	if (err == MSD_OK)
		err = read_edition(o, map, &m, d);
	if (err == MSD_OK)
		err = sink->restart(sink, d);
	if (err == MSD_OK && o->papers.manifest_bytes == 0)
		err = write_manifest(o, &m, d);
	msd_unpack_finish(&unpack);
	return err;
}

static msd_err ask_edition(struct msd_origin *o, struct msd_daemon_client *l,
			   struct msd_diag *d)
{
	struct msd_buf params = {0};
	struct msd_span told = {0};
	msd_err err;

	msd_pack_array(&params, 1);
	msd_pack_cstr(&params, module_of(o));
	err = params.bad ? msd_diag_no_memory(d)
			 : msd_daemon_client_ask(l, "module.read",
						 (struct msd_span){params.p, params.n},
						 &told, d);
	msd_buf_finish(&params);
	return err == MSD_OK ? take_edition(o, told, d) : err;
}

static msd_err take_piece(struct msd_origin *o, struct msd_span told,
			  struct msd_diag *d)
{
	struct msd_sink *sink = &o->landing->sink;
	struct msd_cur c = msd_cur_of(told);
	struct msd_wire_value v;
	msd_err err = msd_value_read(&c, &v, d);

	if (err == MSD_OK && (v.kind != MSD_K_BYTES || v.as.str.n == 0)) {
		err = msd_diag_set(d, MSD_IO, "%s: %llu of %llu bytes came",
				   o->uri.shown, (unsigned long long)sink->bytes,
				   (unsigned long long)o->file_bytes);
	}
	if (err == MSD_OK)
		err = sink->take(sink, v.as.str, d);
	atomic_store(&o->bytes, sink->bytes);
	return err;
}

static msd_err ask_file(struct msd_origin *o, struct msd_daemon_client *l,
			struct msd_diag *d)
{
	const struct msd_sink *sink = &o->landing->sink;
	struct msd_buf params = {0};
	msd_err err = MSD_OK;

	while (err == MSD_OK && sink->bytes < o->file_bytes) {
		struct msd_span told = {0};

		params.n = 0;
		msd_pack_array(&params, 2);
		msd_pack_cstr(&params, module_of(o));
		msd_pack_map(&params, 3);
		msd_pack_cstr(&params, "sha256");
		msd_pack_bin(&params, o->digest.b, MSD_DIGEST_BYTES);
		msd_pack_pair_uint(&params, "from", sink->bytes);
		msd_pack_pair_uint(&params, "bytes", PIECE_BYTES);
		if (params.bad) {
			err = msd_diag_no_memory(d);
			break;
		}
		err = msd_daemon_client_ask(l, "module.read",
					    (struct msd_span){params.p, params.n},
					    &told, d);
		if (err == MSD_OK)
			err = take_piece(o, told, d);
	}
	msd_buf_finish(&params);
	return err;
}

/* The received manifest may not match its announced digest. */
static msd_err check_manifest(const struct msd_origin *o, struct msd_diag *d)
{
	struct msd_digest is;

	msd_download_buffer_digest(o->landing, &is);
	if (msd_digest_equal(&is, &o->digest))
		return MSD_OK;
	return msd_diag_set(d, MSD_NOT_VERIFIED,
			    "%s: the SHA-256 of its manifest is wrong", o->uri.shown);
}

static msd_err ask_manifest(struct msd_origin *o, struct msd_daemon_client *l,
			    struct msd_diag *d)
{
	msd_err err = ask_edition(o, l, d);

	if (err != MSD_OK || o->papers.manifest_bytes == 0)
		return err;
	o->digest = o->papers.manifest;
	o->file_bytes = o->papers.manifest_bytes;
	err = ask_file(o, l, d);
	return err == MSD_OK ? check_manifest(o, d) : err;
}

static msd_err attempt(struct msd_origin *o, struct msd_diag *d)
{
	struct msd_daemon_client line = {.to = &o->uri,
					 .reach = o->how.reach,
					 .is_unwanted = &o->is_unwanted,
					 .stall_ms = o->how.stall_ms,
					 .max_body_bytes = ANSWER_BYTES};
	msd_err err = msd_daemon_client_open(&line, d);

	if (err == MSD_OK)
		err = o->wants_file ? ask_file(o, &line, d) : ask_manifest(o, &line, d);
	msd_daemon_client_close(&line);
	return err;
}

/* Wait. Returns true if the download is still wanted afterwards. */
static bool rest(const struct msd_origin *o, uint64_t ms)
{
	while (ms > 0 && !atomic_load(&o->is_unwanted)) {
		const uint64_t part_ms = ms < REST_LOOK_MS ? ms : REST_LOOK_MS;
		const struct timespec t = {.tv_nsec = (long)part_ms * 1000000};

		(void)nanosleep(&t, NULL); /* a signal may shorten the sleep */
		ms -= part_ms;
	}
	return !atomic_load(&o->is_unwanted);
}

static void on_work(struct msd_work *waiter)
{
	struct msd_origin *o = MSD_CONTAINER_OF(waiter, struct msd_origin, waiter);
	unsigned n_failures = 0;

	for (;;) {
		const uint64_t begun_bytes = o->landing->sink.bytes;

		o->err = attempt(o, &o->d);
		if (o->err != MSD_IO)
			return;
		if (o->landing->sink.bytes >= begun_bytes + MSD_DOWNLOAD_PROGRESS)
			n_failures = 0;
		if (++n_failures >= MSD_DOWNLOAD_ATTEMPTS ||
		    !rest(o, msd_backoff_ms(n_failures, o->how.retry_ms, 0)))
			return;
		msd_diag_finish(&o->d);
	}
}

static void on_worked(struct msd_work *waiter)
{
	struct msd_origin *o = MSD_CONTAINER_OF(waiter, struct msd_origin, waiter);
	struct msd_diag d = o->d;

	o->d = (struct msd_diag){0};
	msd_uri_finish(&o->uri);
	o->on_done(o, o->err, &d);
	msd_diag_finish(&d);
}

void msd_origin_begin(struct msd_origin *o, uv_loop_t *loop)
{
	o->waiter = (struct msd_work){
		.run = on_work, .done = on_worked, .lane = &msd_download_threads};
	msd_work_begin(loop, &o->waiter);
}

void msd_origin_cancel(struct msd_origin *o)
{
	atomic_store(&o->is_unwanted, true);
}
