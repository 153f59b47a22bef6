/*
 * Waits for an answer. Happy path: all is sent, and the socket blocks until data
 * arrives. On a channel to a worker, the client first polls for some time if that
 * pays (proto/base/spin.h). With a deadline, or with more to send, poll() waits.
 * Failures: a lost connection also ends the request.
 */
#include <poll.h>

#include "client/client.h"
#include "client/result.h"
#include "proto/base/clock.h"

/* Done functions run as in any iteration, and cannot start another one. If sending
 * fails, the ticket stays in the queue. */
static void send_now(modser_client *c)
{
	c->is_processing = true;
	(void)!msd_client_send(c);
	c->is_processing = false;
}

/* Sleep until an event or deadline, and handle it. */
static void sleep_turn(modser_client *c)
{
	if (c->queue == NULL && c->next_deadline_ns == UINT64_MAX) {
		(void)msd_client_turn(c, true);
		return;
	}
	struct pollfd p = {.fd = c->fd,
			   .events =
				   (short)(POLLIN | (c->queue != NULL ? POLLOUT : 0))};
	(void)poll(&p, 1, modser_timeout_ms(c));
	(void)msd_client_turn(c, false);
}

/* Poll while the next data is likely to arrive soon. False: no data arrived and @t
 * has not ended; a deadline may also end @t. */
static bool look(modser_client *c, const struct msd_ticket *t)
{
	const uint64_t n_reads = c->n_reads;

	if (msd_spin_begin(&c->spin, msd_now_ns()) == 0)
		return false;
	do {
		(void)msd_client_turn(c, false);
		if (c->n_reads != n_reads || t->ended)
			return true;
	} while (msd_spin_goes_on(&c->spin, msd_now_ns()));
	return false;
}

/* Wait for an event that concerns @t, and handle it. */
static void wait_turn(modser_client *c, const struct msd_ticket *t)
{
	send_now(c);
	if (t->ended) /* unsent: the closed channel gives no answer */
		return;
	if (c->queue != NULL || !msd_spin_is_on(&c->spin)) {
		sleep_turn(c);
		return;
	}
	if (!look(c, t))
		sleep_turn(c);
	msd_spin_end(&c->spin, msd_now_ns());
}

modser_err modser_wait(modser_client *client, uint64_t id, modser_result **ret)
{
	struct msd_ticket *t = msd_client_find(client, id);

	*ret = NULL;
	if (t == NULL || t->done != NULL || t->result == NULL ||
	    client->is_processing) {
		return (modser_err)msd_diag_set(&client->why, MSD_BAD_REQUEST,
						"no request %llu to wait for",
						(unsigned long long)id);
	}
	while (!modser_take(client, id, ret))
		wait_turn(client, t);
	return (*ret)->error.code;
}
