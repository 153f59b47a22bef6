/*
 * Happy path: a packet is read, its values are checked, its answer is written into
 * `out` and sent. Failures: a bad packet or a failed call is answered by an exception.
 * A packet over the limit, or a client that stops within one, ends the session.
 */
#include "daemon/rpc_session/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/rpc_page.h"
#include "daemon/rpc_session/builtins.h"
#include "daemon/rpc_session/executor.h"
#include "runtime/value/registry.h"

#define VERSION "0.8.0"

static void answer_error(struct msd_rpc_session *s, const struct msd_diag *d)
{
	const struct msd_rpc_packet p = {.code = MSD_RPC_EXCEPTION};
	const struct msd_rpc_value v = {.kind = MSD_RPC_TEXT,
					.as.bytes = msd_span_of(msd_diag_text(d))};

	s->out.n = 0;
	s->out.bad = false;
	msd_rpc_packet_write(&s->out, &p, s->era, &v, 1);
}

static msd_err read_values(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
			   struct msd_rpc_args *ret, struct msd_diag *d)
{
	struct msd_rpc_seq seq;
	msd_err err = MSD_OK;

	*ret = (struct msd_rpc_args){0};
	if (!s->knows_era)
		err = msd_rpc_packet_era(p, &s->era, d);
	if (err != MSD_OK)
		return err;
	s->knows_era = true;
	s->channel.page->is_classic = s->era == MSD_RPC_CLASSIC;
	err = msd_rpc_seq_begin(&seq, s->era, p->seq, d);
	if (err != MSD_OK)
		return err;
	ret->values = calloc((size_t)seq.n + 1, sizeof(*ret->values));
	if (ret->values == NULL) {
		(void)msd_diag_no_memory(d);
		return MSD_NOMEM;
	}
	while (err == MSD_OK && seq.n > 0) {
		err = msd_rpc_seq_next(&seq, &ret->values[ret->n], d);
		if (err == MSD_OK)
			ret->n++;
	}
	return err == MSD_OK ? msd_rpc_seq_end(&seq, d) : err;
}

static msd_err call(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
		    struct msd_rpc_args *args, struct msd_diag *d)
{
	const struct msd_rpc_object *found = msd_rpc_table_find(&s->table, p->function);
	struct msd_rpc_object o = {0};
	msd_err err;

	if (found != NULL)
		o = *found; /* a result may move the table */
	switch ((int)o.kind) {
	case MSD_RPC_IS_BUILTIN:
		return msd_rpc_builtin_call(s, o.builtin, args, d);
	case MSD_RPC_IS_FUNCTION:
		return msd_rpc_session_call(s, &o, args, d);
	case MSD_RPC_IS_MAKER:
		o.kind = MSD_RPC_IS_INSTANCE;
		err = msd_rpc_executor_new(o.module->loaded, &o.executor, d);
		if (err == MSD_OK)
			err = msd_rpc_session_result_object(s, &o, d);
		msd_rpc_executor_unref(o.executor);
		return err;
	default:
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the session has no function with the handle %llu",
				    (unsigned long long)p->function);
	}
}

static msd_err get_global(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_rpc_value *ret, struct msd_diag *d)
{
	const struct msd_span name = args->values[0].as.bytes;
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_BUILTIN};

	*ret = (struct msd_rpc_value){.kind = MSD_RPC_POINTER};
	o.builtin = msd_rpc_builtin_find(name);
	if (o.builtin == NULL) {
		o.kind = MSD_RPC_IS_FUNCTION;
		o.function = msd_registry_find(name);
	}
	return o.builtin != NULL || o.function != NULL
		       ? msd_rpc_table_add(&s->table, &o, &ret->as.handle, d)
		       : MSD_OK;
}

static msd_err free_handle(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_rpc_value *ret, struct msd_diag *d)
{
	struct msd_rpc_object *o =
		msd_rpc_table_find(&s->table, args->values[0].as.handle);

	(void)ret;
	if (o == NULL || o->kind == MSD_RPC_IS_ARRAY) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the session has no object with this handle");
	}
	msd_rpc_table_remove(&s->table, o);
	return MSD_OK;
}

static msd_err alloc_plain(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_rpc_value *ret, struct msd_diag *d)
{
	*ret = (struct msd_rpc_value){.kind = MSD_RPC_POINTER};
	return msd_rpc_session_alloc(s, args->values[0].as.device,
				     (uint64_t)args->values[1].as.i64, &ret->as.handle,
				     d);
}

