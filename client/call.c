/* The blocking helper of a call: uses the automatic direct channel where possible,
 * else an ordinary request. */
#include <stdlib.h>
#include <string.h>

#include "client/transport/auto_direct.h"
#include "proto/base/clock.h"

/* Rest of the deadline at this time; the call began at @begun_ns. */
static uint32_t deadline_left(uint32_t deadline_ms, uint64_t begun_ns)
{
	const uint64_t passed_ms = (msd_now_ns() - begun_ns) / MSD_NS_PER_MS;

	return passed_ms < deadline_ms ? deadline_ms - (uint32_t)passed_ms : 1;
}

static modser_err call(modser_client *client, const modser_value *params, size_t n_args,
		       const modser_options *options, modser_result **ret)
{
	modser_client *channel = msd_auto_direct_channel(client, params[0].as.str.p,
							 params + 1, n_args, options);
	modser_options rest;

	if (channel != NULL) {
		const bool is_timed = options != NULL && options->deadline_ms != 0;
		const uint64_t begun_ns = is_timed ? msd_now_ns() : 0;
		const modser_err err = modser_request(channel, "call", params,
						      n_args + 1, options, ret);
		if (!msd_auto_direct_is_for_daemon(client, channel, *ret))
			return err;
		modser_result_free(*ret);
		*ret = NULL;
		if (is_timed) {
			rest = *options;
			rest.deadline_ms = deadline_left(rest.deadline_ms, begun_ns);
			options = &rest;
		}
	}
	const modser_err err =
		modser_request(client, "call", params, n_args + 1, options, ret);
	msd_auto_direct_settle(client, *ret);
	return err;
}

modser_err modser_call(modser_client *client, const char *function,
		       const modser_value *args, size_t n_args,
		       const modser_options *options, modser_result **ret)
{
	modser_value few[8];
	modser_value *params = few;

	*ret = NULL;
	if (n_args >= sizeof(few) / sizeof(few[0])) {
		params = calloc(n_args + 1, sizeof(*params));
		if (params == NULL)
			return MODSER_NOMEM;
	}
	params[0] = modser_str(function);
	if (n_args > 0)
		memcpy(params + 1, args, n_args * sizeof(*args));
	modser_err err = call(client, params, n_args, options, ret);
	if (params != few)
		free(params);
	return err;
}
