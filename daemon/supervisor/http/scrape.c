/*
 * Happy path: what is a piece long is answered at once. Of more a piece is made in each
 * turn of the loop, by a deadline; the whole is written from where it lies.
 * Failures: memory is short, and so is the answer; who is gone meanwhile is found out
 * at the next piece.
 */
#include "daemon/supervisor/http/scrape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/facts/metrics.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/caller.h"

#define PAUSE_MS 1u /* a deadline of none may be met in the same turn */

/* One that did not fit a piece. */
struct msd_scrape {
	struct msd_deadline next; /* the piece */
	struct msd_caller *caller;
	struct msd_metrics_at at;
	bool is_open; /* OpenMetrics */
};

static bool sees(void *who, const char *module)
{
	return msd_bearer_sees(who, module);
}

/* It is named at all: who asks for both takes either. */
static bool wants_openmetrics(struct msd_span accept)
{
	static const char type[] = "application/openmetrics-text";

	return accept.n > 0 && memmem(accept.p, accept.n, type, strlen(type)) != NULL;
}

static bool go_on(struct msd_asking *a, struct msd_metrics_at *at, bool is_open)
{
	const struct msd_view view = {.sees = sees, .who = a};

	return msd_metrics_go_on(a->edge, &view, at, &a->body, is_open);
}

/* The text is written from where it lies, and not copied behind the head. */
static void hand_over(struct msd_caller *c)
{
	struct msd_asking *a = &c->asking;
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
	c->is_tail_known = false;
}

static void on_next(struct msd_deadline *node)
{
	struct msd_scrape *s = MSD_CONTAINER_OF(node, struct msd_scrape, next);
	struct msd_caller *c = s->caller;
	struct msd_asking *a = &c->asking;

	if (c->is_gone)
		return;
	if (!go_on(a, &s->at, s->is_open) && !a->body.bad) {
		msd_deadline_set(a->edge->deadlines, &s->next, PAUSE_MS);
		c->on_grown(c);
		return;
	}
	msd_scrape_end(c);
	hand_over(c);
	a->is_later = false;
	c->on_answer(c);
}

/* It goes on in the next turn. False: memory is short. */
static bool begin(struct msd_caller *c, const struct msd_metrics_at *at, bool is_open)
{
	struct msd_scrape *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return false;
	s->next.on_due = on_next;
	s->caller = c;
	s->at = *at;
	s->is_open = is_open;
	c->scrape = s;
	msd_deadline_set(c->asking.edge->deadlines, &s->next, PAUSE_MS);
	return true;
}

void msd_scrape(struct msd_asking *a)
{
	const bool is_open = wants_openmetrics(a->request->fields[MSD_HTTP_F_ACCEPT]);
	struct msd_metrics_at at = {0};

	a->reply.status = 200;
	a->reply.type = is_open ? MSD_METRICS_TYPE_OPEN : MSD_METRICS_TYPE;
	if (go_on(a, &at, is_open))
		return;
	a->is_later = begin(a->caller, &at, is_open);
	a->body.bad |= !a->is_later;
}

void msd_scrape_end(struct msd_caller *c)
{
	struct msd_scrape *s = c->scrape;

	if (s == NULL)
		return;
	msd_deadline_clear(c->asking.edge->deadlines, &s->next);
	free(s);
	c->scrape = NULL;
}