static msd_err alloc_tensor(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			    struct msd_rpc_value *ret, struct msd_diag *d)
{
	const struct msd_rpc_tensor *t = &args->values[0].as.tensor;
	const struct msd_rpc_value *scope = args->n > 1 ? &args->values[1] : NULL;

	if (scope != NULL && scope->kind == MSD_RPC_TEXT && scope->as.bytes.n > 0 &&
	    !msd_span_is(scope->as.bytes, "global")) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"Device does not support allocate data space with specified "
			"memory scope: %.*s",
			(int)(scope->as.bytes.n < 64 ? scope->as.bytes.n : 64),
			(const char *)scope->as.bytes.p);
	}
	*ret = (struct msd_rpc_value){.kind = MSD_RPC_POINTER};
	return msd_rpc_session_alloc(s, t->device, t->bytes, &ret->as.handle, d);
}

static msd_err free_data(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			 struct msd_rpc_value *ret, struct msd_diag *d)
{
	struct msd_rpc_object *o =
		msd_rpc_table_find(&s->table, args->values[1].as.handle);

	(void)ret;
	if (o == NULL || o->kind != MSD_RPC_IS_ARRAY || o->memory == NULL) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"the session has no such array, or a result owns it");
	}
	msd_rpc_table_remove(&s->table, o);
	return MSD_OK;
}

static msd_err copy_among(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_rpc_value *ret, struct msd_diag *d)
{
	(void)ret;
	return msd_rpc_session_copy(s, &args->values[0].as.tensor,
				    &args->values[1].as.tensor, d);
}

static msd_err get_attribute(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_rpc_value *ret, struct msd_diag *d)
{
	return msd_rpc_devices_attribute(&s->devices, args->values[0].as.device,
					 args->values[1].as.i64, s->text, ret, d);
}

/* A device has one queue, its stream 0. */
static msd_err reach_stream(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			    struct msd_dev **ret, struct msd_diag *d)
{
	const uint64_t stream = args->n > 1 && args->values[1].kind == MSD_RPC_POINTER
					? args->values[1].as.handle
					: 0;

	if (stream != 0) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the session has no stream with the handle %llu",
				    (unsigned long long)stream);
	}
	return msd_rpc_devices_reach(&s->devices, args->values[0].as.device, ret, d);
}

static msd_err give_stream(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_rpc_value *ret, struct msd_diag *d)
{
	struct msd_dev *dev;

	*ret = (struct msd_rpc_value){.kind = MSD_RPC_POINTER};
	return reach_stream(s, args, &dev, d);
}

static msd_err use_stream(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_rpc_value *ret, struct msd_diag *d)
{
	struct msd_dev *dev;

	(void)ret;
	return reach_stream(s, args, &dev, d);
}

static msd_err sync_stream(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_rpc_value *ret, struct msd_diag *d)
{
	struct msd_dev *dev = NULL;
	const msd_err err = reach_stream(s, args, &dev, d);

	(void)ret;
	return err == MSD_OK && dev != NULL ? msd_dev_sync(dev, d) : err;
}

/* The kinds of the first values, and what answers with *@ret, which is None before. */
struct handler {
	uint32_t n;
	enum msd_rpc_kind kinds[2];
	msd_err (*answer)(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_rpc_value *ret, struct msd_diag *d);
};

static const struct handler handlers[MSD_RPC_CODE_COUNT] = {
	[MSD_RPC_GET_GLOBAL] = {1, {MSD_RPC_TEXT}, get_global},
	[MSD_RPC_FREE_HANDLE] = {1, {MSD_RPC_POINTER}, free_handle},
	[MSD_RPC_SET_DEVICE] = {1, {MSD_RPC_DEVICE}, use_stream},
	[MSD_RPC_GET_ATTR] = {2, {MSD_RPC_DEVICE, MSD_RPC_INT}, get_attribute},
	[MSD_RPC_ALLOC] = {2, {MSD_RPC_DEVICE, MSD_RPC_INT}, alloc_plain},
	[MSD_RPC_FREE_DATA] = {2, {MSD_RPC_DEVICE, MSD_RPC_POINTER}, free_data},
	[MSD_RPC_SYNC] = {1, {MSD_RPC_DEVICE}, sync_stream},
	[MSD_RPC_COPY_AMONG] = {2, {MSD_RPC_TENSOR, MSD_RPC_TENSOR}, copy_among},
	[MSD_RPC_ALLOC_WITH_SCOPE] = {1, {MSD_RPC_TENSOR}, alloc_tensor},
	[MSD_RPC_CREATE_STREAM] = {1, {MSD_RPC_DEVICE}, give_stream},
	[MSD_RPC_FREE_STREAM] = {1, {MSD_RPC_DEVICE}, use_stream},
	[MSD_RPC_SET_STREAM] = {1, {MSD_RPC_DEVICE}, use_stream},
	[MSD_RPC_GET_STREAM] = {1, {MSD_RPC_DEVICE}, give_stream},
};

