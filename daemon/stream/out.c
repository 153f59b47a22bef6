#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/free_list.h"
#include "daemon/stream/conn.h"
#include "proto/body.h"
#include "proto/value.h"

/* Maximum memory that a spare frame keeps. */
#define SPARE_BODY_BYTES 4096u
#define SPARE_PIECES 8u
static struct msd_free_list spare;

/* False if it is too big, or enough are kept. */
static bool keep_spare(struct msd_out *o)
{
	if (!msd_free_list_has_room(&spare) || o->body.bad ||
	    o->body.cap > SPARE_BODY_BYTES || o->cap_pieces > SPARE_PIECES)
		return false;
	*o = (struct msd_out){.body = {.p = o->body.p, .cap = o->body.cap},
			      .pieces = o->pieces,
			      .cap_pieces = o->cap_pieces};
	msd_free_list_push(&spare, &o->link);
	return true;
}

static struct msd_out *create(void)
{
	struct msd_out *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	if (!msd_buf_reserve(&o->body, 256)) {
		free(o);
		return NULL;
	}
	msd_list_init(&o->link);
	return o;
}

struct msd_out *msd_out_new(void)
{
	struct msd_list *it = msd_free_list_pop(&spare);
	struct msd_out *o =
		it != NULL ? MSD_CONTAINER_OF(it, struct msd_out, link) : create();

	if (o == NULL)
		return NULL;
	o->fd = -1;
	/* The header is written when the frame is queued, because its sizes are known
	 * then. */
	static const uint8_t room[MSD_FRAME_HEADER_BYTES];
	msd_buf_put(&o->body, room, sizeof(room));
	return o;
}

struct msd_out *msd_out_farewell(msd_err err, const char *why)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL)
		return NULL;
	msd_body_begin_notification(&o->body, "session.close");
	msd_pack_array(&o->body, 3);
	msd_pack_uint(&o->body, err);
	msd_pack_cstr(&o->body, msd_err_name(err));
	msd_pack_text(&o->body, why, strlen(why));
	return o;
}

static bool push_piece(struct msd_out *o, const void *p, size_t n)
{
	if (o->n_pieces == o->cap_pieces) {
		uint32_t cap = o->cap_pieces > 0 ? 2 * o->cap_pieces : 4;
		struct iovec *more = realloc(o->pieces, cap * sizeof(*more));
		if (more == NULL)
			return false;
		o->pieces = more;
		o->cap_pieces = cap;
	}
	/* iovec has no const; sendmsg does not write. */
	o->pieces[o->n_pieces++] =
		(struct iovec){.iov_base = (void *)(uintptr_t)p, .iov_len = n};
	return true;
}

uint64_t msd_out_add_piece(struct msd_out *o, const void *p, size_t n)
{
	static const uint8_t zeros[MSD_TENSOR_ALIGN];
	size_t pad = (size_t)(-o->payload_bytes & (MSD_TENSOR_ALIGN - 1));

	if (n == 0)
		return 0; /* readers ignore the offset of an empty piece */
	if (pad > 0 && !push_piece(o, zeros, pad))
		return UINT64_MAX;
	uint64_t at = o->payload_bytes + pad;
	if (!push_piece(o, p, n))
		return UINT64_MAX;
	o->payload_bytes = at + n;
	return at;
}

static void stop_sharing(void *ctx, bool sent)
{
	(void)sent;
	msd_shared_unref(ctx);
}

void msd_out_share(struct msd_out *o, struct msd_shared *s, struct msd_span part)
{
	if (!push_piece(o, part.p, part.n)) {
		o->body.bad = true;
		return;
	}
	o->shared_bytes = part.n;
	o->on_done = stop_sharing;
	o->ctx = msd_shared_ref(s);
}

void msd_out_destroy(struct msd_out *o)
{
	if (o == NULL)
		return;
	if (o->fd >= 0)
		(void)close(o->fd);
	if (keep_spare(o))
		return;
	msd_buf_finish(&o->body);
	free(o->pieces);
	free(o);
}
