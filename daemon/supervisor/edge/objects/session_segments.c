/*
 * Happy path: segment.add passes a descriptor, which is checked and gets a number.
 * Tensors of requests that name it are pointed to the number that workers know.
 * Failures: the closer thread closes the descriptor. A request with a tensor outside
 * of the segment, or with overlapping outputs, is rejected before anything is
 * reserved for it.
 */
#include "daemon/supervisor/edge/objects/session_segments.h"

#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/loop/closer.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/session.h"
#include "proto/base/errno_text.h"

/* Maximum number of client segments of one peer. */
#define PEER_MOST (MSD_MAX_LENT / 2)

static void on_over(struct msd_client_segment *l)
{
	struct msd_client_peer *peer = l->owner;

	peer->n_lent--;
	peer->lent_bytes -= l->bytes;
	msd_client_peer_unref(peer);
}

static msd_err check_bytes(const struct msd_session *s, uint64_t bytes,
			   struct msd_diag *d)
{
	const struct msd_limits *limits = s->edge->limits;
	const uint64_t peers = s->peer->lent_bytes;
	const uint64_t all = s->edge->loans.bytes;

	if (peers > limits->max_segment_bytes ||
	    bytes > limits->max_segment_bytes - peers) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%llu bytes are too many: this user or address shares %llu of "
			"%llu already (--max-peer-segment-memory)",
			(unsigned long long)bytes, (unsigned long long)peers,
			(unsigned long long)limits->max_segment_bytes);
	}
	if (all > limits->max_segment_memory ||
	    bytes > limits->max_segment_memory - all) {
		return msd_diag_set(d, MSD_BUSY,
				    "%llu bytes are too many now: all clients share "
				    "%llu of %llu already (--max-segment-memory)",
				    (unsigned long long)bytes, (unsigned long long)all,
				    (unsigned long long)limits->max_segment_memory);
	}
	return MSD_OK;
}

/* Check the segment limits. *@ret: the first free number of the session. */
static msd_err check_number(const struct msd_session *s,
			    const struct msd_client_segment *seen, uint16_t *ret,
			    struct msd_diag *d)
{
	uint16_t name = 0;

	for (uint16_t i = MSD_MAX_CLIENT_SEGMENTS; i > 0; i--) {
		const struct msd_client_segment *l = s->loans[i - 1];
		if (l == NULL) {
			name = i;
		} else if (l->device == seen->device && l->inode == seen->inode) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "this memfd is segment %u already", i);
		}
	}
	if (name == 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "this connection shares %u segments, the maximum",
				    MSD_MAX_CLIENT_SEGMENTS);
	}
	if (s->peer->n_lent >= PEER_MOST) {
		return msd_diag_set(
			d, MSD_BUSY,
			"this user or address shares %u segments, the maximum",
			PEER_MOST);
	}
	*ret = name;
	return MSD_OK;
}

static msd_err check(const struct msd_session *s, int fd, uint64_t bytes,
		     struct msd_client_segment *seen, uint16_t *ret, struct msd_diag *d)
{
	if (!s->conn->transport.may_pass_fds) {
		return msd_diag_set(d, MSD_REFUSED,
				    "segments can be shared only over a unix socket");
	}
	if (fd < 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "no descriptor came with the request's first byte");
	}
	if (msd_wire_is_last(s->edge->wire, fd)) {
		return msd_diag_set(d, MSD_BUSY,
				    "the daemon has no descriptor for it now "
				    "(RLIMIT_NOFILE; " MSD_RAISE_DESCRIPTORS ")");
	}
	msd_err err = msd_client_segment_check(fd, bytes, seen, d);
	if (err == MSD_OK)
		err = check_number(s, seen, ret, d);
	return err == MSD_OK ? check_bytes(s, bytes, d) : err;
}

