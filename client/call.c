/* The blocking helpers of a call, built on modser_start() and modser_wait() alone. */
#include <stdlib.h>
#include <string.h>

#include "client/result.h"

modser_err modser_request(modser_client *client, const char *method,
			  const modser_value *params, size_t n_params,
			  const modser_options *options, modser_result **ret)
{
	modser_options o = {0};
	uint64_t id;

	if (options != NULL)
		o = *options;
	o.done = NULL;
	modser_err err = modser_start(client, method, params, n_params, &o, &id);
	if (err == MODSER_OK)
		return modser_wait(client, id, ret);
	*ret = msd_result_create(0);
	if (*ret != NULL)
		msd_result_fail(*ret, (msd_err)err, modser_why(client)->message);
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
	modser_err err =
		modser_request(client, "call", params, n_args + 1, options, ret);
	if (params != few)
		free(params);
	return err;
}
