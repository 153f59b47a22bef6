/*
 * How an answer is waited for. Happy path: all is sent, and the socket blocks until
 * something comes; a channel to a worker is looked at for a while first, where that
 * pays (proto/spin.h). With a deadline, or more to send, poll() waits. Failures: a lost
 * connection ends what was waited for, too.
 */
#include <poll.h>

#include "client/client.h"
#include "client/result.h"
#include "proto/clock.h"

/* Done functions are called as in any turn: theirs is none. What has failed is left in
 * the queue. */
static void send_now(modser_client *c)
{
	c->is_processing = true;
	(void)!msd_client_send(c);
	c->is_processing = false;
}

/* Sleep until something can be done, and do it. */
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

/* As long as what comes next is worth looking for. False: nothing has come by then, and
 * @t has not ended, for a deadline may end it, too. */
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

/* Wait until something can be done for @t, and do it. */
static void wait_turn(modser_client *c, const struct msd_ticket *t)
{
	send_now(c);
	if (t->ended) /* unsent: a channel that is taken back says no more of it */
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
