/*
 * Happy path: begin creates the upload, a thread reserves its memory, and the client
 * gets the handle. Chunks are read into the mapping. commit starts a thread that
 * seals and hashes it; module.load takes that job. An artifact from the store is
 * committed at once. Failures: without memory, begin fails. If the session ends
 * first, the job is detached. Stalled uploads are dropped if another one needs their
 * room.
 */
#include "daemon/supervisor/edge/uploads/upload.h"

#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/loop/closer.h"
#include "daemon/segments/reserve.h"
#include "daemon/stream/conn_timeout.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/fetch/fetched.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/self_test_case.h"
#include "proto/base/errno_text.h"

/* Free the upload. Its resources must have been taken or released. */
static void forget(struct msd_upload *u)
{
	struct msd_session *s = u->session;

	msd_module_answer_all(&u->waiters, MSD_CANCELLED, "the upload was aborted");
	msd_handles_remove(&s->handles, u->handle);
	msd_list_remove(&u->link);
	s->n_uploads--;
	u->owner->n_uploads--;
	msd_client_peer_unref(u->owner);
	s->edge->upload_bytes -= u->bytes;
	free(u);
}

void msd_upload_drop(struct msd_upload *u)
{
	msd_reserve_leave(u->reserving);
	msd_source_job_free(u->sealing);
	if (u->map != NULL)
		msd_closer_unmap(u->map, u->bytes);
	msd_closer_close_own(u->fd);
	forget(u);
}

static msd_err become_writable(struct msd_upload *u, struct msd_reserve *r,
			       struct msd_diag *d)
{
	if (r->fd < 0)
		return msd_source_no_space(u->bytes, r->error, d);
	if (!msd_client_peer_is_operator(u->session->peer) &&
	    msd_wire_is_last(u->session->edge->wire, r->fd)) {
		return msd_diag_set(
			d, MSD_BUSY,
			"uploads and connections use all their descriptors "
			"(RLIMIT_NOFILE of the daemon; " MSD_RAISE_DESCRIPTORS ")");
	}
	u->map = msd_source_map(r->fd, u->bytes);
	if (u->map == NULL)
		return msd_diag_no_memory(d);
	u->fd = r->fd;
	r->fd = -1;
	u->seen_ms = uv_now(u->session->edge->loop);
	msd_list_append(&u->session->edge->uploads, &u->link);
	return MSD_OK;
}

