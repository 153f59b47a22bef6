/*
 * Life cycle of a client and of its requests.
 *
 * Happy path: modser_start() makes a ticket, inserts it into the table by its id and
 * appends it to the queue. An iteration (modser_process(), or a wait: wait.c) sends
 * as much as the socket accepts, receives the available data, and ends tickets that
 * were answered or whose deadline passed. A ticket that has ended goes to its done
 * function, or stays in the table for modser_wait() or modser_take().
 *
 * Failures: any failure of the connection ends every ticket with MSD_IO, once.
 * Afterwards the client only reports the reason and can be closed.
 */
#include "client/client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/result.h"
#include "client/transport/tls.h"
#include "proto/base/clock.h"

#define PATIENCE_MS                                                                    \
	1000         /* grace after a deadline; the daemon enforces deadlines itself */
#define TABLE_MIN 64 /* number of tickets; a power of two */

/* Answers do not depend on the templates; the switch is for measurements and tests. */
static bool has_plans(void)
{
	const char *word = getenv("MODSER_PLANS");

	return word == NULL || strcmp(word, "off") != 0;
}

modser_err modser_open_fd(int fd, modser_client **ret)
{
	int flags = fcntl(fd, F_GETFL);
	modser_client *c = calloc(1, sizeof(*c));

	/* Every call that must not block sets its own flag; a call of modser_wait()
	 * blocks. */
	if (c == NULL || flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
		modser_err err = c == NULL ? MODSER_NOMEM : MODSER_IO;

		free(c);
		(void)close(fd);
		return err;
	}
	c->fd = fd;
	c->passed_fd = -1;
	c->next_deadline_ns = UINT64_MAX;
	c->has_plans = has_plans();
	msd_reply_cache_init(&c->heard);
	*ret = c;
	return MODSER_OK;
}

struct msd_ticket *msd_client_find(const modser_client *c, uint64_t id)
{
	struct msd_ticket *t =
		c->cap_table > 0 ? c->table[id & (c->cap_table - 1)] : NULL;

	return t != NULL && t->id == id ? t : NULL;
}

void msd_client_drop(modser_client *c, struct msd_ticket *t)
{
	if (t->due || t->result != NULL)
		return;
	c->table[t->id & (c->cap_table - 1)] = NULL;
	c->n_table--;
	msd_request_pool_push(&c->spares, t);
}

void msd_client_end(modser_client *c, struct msd_ticket *t)
{
	modser_done_fn done = t->done;
	void *ctx = t->ctx;
	modser_result *result = t->result;

	t->ended = true;
	c->n_in_flight--;
	if (done == NULL)
		return; /* until modser_take() */
	t->result = NULL;
	msd_client_drop(c, t);
	done(ctx, result);
}

/* End @t here; a later answer of the daemon is discarded. */
static void end_locally(modser_client *c, struct msd_ticket *t, msd_err err,
			const char *text)
{
	struct msd_receive *rx = &c->rx;

	if (rx->state == MSD_RX_PAYLOAD && rx->ticket_id == t->id) {
		for (size_t i = rx->at_piece; i < rx->n_pieces; i++)
			rx->pieces[i].to = NULL;
	}
	msd_result_fail(t->result, err, text);
	msd_client_end(c, t);
}

void msd_client_stop_sending(modser_client *c)
{
	struct msd_ticket *t = c->queue;

	c->queue = c->queue_tail = NULL;
	while (t != NULL) {
		struct msd_ticket *next = t->next;

		t->next = NULL;
		if (!t->due) { /* answered before its last byte was sent */
			msd_client_end(c, t);
		} else {
			t->due = false;
			if (t->ended) {
				msd_client_drop(c, t);
			} else {
				t->result->is_unsent = true;
				end_locally(c, t, MSD_DRAINING,
					    "the direct channel was closed before this "
					    "call was sent: it did not start");
			}
		}
		t = next;
	}
}

/*
 * True if the request of @t has not begun. A worker on a direct channel begins each
 * request that it read completely. If it did not read all sent bytes, the last
 * request has not begun.
 */
static bool is_unsent(const modser_client *c, const struct msd_ticket *t)
{
	if (!c->is_direct)
		return !t->begun;
	return t->at_iov < t->n_iov || (c->was_reset && t->id == c->next_id);
}

void msd_client_lose(modser_client *c, msd_err err)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
	msd_client_tls_close(c->tls);
	c->tls = NULL;
	c->queue = c->queue_tail = NULL;
	c->rx.state = MSD_RX_HEADER;
	for (size_t i = 0; i < c->cap_table; i++) {
		struct msd_ticket *t = c->table[i];

		if (t == NULL)
			continue;
		t->due = false;
		if (!t->ended) {
			t->result->is_unsent = is_unsent(c, t);
			end_locally(c, t, err, msd_diag_text(&c->why));
		} else {
			msd_client_drop(c, t);
		}
	}
}

/* Keep the table at most half full; skip ids whose slot is in use. */
static bool grow_table(modser_client *c)
{
	size_t cap = c->cap_table == 0 ? TABLE_MIN : 2 * c->cap_table;
	struct msd_ticket **table;

	if (2 * c->n_table < c->cap_table)
		return true;
	table = calloc(cap, sizeof(struct msd_ticket *));
	if (table == NULL)
		return false;
	for (size_t i = 0; i < c->cap_table; i++) {
		if (c->table[i] != NULL)
			table[c->table[i]->id & (cap - 1)] = c->table[i];
	}
	free(c->table);
	c->table = table;
	c->cap_table = cap;
	return true;
}

