/*
 * Happy path: the session of the visit asks as one of frames would, and the answer
 * comes when the module is READY, or gone. Failures: a body that wants more than that
 * is refused, for something else would be served than what was asked for.
 */
#include "daemon/supervisor/http/control.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/audit.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/method.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/caller.h"
#include "proto/limits.h"
#include "proto/name.h"

#define MAX_BODY 1024u

/* `{"parameters": {@known: true or false}}` at most. */
static bool is_fine(json_t *all, const char *known)
{
	json_t *parameters = json_object_get(all, "parameters");
	const char *key;
	json_t *value;

	if (!json_is_object(all) || json_object_size(all) > (parameters != NULL) ||
	    (parameters != NULL && !json_is_object(parameters)))
		return false;
	json_object_foreach(parameters, key, value)
	{
		if (strcmp(key, known) != 0 || !json_is_boolean(value))
			return false;
	}
	return true;
}

/* False: it was answered. */
static bool read_body(struct msd_asking *a, const char *known, const char *why)
{
	const struct msd_span body = a->request->body;
	struct msd_diag d = {0};
	bool is_good = body.n == 0;

	if (body.n > 0 && body.n <= MAX_BODY) {
		json_t *all = json_loadb((const char *)body.p, body.n,
					 JSON_REJECT_DUPLICATES, NULL);
		is_good = is_fine(all, known);
		json_decref(all);
	}
	if (body.n > MAX_BODY) {
		(void)msd_diag_set(&d, MSD_TOO_LARGE,
				   "the body has %zu bytes, the limit is %u: %s",
				   body.n, MAX_BODY, why);
		msd_asking_fail(a, 413, &d);
	} else if (!is_good) {
		(void)msd_diag_set(&d, MSD_BAD_REQUEST, "the body: %s", why);
		msd_asking_fail(a, 400, &d);
	}
	return is_good;
}

static msd_err load(struct msd_asking *a, struct msd_diag *d)
{
	struct msd_session *s = &a->caller->session;
	char name[MSD_MAX_NAME_BYTES + 1];

	(void)snprintf(name, sizeof(name), "%.*s", (int)a->names[0].n,
		       (const char *)a->names[0].p);
	struct msd_req *r = msd_req_new(&s->client, s->number, MSD_M_MODULE_LOAD);
	if (r == NULL)
		return msd_diag_no_memory(d);
	const msd_err err = a->edge->on_load(a->edge, name, r, d);
	if (err != MSD_OK)
		msd_req_release(r);
	return err;
}

/* As a frame with the name as its only parameter. */
static msd_err unload(struct msd_asking *a, struct msd_diag *d)
{
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

static void ask(struct msd_asking *a, enum msd_method method,
		msd_err (*how)(struct msd_asking *a, struct msd_diag *d))
{
	struct msd_diag d = {0};
	msd_err err;

	if (msd_bearer_stand(a, method) != MSD_OK)
		return;
	if (msd_name_valid(a->names[0])) {
		msd_audit_asked(&a->caller->session, method, a->names[0]);
		a->caller->is_starting = true;
		a->is_later = true;
		err = how(a, &d);
		a->caller->is_starting = false;
	} else {
		err = msd_diag_set(&d, MSD_BAD_REQUEST, "it is no name of a module");
	}
	if (err == MSD_OK)
		return;
	a->is_later = false;
	msd_asking_fail(a, msd_asking_status(err), &d);
}

void msd_control_load(struct msd_asking *a)
{
	if (read_body(a, "",
		      "what a module is loaded from and how is the configuration's "
		      "to say: expected nothing, or {}"))
		ask(a, MSD_M_MODULE_LOAD, load);
}

void msd_control_unload(struct msd_asking *a)
{
	if (read_body(a, "unload_dependents",
		      "expected nothing, or {\"parameters\": "
		      "{\"unload_dependents\": false}}"))
		ask(a, MSD_M_MODULE_UNLOAD, unload);
}
