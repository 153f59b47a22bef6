/* The blocking helper of a request; uses only modser_start() and modser_wait(). */
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
