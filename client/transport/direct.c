/*
 * Happy path: the client asks the daemon for a channel to a module's worker. The
 * descriptor arrives with the first byte of the answer, and becomes a client of its
 * own. Failures: the result gives the reason, and the caller continues through the
 * daemon.
 */
#include "client/transport/direct.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "client/result.h"
#include "proto/base/proc.h"

modser_err msd_direct_ask(modser_client *c, const char *module, uint32_t deadline_ms,
			  uint64_t *ret_id)
{
	const modser_value name = modser_str(module);
	const modser_options options = {.deadline_ms = deadline_ms};
	const modser_err err =
		modser_start(c, "channel.open", &name, 1, &options, ret_id);

	c->takes_fd = err == MODSER_OK;
	return err;
}

/* The worker also polls while calls arrive fast, because no other client uses this
 * channel. */
static void allow_spin(modser_client *channel)
{
	const char *word = getenv("MODSER_SPIN");

	if (word == NULL || strcmp(word, "off") != 0) {
		msd_spin_init(&channel->spin, MSD_SPIN_MOST_NS,
			      msd_proc_own_millis(""));
	}
}

/* Number at @key in the answer @r. */
static uint64_t number(const modser_result *r, const char *key)
{
	const modser_value *v = modser_find(modser_result_value(r), key);

	return v != NULL && v->kind == MODSER_INT && v->as.i > 0 ? (uint64_t)v->as.i
								 : 0;
}

modser_err msd_direct_open_channel(modser_client *c, modser_result *r,
				   modser_client **ret, uint64_t *ret_workers)
{
	const int fd = c->passed_fd;
	modser_err err = modser_result_error(r)->code;

	c->takes_fd = false;
	c->passed_fd = -1;
	if (err == MODSER_OK && fd < 0) {
		msd_result_fail(r, MSD_PROTOCOL,
				"channel.open: no descriptor came with the answer");
		return MODSER_PROTOCOL;
	}
	if (err == MODSER_OK) {
		err = modser_open_fd(fd, ret);
	} else if (fd >= 0) {
		(void)close(fd);
	}
	if (err != MODSER_OK)
		return err;
	(*ret)->is_direct = true;
	allow_spin(*ret);
	(*ret)->most_bytes = number(r, "bytes");
	(*ret)->worker_pid = number(r, "pid");
	*ret_workers = number(r, "workers");
	return MODSER_OK;
}

void msd_direct_drop(modser_client *c)
{
	if (c->passed_fd >= 0)
		(void)close(c->passed_fd);
	c->passed_fd = -1;
	c->takes_fd = false;
}

modser_err modser_open_direct(modser_client *client, const char *module,
			      modser_client **ret, modser_result **ret_why)
{
	modser_result *r = NULL;
	uint64_t id, workers;
	modser_err err = msd_direct_ask(client, module, 0, &id);

	if (err == MODSER_OK) {
		err = modser_wait(client, id, &r);
		if (r != NULL) {
			err = msd_direct_open_channel(client, r, ret, &workers);
		} else {
			msd_direct_drop(client);
		}
	} else {
		r = msd_result_create(0);
		if (r != NULL)
			msd_result_fail(r, (msd_err)err, modser_why(client)->message);
	}
	if (err != MODSER_OK && ret_why != NULL) {
		*ret_why = r;
	} else {
		modser_result_free(r);
	}
	return err;
}