static void enqueue(modser_client *c, struct msd_ticket *t)
{
	t->due = true;
	c->table[t->id & (c->cap_table - 1)] = t;
	c->n_table++;
	c->n_in_flight++;
	if (c->queue_tail != NULL) {
		c->queue_tail->next = t;
	} else {
		c->queue = t;
	}
	c->queue_tail = t;
	if (t->deadline_ns < c->next_deadline_ns)
		c->next_deadline_ns = t->deadline_ns;
}

/* While a worker runs a call, it cannot report a passed deadline. */
static uint64_t patience_ms(const modser_client *c)
{
	return c->is_direct ? 0 : PATIENCE_MS;
}

modser_err modser_start(modser_client *client, const char *method,
			const modser_value *params, size_t n_params,
			const modser_options *options, uint64_t *ret_id)
{
	uint64_t id = client->next_id + 1;

	if (client->fd < 0) /* c->why has the reason since then */
		return client->why.code == MSD_DRAINING ? MODSER_DRAINING : MODSER_IO;
	struct msd_ticket *t =
		grow_table(client) ? msd_request_pool_pop(&client->spares) : NULL;
	if (t == NULL) {
		return (modser_err)msd_diag_set(&client->why, MSD_NOMEM,
						"no memory for a request");
	}
	while (client->table[id & (client->cap_table - 1)] != NULL)
		id++;
	t->id = id;
	msd_err err = msd_ticket_fill(
		t, method, params, n_params, options, client->segments,
		client->has_plans ? &client->asked : NULL, &client->why);
	if (err != MSD_OK) {
		msd_request_pool_push(&client->spares, t);
		return (modser_err)err;
	}
	t->deadline_ns = UINT64_MAX;
	if (options != NULL && options->deadline_ms != 0) {
		t->deadline_ns = msd_now_ns() + ((uint64_t)options->deadline_ms +
						 patience_ms(client)) *
							1000000u;
	}
	client->takes_objects |= t->method == MSD_M_HELLO;
	enqueue(client, t);
	client->next_id = id;
	if (ret_id != NULL)
		*ret_id = id;
	return MODSER_OK;
}

static const char late_at_worker[] = "the call did not finish by its deadline";

/* The deadline of @t passed without an answer from the daemon. */
static msd_err expire(modser_client *c, struct msd_ticket *t)
{
	if (t->begun && t->at_iov < t->n_iov) {
		/* The rest of the frame is the caller's memory, which may be freed
		 * soon. */
		if (c->is_direct)
			end_locally(c, t, MSD_DEADLINE, late_at_worker);
		return msd_diag_set(&c->why, MSD_IO,
				    "the daemon does not read: a request was not sent "
				    "within its deadline");
	}
	if (!t->begun) {
		struct msd_ticket **at = &c->queue;

		c->queue_tail = NULL;
		while (*at != NULL) {
			if (*at == t) {
				*at = t->next;
			} else {
				c->queue_tail = *at, at = &(*at)->next;
			}
		}
		t->due = false;
	}
	end_locally(c, t, MSD_DEADLINE,
		    c->is_direct ? late_at_worker
				 : "the daemon did not answer within the deadline");
	return MSD_OK;
}

static msd_err expire_all(modser_client *c)
{
	uint64_t now = msd_now_ns();

	if (now < c->next_deadline_ns)
		return MSD_OK;
	c->next_deadline_ns = UINT64_MAX;
	for (size_t i = 0; i < c->cap_table; i++) {
		struct msd_ticket *t = c->table[i];
		msd_err err = MSD_OK;

		if (t == NULL || t->ended)
			continue;
		if (t->deadline_ns <= now) {
			err = expire(c, t);
		} else if (t->deadline_ns < c->next_deadline_ns) {
			c->next_deadline_ns = t->deadline_ns;
		}
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

modser_err msd_client_turn(modser_client *c, bool may_block)
{
	if (c->fd < 0)
		return MODSER_IO;
	if (c->is_processing)
		return MODSER_OK;
	c->is_processing = true;
	msd_err sent = msd_client_send(c);
	/* Read the data that the daemon sent before it closed the connection. */
	msd_err err = msd_client_receive(c, may_block && sent == MSD_OK);
	if (err == MSD_OK)
		err = sent == MSD_OK ? msd_client_send(c) : sent;
	if (err == MSD_OK && c->next_deadline_ns != UINT64_MAX)
		err = expire_all(c);
	if (err != MSD_OK && c->address != NULL)
		err = msd_diag_wrap(&c->why, err, "%s", c->address);
	if (err != MSD_OK)
		msd_client_lose(c, err);
	c->is_processing = false;
	return (modser_err)err;
}

modser_err modser_process(modser_client *client)
{
	return msd_client_turn(client, false);
}

bool modser_take(modser_client *client, uint64_t id, modser_result **ret)
{
	struct msd_ticket *t = msd_client_find(client, id);

	if (t == NULL || !t->ended || t->result == NULL)
		return false;
	*ret = t->result;
	t->result = NULL;
	msd_client_drop(client, t);
	return true;
}

size_t modser_in_flight(const modser_client *client)
{
	return client->n_in_flight;
}

int modser_fd(const modser_client *client)
{
	return client->fd;
}

unsigned modser_events(const modser_client *client)
{
	return MODSER_READABLE | (client->queue != NULL ? MODSER_WRITABLE : 0u);
}

int modser_timeout_ms(const modser_client *client)
{
	return msd_poll_ms(client->next_deadline_ns);
}

const modser_error *modser_why(modser_client *client)
{
	msd_error_of(client->why.code, msd_diag_text(&client->why), &client->why_error);
	return &client->why_error;
}
