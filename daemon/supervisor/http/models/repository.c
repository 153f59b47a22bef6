/*
 * Happy path: the model is found by name and described in the format of the protocol.
 * Failures: an unknown model or version gets an error; a model that is not ready yet
 * gets a Retry-After.
 */
#include "daemon/supervisor/http/models/repository.h"

#include <jansson.h>
#include <string.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/models/model.h"
#include "daemon/supervisor/http/page/chunked_answer.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "daemon/supervisor/module/life/registry.h"
#include "proto/base/json.h"

#define RETRY_AFTER_S 1u
#define MAX_FILTER 1024u /* bytes of a body with a single filter */

void msd_repository_server(struct msd_http_exchange *a)
{
	msd_http_exchange_say_json(a, 200);
	msd_buf_printf(&a->body, "{\"name\":\"modserd\",\"version\":\"" MSD_VERSION
				 "\",\"extensions\":[\"model_repository\",\"binary_"
				 "tensor_data\",\"statistics\","
				 "\"model_configuration\"]}\n");
}

void msd_repository_live(struct msd_http_exchange *a)
{
	msd_http_exchange_say_json(a, 200);
	msd_buf_printf(&a->body, "{\"live\":true}\n");
}

/* 200, or a temporary 503. */
static void say_ready(struct msd_http_exchange *a, bool is_ready)
{
	msd_http_exchange_say_json(a, is_ready ? 200 : 503);
	msd_buf_printf(&a->body, "{\"ready\":%s}\n", is_ready ? "true" : "false");
	a->reply.retry_after_s = is_ready ? 0 : RETRY_AFTER_S;
}

void msd_repository_ready(struct msd_http_exchange *a)
{
	say_ready(a, msd_readiness_all_ready(a->edge->registry));
}

msd_err msd_repository_find(struct msd_http_exchange *a, struct msd_model *ret)
{
	struct msd_diag d = {0};
	msd_err err = msd_model_find(a->edge->registry, a->names[0], ret, &d);

	if (err == MSD_OK && a->names[1].n > 0 &&
	    !msd_span_is(a->names[1], MSD_MODEL_VERSION)) {
		err = msd_diag_set(&d, MSD_NOT_FOUND,
				   "%s has no version %.*s: its only version is "
				   "\"" MSD_MODEL_VERSION "\"",
				   ret->module->group.name, (int)a->names[1].n,
				   (const char *)a->names[1].p);
	}
	if (err != MSD_OK)
		msd_http_exchange_fail(a, msd_http_exchange_status(err), &d);
	return err;
}

bool msd_repository_refuse_unknown(struct msd_http_exchange *a,
				   const struct msd_model *m)
{
	struct msd_diag d = {0};

	if (msd_facts_are_known(&m->module->group.facts))
		return false;
	(void)msd_diag_set(&d, MSD_NOT_READY, "%s is %s%s%s", m->module->group.name,
			   msd_module_state_name(m->module->life.state),
			   m->module->error != NULL ? ": " : "",
			   m->module->error != NULL ? m->module->error : "");
	msd_http_exchange_fail(a, 503, &d);
	return true;
}

/* Describe the requested model: its name, the constant text @more, its tensors in the
 * format @form. */
static void say_model(struct msd_http_exchange *a, enum msd_model_form form,
		      const char *more)
{
	struct msd_model m;

	if (msd_repository_find(a, &m) != MSD_OK ||
	    msd_repository_refuse_unknown(a, &m))
		return;
	msd_http_exchange_say_json(a, 200);
	msd_buf_printf(&a->body, "{\"name\":");
	msd_json_str(&a->body, a->names[0]);
	msd_buf_printf(&a->body, ",\"platform\":\"modserd\",%s,", more);
	msd_model_write_tensors(&m, form, &a->body);
	msd_buf_printf(&a->body, "}\n");
}

void msd_repository_model(struct msd_http_exchange *a)
{
	say_model(a, MSD_MODEL_METADATA, "\"versions\":[\"" MSD_MODEL_VERSION "\"]");
}

/* There is no batching: a request is a call. */
void msd_repository_model_config(struct msd_http_exchange *a)
{
	say_model(a, MSD_MODEL_CONFIG, "\"backend\":\"modserd\",\"max_batch_size\":0");
}

void msd_repository_model_ready(struct msd_http_exchange *a)
{
	struct msd_model m;

	if (msd_repository_find(a, &m) == MSD_OK) {
		say_ready(a, msd_readiness_serves(m.module) &&
				     !a->edge->registry->is_leaving);
	}
}

/* The body is `{"ready": BOOL}`, `{}` or empty. Returns false if it was answered with
 * an error. */
static bool read_filter(struct msd_http_exchange *a, bool *ret_ready_only)
{
	const struct msd_span body = a->request->body;
	json_error_t error;
	struct msd_diag d = {0};

	*ret_ready_only = false;
	if (body.n == 0)
		return true;
	if (body.n > MAX_FILTER) {
		(void)msd_diag_set(&d, MSD_TOO_LARGE,
				   "the body has %zu bytes, the limit is %u: expected "
				   "{\"ready\": true or false}",
				   body.n, MAX_FILTER);
		msd_http_exchange_fail(a, 413, &d);
		return false;
	}
	json_t *all = json_loadb((const char *)body.p, body.n, JSON_REJECT_DUPLICATES,
				 &error);
	const json_t *ready = json_object_get(all, "ready");
	const bool is_fine =
		json_is_object(all) && (ready == NULL || json_is_boolean(ready));
	*ret_ready_only = json_is_true(ready);
	if (!is_fine) {
		(void)msd_diag_set(&d, MSD_BAD_REQUEST,
				   "the body: expected {\"ready\": true or false}%s%s",
				   all == NULL ? ": " : "",
				   all == NULL ? error.text : "");
		msd_http_exchange_fail(a, 400, &d);
	}
	json_decref(all);
	return is_fine;
}

static void begin_index(struct msd_http_exchange *a)
{
	msd_buf_printf(&a->body, "[");
}

static void put_entry(struct msd_http_exchange *a,
		      struct msd_module_listing_position *at, struct msd_module *m)
{
	struct msd_buf *out = &a->body;

	(void)at;
	msd_buf_printf(out, "{\"name\":");
	msd_json_cstr(out, m->group.name);
	msd_buf_printf(out, ",\"version\":\"" MSD_MODEL_VERSION "\",\"state\":\"%s\"",
		       msd_model_state(m));
	msd_buf_printf(out, ",\"reason\":");
	msd_json_cstr(out, m->error != NULL ? m->error
			   : msd_readiness_serves(m)
				   ? ""
				   : msd_module_state_name(m->life.state));
	msd_buf_printf(out, "}");
}

void msd_repository_index(struct msd_http_exchange *a)
{
	static const struct msd_module_listing roll = {begin_index, put_entry, "]\n"};
	bool ready_only;

	if (!read_filter(a, &ready_only))
		return;
	msd_http_exchange_say_json(a, 200);
	msd_chunked_answer_roll(a, &roll, ready_only);
}