static void answer_begun(struct msd_upload *u)
{
	struct msd_list *it;

	while ((it = msd_list_first(&u->waiters)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		struct msd_buf b = {0};

		msd_pack_handle(&b, MSD_EXT_UPLOAD, u->handle);
		msd_req_answer(r, &b);
		msd_req_release(r);
		msd_buf_finish(&b);
	}
}

static void on_reserved(struct msd_reserve *r)
{
	struct msd_upload *u = r->user;
	struct msd_diag d = {0};

	u->reserving = NULL;
	msd_err err = become_writable(u, r, &d);
	if (err == MSD_OK) {
		answer_begun(u);
	} else {
		msd_module_answer_all(&u->waiters, err, msd_diag_text(&d));
		msd_upload_drop(u);
	}
	msd_diag_finish(&d);
}

/* A reload may have set the limit below the current use. */
static bool has_room(const struct msd_edge *e, uint64_t bytes)
{
	const uint64_t most = e->limits->max_upload_memory;

	return e->upload_bytes <= most && bytes <= most - e->upload_bytes;
}

static void drop_stalled(struct msd_upload *u)
{
	char text[MSD_PEER_TEXT_BYTES];

	msd_log(MSD_LOG_WARN, "upload_dropped",
		"peer=\"%s\" bytes=%llu written=%llu why=\"it makes no progress, and "
		"another upload needs its memory (--read-stall)\"",
		msd_peer_id_text(u->session->peer->who, text),
		(unsigned long long)u->bytes, (unsigned long long)u->written);
	msd_upload_drop(u);
}

/* Drop stalled uploads while another client needs their room. */
static void make_room(struct msd_edge *e, uint64_t bytes)
{
	MSD_LIST_EACH_SAFE (it, &e->uploads) {
		struct msd_upload *u = MSD_CONTAINER_OF(it, struct msd_upload, link);
		if (has_room(e, bytes))
			return;
		if (uv_now(e->loop) - u->seen_ms > e->limits->read_stall_ms)
			drop_stalled(u);
	}
}

static msd_err check_room(struct msd_edge *e, uint64_t bytes, struct msd_diag *d)
{
	make_room(e, bytes);
	if (has_room(e, bytes))
		return MSD_OK;
	return msd_diag_set(d, MSD_NO_SPACE,
			    "an upload of %llu bytes does not fit: uploads that are "
			    "not loaded yet use %llu of %llu (max-upload-memory)",
			    (unsigned long long)bytes,
			    (unsigned long long)e->upload_bytes,
			    (unsigned long long)e->limits->max_upload_memory);
}

static msd_err check_limits(const struct msd_session *s, uint64_t bytes,
			    struct msd_diag *d)
{
	const struct msd_limits *limits = s->edge->limits;

	if (s->n_uploads >= limits->max_uploads) {
		return msd_diag_set(d, MSD_BUSY, "a connection may have %u uploads",
				    s->n_uploads);
	}
	if (s->peer->n_uploads >= MSD_PEER_UPLOADS) {
		return msd_diag_set(d, MSD_BUSY,
				    "all connections of a user or address may have %u "
				    "uploads: load or abort some",
				    s->peer->n_uploads);
	}
	const msd_err err = msd_source_check_size(bytes, limits->max_upload, d);
	return err == MSD_OK ? check_room(s->edge, bytes, d) : err;
}

/* Assign a handle and count the upload. */
static msd_err add(struct msd_upload *u, struct msd_diag *d)
{
	struct msd_session *s = u->session;
	const msd_err err =
		msd_handles_add(&s->handles, MSD_K_UPLOAD, u, &u->handle, d);

	if (err != MSD_OK)
		return err;
	s->n_uploads++;
	u->owner = msd_client_peer_ref(s->peer);
	u->owner->n_uploads++;
	s->edge->upload_bytes += u->bytes;
	return MSD_OK;
}

static struct msd_upload *upload_new(struct msd_session *s, uint64_t bytes)
{
	struct msd_upload *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	*u = (struct msd_upload){.session = s, .fd = -1, .bytes = bytes};
	msd_list_init(&u->waiters);
	msd_list_init(&u->link);
	return u;
}

msd_err msd_upload_begin(struct msd_session *s, uint64_t bytes, struct msd_req *r,
			 struct msd_diag *d)
{
	msd_err err = check_limits(s, bytes, d);

	if (err != MSD_OK)
		return err;
	struct msd_upload *u = upload_new(s, bytes);
	if (u == NULL)
		return msd_diag_no_memory(d);
	const struct msd_reserve_how how = {.name = MSD_SOURCE_NAME,
					    .bytes = bytes,
					    .lane = &msd_source_uploads,
					    .owner = msd_peer_id_passer(s->peer->who)};
	u->reserving = msd_reserve_begin(s->edge->loop, &how, on_reserved, u);
	if (u->reserving == NULL) {
		free(u);
		return msd_diag_no_memory(d);
	}
	err = add(u, d);
	if (err != MSD_OK) {
		msd_reserve_leave(u->reserving);
		free(u);
		return err;
	}
	msd_list_append(&u->waiters, &r->link);
	return MSD_OK;
}

msd_err msd_upload_add_found(struct msd_session *s, const struct msd_source *source,
			     struct msd_upload **ret, struct msd_diag *d)
{
	msd_err err = check_limits(s, source->bytes, d);

	if (err != MSD_OK)
		return err;
	struct msd_upload *u = upload_new(s, source->bytes);
	if (u == NULL)
		return msd_diag_no_memory(d);
	err = add(u, d);
	if (err != MSD_OK) {
		free(u);
		return err;
	}
	u->is_found = true;
	u->sealing = msd_source_job_made(source);
	if (u->sealing == NULL) {
		msd_upload_drop(u);
		return msd_diag_no_memory(d);
	}
	*ret = u;
	return MSD_OK;
}

msd_err msd_upload_find(struct msd_session *s, struct msd_handle h,
			struct msd_upload **ret, struct msd_diag *d)
{
	void *object = NULL;
	msd_err err = msd_handles_get(&s->handles, MSD_K_UPLOAD, h, &object, d);

	if (err == MSD_OK)
		*ret = object;
	return err;
}

static msd_err check_writable(const struct msd_upload *u, struct msd_diag *d)
{
	if (u->map != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    u->sealing != NULL ? "the upload is committed already"
					       : "the upload has no begin");
}

msd_err msd_upload_place(struct msd_upload *u, uint64_t offset, uint64_t bytes,
			 uint8_t **ret, struct msd_diag *d)
{
	msd_err err = check_writable(u, d);

	if (err != MSD_OK)
		return err;
	if (offset > u->bytes || bytes > u->bytes - offset) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"a piece of %llu bytes at %llu is outside the upload of %llu",
			(unsigned long long)bytes, (unsigned long long)offset,
			(unsigned long long)u->bytes);
	}
	*ret = u->map + offset;
	msd_list_remove(&u->link); /* not dropped while it is being written */
	return MSD_OK;
}

void msd_upload_wrote(struct msd_upload *u, uint64_t bytes)
{
	u->written += bytes;
	if (u->written >= u->bytes)
		return;
	if (u->written - u->seen_bytes >= MSD_CONN_TIMEOUT_PROGRESS_BYTES) {
		u->seen_bytes = u->written;
		u->seen_ms = uv_now(u->session->edge->loop);
	}
	msd_list_append(&u->session->edge->uploads, &u->link);
}

msd_err msd_upload_commit(struct msd_upload *u, struct msd_diag *d)
{
	msd_err err = check_writable(u, d);

	if (err != MSD_OK)
		return err;
	if (u->written < u->bytes) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "commit: only %llu of %llu bytes were uploaded",
				    (unsigned long long)u->written,
				    (unsigned long long)u->bytes);
	}
	u->sealing = msd_source_job_seal(u->session->edge->loop,
					 msd_peer_id_passer(u->owner->who), u->fd,
					 u->map, u->bytes);
	if (u->sealing == NULL)
		return msd_diag_no_memory(d);
	u->fd = -1;
	u->map = NULL;
	return MSD_OK;
}

msd_err msd_upload_adopt(struct msd_upload *u, struct msd_source_job **ret,
			 struct msd_diag *d)
{
	if (u->sealing == NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "the upload is not committed");
	*ret = u->sealing;
	forget(u);
	return MSD_OK;
}

msd_err msd_manifest_tests_read(const struct msd_fetch *f, struct msd_load *how,
				struct msd_diag *d)
{
	uint32_t n;

	if (f->got == NULL || f->got->tests.n == 0)
		return MSD_OK;
	if (f->got->warmup > MSD_SELF_TEST_WARMUP) {
		return msd_diag_set(
			d, MSD_TOO_LARGE, "the manifest: warmup %llu: at most %u",
			(unsigned long long)f->got->warmup, MSD_SELF_TEST_WARMUP);
	}
	how->tests = f->got->tests;
	how->warmup = (uint32_t)f->got->warmup;
	return msd_diag_wrap(d, msd_self_test_check(how->tests, &n, d), "the manifest");
}
