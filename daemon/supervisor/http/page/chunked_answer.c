/*
 * Happy path: a reply of one chunk is sent at once. For a longer reply, a task
 * writes one chunk per step; the whole reply is then sent in place. Failures: if memory
 * is short, the reply is an error. A disconnect is detected at the next chunk.
 */
#include "daemon/supervisor/http/page/chunked_answer.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/http_session.h"

/* A reply that is longer than a chunk. */
struct msd_chunked_answer {
	struct msd_task next; /* writes the next chunk */
	struct msd_http_session *caller;
	msd_chunked_answer_make *make;
	struct msd_chunked_answer_position at;
};

/* Send the text in place, without copying it after the head. */
static void hand_over(struct msd_http_session *c)
{
	struct msd_http_exchange *a = &c->asking;
	struct iovec *tail = malloc(sizeof(*tail));

	if (tail == NULL || a->body.bad) {
		free(tail);
		a->body.bad = true;
		return;
	}
	c->text = a->body;
	a->body = (struct msd_buf){0};
	a->reply.behind_bytes = c->text.n;
	*tail = (struct iovec){.iov_base = c->text.p, .iov_len = c->text.n};
	c->tail = tail;
	c->n_tail = a->request->method == MSD_HTTP_HEAD_ONLY ? 0 : 1;
}

static enum msd_task_result write_next(struct msd_task *t)
{
	struct msd_chunked_answer *p =
		MSD_CONTAINER_OF(t, struct msd_chunked_answer, next);
	struct msd_http_session *c = p->caller;
	struct msd_http_exchange *a = &c->asking;

	if (c->session.conn->is_closing)
		return MSD_TASK_DONE;
	if (!p->make(a, &p->at) && !a->body.bad) {
		c->on_grown(c);
		return MSD_TASK_AGAIN;
	}
	msd_chunked_answer_end(c);
	hand_over(c);
	a->is_later = false;
	c->on_answer(c);
	return MSD_TASK_DONE;
}

/* Continue in a task. Returns false if memory is short. */
static bool put_off(struct msd_http_session *c, msd_chunked_answer_make *make,
		    const struct msd_chunked_answer_position *at)
{
	struct msd_chunked_answer *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return false;
	p->next = (struct msd_task){.step = write_next,
				    .class = MSD_TASK_ANSWER,
				    .peer = msd_peer_id_passer(c->session.client.peer)};
	p->caller = c;
	p->make = make;
	p->at = *at;
	c->pieces = p;
	msd_task_begin(c->asking.edge->deadlines->tasks, &p->next);
	return true;
}

void msd_chunked_answer_begin(struct msd_http_exchange *a,
			      msd_chunked_answer_make *make,
			      struct msd_chunked_answer_position at)
{
	if (make(a, &at))
		return;
	a->is_later = put_off(a->caller, make, &at);
	a->body.bad |= !a->is_later;
}

static bool make_roll(struct msd_http_exchange *a,
		      struct msd_chunked_answer_position *at)
{
	return msd_module_listing_go_on(a, &at->roll);
}

void msd_chunked_answer_roll(struct msd_http_exchange *a,
			     const struct msd_module_listing *roll, bool ready_only)
{
	msd_chunked_answer_begin(
		a, make_roll,
		(struct msd_chunked_answer_position){
			.roll = {.of = roll, .ready_only = ready_only}});
}

void msd_chunked_answer_end(struct msd_http_session *c)
{
	struct msd_chunked_answer *p = c->pieces;

	if (p == NULL)
		return;
	msd_task_cancel(&p->next);
	free(p);
	c->pieces = NULL;
}