static msd_err answer_values(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
			     struct msd_rpc_args *args, struct msd_diag *d)
{
	const struct handler *h = &handlers[p->code];
	struct msd_rpc_value ret = {.kind = MSD_RPC_NONE};

	if (p->code == MSD_RPC_CALL)
		return call(s, p, args, d);
	if (h->answer == NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "a client does not send code %d", (int)p->code);
	}
	for (uint32_t i = 0; i < h->n; i++) {
		if (i >= args->n || args->values[i].kind != h->kinds[i]) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "value %u is missing, or has another kind",
					    i);
		}
	}
	const msd_err err = h->answer(s, args, &ret, d);
	if (err == MSD_OK)
		msd_rpc_session_return(s, &ret);
	return err;
}

/* InitServer is the same in both eras, and so is its answer: an empty sequence. */
static msd_err init(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
		    struct msd_diag *d)
{
	struct msd_rpc_args args = {0};
	msd_err err = MSD_OK;

	if (!msd_span_is(p->version, VERSION)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "client protocol=%.*s, server protocol=" VERSION,
				    (int)(p->version.n < 32 ? p->version.n : 32),
				    (const char *)p->version.p);
	}
	if (p->seq.n > 4) {
		err = read_values(s, p, &args, d);
		if (err == MSD_OK &&
		    (args.n == 0 || args.values[0].kind != MSD_RPC_TEXT ||
		     !msd_span_is(args.values[0].as.bytes, "rpc.LocalSession"))) {
			err = msd_diag_set(d, MSD_UNSUPPORTED,
					   "Cannot find session constructor: expected "
					   "rpc.LocalSession");
		}
		free(args.values);
	}
	if (err == MSD_OK)
		msd_rpc_session_return(s, NULL);
	return err;
}

static msd_err answer(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
		      struct msd_diag *d)
{
	struct msd_rpc_args args;
	msd_err err;

	switch ((int)p->code) {
	case MSD_RPC_INIT_SERVER:
		return init(s, p, d);
	case MSD_RPC_COPY_TO:
		err = msd_rpc_session_take(s, p, d);
		if (err == MSD_OK)
			msd_rpc_session_return(s, NULL);
		return err;
	case MSD_RPC_COPY_FROM:
		return msd_rpc_session_send(s, p, d);
	default:
		break;
	}
	err = read_values(s, p, &args, d);
	if (err == MSD_OK)
		err = answer_values(s, p, &args, d);
	free(args.values);
	return err;
}

/* False: the session ends. */
static bool serve(struct msd_rpc_session *s)
{
	struct msd_rpc_packet p = {0};
	struct msd_diag d = {0};
	msd_err err = msd_rpc_channel_next(&s->channel, &p, &d);

	s->out.n = 0;
	if (err == MSD_TOO_LARGE)
		(void)fprintf(stderr, "modserd-rpc: %s\n", msd_diag_text(&d));
	if ((err == MSD_OK && p.code == MSD_RPC_SHUTDOWN) ||
	    (err != MSD_OK && err != MSD_BAD_REQUEST)) {
		msd_diag_finish(&d);
		return false;
	}
	if (err == MSD_OK)
		err = answer(s, &p, &d);
	bool goes_on = err != MSD_IO || d.text != NULL;
	goes_on = goes_on && msd_rpc_channel_skip(&s->channel) == MSD_OK;
	if (err == MSD_OK && s->out.bad)
		err = msd_diag_no_memory(&d);
	if (err != MSD_OK)
		answer_error(s, &d);
	if (goes_on && s->out.n > 0) {
		goes_on =
			msd_rpc_channel_write(&s->channel, &s->out, NULL, 0) == MSD_OK;
	}
	msd_diag_finish(&d);
	return goes_on;
}

int msd_rpc_session_run(struct msd_rpc_session *s)
{
	while (serve(s)) {
	}
	return 0;
}

void msd_rpc_session_finish(struct msd_rpc_session *s)
{
	msd_rpc_table_finish(&s->table);
	msd_rpc_devices_finish(&s->devices);
	msd_rpc_files_finish(&s->files);
	msd_buf_finish(&s->channel.in);
	msd_buf_finish(&s->out);
	while (s->modules != NULL) {
		struct msd_rpc_module *m = s->modules;
		s->modules = m->next;
		if (m->loaded == NULL)
			free(m);
	}
}
