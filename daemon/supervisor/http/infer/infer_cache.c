#include "daemon/supervisor/http/infer/infer_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "daemon/http/reply.h"
#include "daemon/stream/conn.h"

#define MAX_TEXT 1024u /* bytes; a longer text or head is not cached */

/* One block, like msd_known.plan. After the tail follow the numbers of the frame's
 * pieces, in the order of the tail, then the reply's head and its text. */
struct told {
	bool has_tensors;
	uint32_t n_tail, n_head, n_text;
	struct iovec tail[]; /* tail of the reply that is being written */
};

static uint32_t *pieces_of(struct told *t)
{
	return (uint32_t *)(void *)(t->tail + t->n_tail);
}

static uint8_t *head_of(struct told *t)
{
	return (uint8_t *)(pieces_of(t) + t->n_tail);
}

static struct msd_span body_of(const struct msd_out *o)
{
	return (struct msd_span){o->body.p + MSD_FRAME_HEADER_BYTES,
				 o->body.n - MSD_FRAME_HEADER_BYTES};
}

bool msd_infer_cache_find(struct msd_memory *told, const struct msd_out *o,
			  struct msd_infer_answer *ret)
{
	const struct msd_known *known =
		msd_memory_find(told, body_of(o), o->payload_bytes);
	struct told *t = known != NULL ? known->plan : NULL;

	if (t == NULL)
		return false;
	for (uint32_t i = 0; i < t->n_tail; i++) {
		t->tail[i] = o->pieces[pieces_of(t)[i]];
		ret->tail_bytes += t->tail[i].iov_len;
	}
	ret->tail = t->tail;
	ret->n_tail = t->n_tail;
	ret->has_tensors = t->has_tensors;
	ret->known_head = (struct msd_span){head_of(t), t->n_head};
	ret->known_text = (struct msd_span){head_of(t) + t->n_head, t->n_text};
	return true;
}

static uint32_t find_piece(const struct msd_out *o, const struct iovec *tensor)
{
	uint32_t i = 0;

	while (i < o->n_pieces && (o->pieces[i].iov_base != tensor->iov_base ||
				   o->pieces[i].iov_len != tensor->iov_len))
		i++;
	return i;
}

/* The head for a connection that stays open. */
static void write_head(const struct msd_infer_answer *a, struct msd_buf *head)
{
	const struct msd_http_reply reply = {.status = 200,
					     .type = MSD_HTTP_JSON,
					     .body = {a->text.p, a->text.n},
					     .behind_bytes = a->tail_bytes,
					     .has_tensors = a->has_tensors,
					     .is_head = true};

	msd_http_reply_write(head, &reply);
}

static struct told *told_new(const struct msd_out *o, const struct msd_infer_answer *a,
			     const struct msd_buf *head, size_t *ret_bytes)
{
	const size_t n = sizeof(struct told) +
			 a->n_tail * (sizeof(struct iovec) + sizeof(uint32_t)) +
			 head->n + a->text.n;
	struct told *t = malloc(n);

	if (t == NULL)
		return NULL;
	t->has_tensors = a->has_tensors;
	t->n_tail = a->n_tail;
	t->n_head = (uint32_t)head->n;
	t->n_text = (uint32_t)a->text.n;
	for (uint32_t i = 0; i < a->n_tail; i++)
		pieces_of(t)[i] = find_piece(o, &a->tail[i]);
	memcpy(head_of(t), head->p, head->n);
	memcpy(head_of(t) + head->n, a->text.p, a->text.n);
	*ret_bytes = n;
	return t;
}

void msd_infer_cache_keep(struct msd_memory *told, const struct msd_out *o,
			  const struct msd_infer_answer *a)
{
	struct msd_body body;
	struct msd_buf head = {0};
	struct msd_diag d = {0};
	size_t n;

	if (a->text.n > MAX_TEXT ||
	    msd_body_read(body_of(o), NULL, &body, &d) != MSD_OK)
		return;
	struct msd_known *known =
		msd_memory_add(told, body_of(o), o->payload_bytes, &body);
	if (known == NULL)
		return;
	write_head(a, &head);
	struct told *t = head.bad ? NULL : told_new(o, a, &head, &n);
	msd_buf_finish(&head);
	if (t == NULL) {
		msd_memory_drop(told, known);
		return;
	}
	msd_memory_give(told, known, t, n);
}