msd_err msd_session_segments_add(struct msd_session *s, int fd, uint64_t bytes,
				 uint16_t *ret, struct msd_diag *d)
{
	struct msd_client_segment seen, *l = NULL;
	uint16_t name = 0;
	msd_err err = check(s, fd, bytes, &seen, &name, d);

	if (err == MSD_OK)
		err = msd_client_segment_make(&s->edge->loans, fd, &seen, &l, d);
	if (err !=
	    MSD_OK) { /* unknown type of descriptor: its close may take any time */
		msd_closer_close_passed(fd, s->conn->transport.passer);
		return err;
	}
	l->name = name;
	l->owner = msd_client_peer_ref(s->peer);
	l->on_over = on_over;
	s->peer->n_lent++;
	s->peer->lent_bytes += bytes;
	s->loans[name - 1] = l;
	*ret = name;
	return MSD_OK;
}

static struct msd_client_segment *find(const struct msd_session *s, uint16_t name)
{
	return name > 0 && name <= MSD_MAX_CLIENT_SEGMENTS ? s->loans[name - 1] : NULL;
}

static msd_err none_such(uint16_t name, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "this connection has no segment %u (segment.add adds one)",
			    name);
}

msd_err msd_session_segments_remove(struct msd_session *s, uint16_t name,
				    struct msd_diag *d)
{
	struct msd_client_segment *l = find(s, name);

	if (l == NULL)
		return none_such(name, d);
	s->loans[name - 1] = NULL;
	msd_client_segment_unref(l);
	return MSD_OK;
}

void msd_session_segments_leave(struct msd_session *s)
{
	for (uint32_t i = 0; i < MSD_MAX_CLIENT_SEGMENTS; i++) {
		msd_client_segment_unref(s->loans[i]);
		s->loans[i] = NULL;
	}
}

static msd_err check_place(const struct msd_client_segment *l,
			   const struct msd_wire_tensor *t, struct msd_diag *d)
{
	if (t->offset > l->bytes || t->bytes > l->bytes - t->offset) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "a tensor at offset %llu of %llu bytes is not "
				    "inside segment %u of %llu bytes",
				    (unsigned long long)t->offset,
				    (unsigned long long)t->bytes, l->name,
				    (unsigned long long)l->bytes);
	}
	if (t->where == MSD_AT_OUT && !l->is_writable) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"segment %u is read-only: an output cannot be in it", l->name);
	}
	return MSD_OK;
}

msd_err msd_session_segments_point(struct msd_req *r, const struct msd_wire_tensor *t,
				   uint8_t *data, struct msd_buf *places,
				   struct msd_diag *d)
{
	const struct msd_session *s = msd_session_of(r);
	struct msd_client_segment *l = find(s, t->segment);

	if (l == NULL)
		return none_such(t->segment, d);
	const msd_err err = check_place(l, t, d);
	if (err != MSD_OK)
		return err;
	if (t->where == MSD_AT_OUT && t->bytes > 0) {
		const struct msd_session_segments_place place = {t->segment, t->offset,
								 t->bytes};
		msd_buf_put(places, &place, sizeof(place));
	}
	if (places->bad || !msd_segment_lookup_add(&r->lending, l))
		return msd_diag_no_memory(d);
	msd_wire_tensor_patch(data, t->where, (uint16_t)(MSD_FIRST_LENT + l->number),
			      t->offset);
	return MSD_OK;
}

static int by_place(const void *one, const void *other)
{
	const struct msd_session_segments_place *a = one, *b = other;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

msd_err msd_session_segments_check_apart(struct msd_buf *places, struct msd_diag *d)
{
	struct msd_session_segments_place *all =
		(struct msd_session_segments_place *)(void *)places->p;
	const size_t n = places->n / sizeof(*all);

	if (n < 2)
		return MSD_OK;
	qsort(all, n, sizeof(*all), by_place);
	for (size_t i = 1; i < n; i++) {
		const struct msd_session_segments_place *a = &all[i - 1];
		if (a->name == all[i].name && all[i].offset - a->offset < a->bytes) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "the outputs at offsets %llu and %llu of "
					    "segment %u overlap",
					    (unsigned long long)a->offset,
					    (unsigned long long)all[i].offset, a->name);
		}
	}
	return MSD_OK;
}
