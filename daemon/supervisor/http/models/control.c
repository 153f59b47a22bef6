/*
 * Happy path: the session of the HTTP connection sends the same request as a session
 * of frames. The reply follows when the module is READY, or gone. Failures: an
 * unsupported parameter is rejected by name, because ignoring it would load something
 * else than requested.
 */
#include "daemon/supervisor/http/models/control.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/http_session.h"
#include "proto/limits.h"
#include "proto/name.h"
#include "proto/words/run_options.h"

#define MAX_BODY 4096u
#define MAX_SAID MSD_RUN_KEYS /* parameters of a load; each at most once */

struct said {
	struct msd_said each[MAX_SAID];
	char numbers[MAX_SAID][24];
	uint32_t n;
};

/* Only `{"parameters": {...}}` or `{}` is valid. */
static bool is_fine(const json_t *all)
{
	const json_t *parameters = json_object_get(all, "parameters");

	return json_is_object(all) && json_object_size(all) == (parameters != NULL) &&
	       (parameters == NULL || json_is_object(parameters));
}

/* Read the parameters into *ret, NULL if there are none; the caller releases
 * *ret_all. Returns false if it was answered with an error. */
static bool read_body(struct msd_http_exchange *a, json_t **ret_all, json_t **ret)
{
	const struct msd_span body = a->request->body;
	struct msd_diag d = {0};

	*ret_all = *ret = NULL;
	if (body.n == 0)
		return true;
	if (body.n > MAX_BODY) {
		(void)msd_diag_set(&d, MSD_TOO_LARGE,
				   "the body has %zu bytes, the limit is %u: to send "
				   "files use `modser load`",
				   body.n, MAX_BODY);
		msd_http_exchange_fail(a, 413, &d);
		return false;
	}
	*ret_all =
		json_loadb((const char *)body.p, body.n, JSON_REJECT_DUPLICATES, NULL);
	if (!is_fine(*ret_all)) {
		json_decref(*ret_all);
		(void)msd_diag_set(&d, MSD_BAD_REQUEST,
				   "the body: expected nothing, or {\"parameters\": "
				   "{...}}");
		msd_http_exchange_fail(a, 400, &d);
		return false;
	}
	*ret = json_object_get(*ret_all, "parameters");
	return true;
}

/* Convert the value to the syntax of the configuration file. */
static msd_err say(struct said *s, const char *key, const json_t *value,
		   struct msd_diag *d)
{
	char *number = s->numbers[s->n];
	const char *text = number;

	if (strcmp(key, "config") == 0 || strncmp(key, "file:", 5) == 0) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%s: the configuration or the store names the files of a "
			"module; to load others use `modser load`",
			key);
	}
	if (s->n == MAX_SAID)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: too many parameters", key);
	if (json_is_string(value)) {
		text = json_string_value(value);
	} else if (json_is_integer(value)) {
		(void)snprintf(number, sizeof(s->numbers[0]), "%lld",
			       (long long)json_integer_value(value));
	} else if (json_is_boolean(value)) {
		text = json_is_true(value) ? "yes" : "no";
	} else {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: expected text, a whole number, true or false",
				    key);
	}
	s->each[s->n++] = (struct msd_said){key, text};
	return MSD_OK;
}

static msd_err load(struct msd_http_exchange *a, json_t *parameters, struct msd_diag *d)
{
	struct msd_session *session = &a->caller->session;
	char name[MSD_MAX_NAME_BYTES + 1];
	struct said said = {.n = 0};
	msd_err err = MSD_OK;
	const char *key;
	json_t *value;

	json_object_foreach(parameters, key, value)
	{
		if (err == MSD_OK)
			err = say(&said, key, value, d);
	}
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "parameters");
	(void)snprintf(name, sizeof(name), "%.*s", (int)a->names[0].n,
		       (const char *)a->names[0].p);
	struct msd_req *r = msd_req_new_waiting(&session->client, session->number,
						MSD_M_MODULE_LOAD);
	if (r == NULL)
		return msd_diag_no_memory(d);
	err = a->edge->on_load(a->edge, name, said.each, said.n, r, d);
	if (err != MSD_OK)
		msd_req_release(r);
	return err;
}

/* Like a frame with the name as its only parameter. */
static msd_err unload(struct msd_http_exchange *a, json_t *parameters,
		      struct msd_diag *d)
{
	const char *key;
	json_t *value;

	json_object_foreach(parameters, key, value)
	{
		if (strcmp(key, "unload_dependents") != 0 || !json_is_boolean(value)) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "parameters: %s: expected "
					    "unload_dependents, true or false",
					    key);
		}
	}
	struct msd_session *s = &a->caller->session;
	struct msd_in in = {.body = {.kind = MSD_REQUEST, .id = s->number}};
	msgpack_object name = {.type = MSGPACK_OBJECT_STR,
			       .via.str = {.size = (uint32_t)a->names[0].n,
					   .ptr = (const char *)a->names[0].p}};
	const msgpack_object params = {.type = MSGPACK_OBJECT_ARRAY,
				       .via.array = {.size = 1, .ptr = &name}};
	struct msd_method_call call = {.session = s,
				       .in = &in,
				       .method = MSD_M_MODULE_UNLOAD,
				       .params = &params};

	return msd_method_unload(&call, d);
}

static void ask(struct msd_http_exchange *a, enum msd_method method,
		msd_err (*how)(struct msd_http_exchange *a, json_t *parameters,
			       struct msd_diag *d))
{
	struct msd_diag d = {0};
	json_t *all, *parameters;
	msd_err err;

	if (!read_body(a, &all, &parameters))
		return;
	if (msd_bearer_authorize(a, method) != MSD_OK) {
		json_decref(all);
		return;
	}
	if (msd_name_valid(a->names[0])) {
		msd_audit_asked(&a->caller->session, method, a->names[0]);
		a->caller->is_starting = true;
		a->is_later = true;
		err = how(a, parameters, &d);
		a->caller->is_starting = false;
	} else {
		err = msd_diag_set(&d, MSD_BAD_REQUEST,
				   "it is not a valid module name");
	}
	json_decref(all);
	if (err == MSD_OK)
		return;
	a->is_later = false;
	msd_http_exchange_fail(a, msd_http_exchange_status(err), &d);
}

void msd_control_load(struct msd_http_exchange *a)
{
	ask(a, MSD_M_MODULE_LOAD, load);
}

void msd_control_unload(struct msd_http_exchange *a)
{
	ask(a, MSD_M_MODULE_UNLOAD, unload);
}
