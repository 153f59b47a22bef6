/*
 * Happy path: the daemon is asked for a channel to a module's worker; its descriptor
 * comes with the first byte of the answer, and is a client of its own from there on.
 * Failures: the result says why there is none, and the caller goes on with the daemon.
 */
#include <unistd.h>

#include "client/client.h"
#include "client/result.h"

/* The daemon's answer, or why it could not be asked. */
static modser_err ask(modser_client *c, const char *module, modser_result **ret)
{
	const modser_value name = modser_str(module);

	c->takes_fd = true;
	const modser_err err = modser_request(c, "channel.open", &name, 1, NULL, ret);
	c->takes_fd = false;
	return err;
}

static modser_err fail(modser_result *r, const char *text)
{
	if (r != NULL)
		msd_result_fail(r, MSD_PROTOCOL, text);
	return MODSER_PROTOCOL;
}

modser_err modser_open_direct(modser_client *client, const char *module,
			      modser_client **ret, modser_result **ret_why)
{
	modser_result *r = NULL;
	modser_err err = ask(client, module, &r);
	const int fd = client->passed_fd;

	client->passed_fd = -1;
	if (err == MODSER_OK && fd < 0) {
		err = fail(r, "channel.open: no descriptor came with the answer");
	} else if (err == MODSER_OK) {
		err = modser_open_fd(fd, ret);
	} else if (fd >= 0) {
		(void)close(fd);
	}
	if (err == MODSER_OK)
		(*ret)->is_direct = true;
	if (err != MODSER_OK && ret_why != NULL) {
		*ret_why = r;
	} else {
		modser_result_free(r);
	}
	return err;
}
