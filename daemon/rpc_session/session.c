/*
 * Happy path: a packet is read, its values are checked, its answer is written into
 * `out` and sent. Failures: a bad packet or a failed call is answered by an exception.
 * A packet over the limit, or a client that stops within one, ends the session.
 */
#include "daemon/rpc_session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/rpc_page.h"
#include "daemon/rpc_session/builtins.h"
#include "runtime/load/loaded.h"
#include "runtime/value/registry.h"

#define VERSION "0.8.0"
#define ALIGNMENT 128u

static void answer_none(struct msd_rpc_session *s)
{
	msd_rpc_session_return(s, &(struct msd_rpc_value){.kind = MSD_RPC_NONE});
}

static void answer_int(struct msd_rpc_session *s, enum msd_rpc_kind kind, uint64_t v)
{
	struct msd_rpc_value one = {.kind = kind};

	if (kind == MSD_RPC_INT) {
		one.as.i64 = (int64_t)v;
	} else {
		one.as.handle = v;
	}
	msd_rpc_session_return(s, &one);
}

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
	if (ret->values == NULL)
		return msd_diag_no_memory(d);
	while (err == MSD_OK && seq.n > 0) {
		err = msd_rpc_seq_next(&seq, &ret->values[ret->n], d);
		if (err == MSD_OK)
			ret->n++;
	}
	return err == MSD_OK ? msd_rpc_seq_end(&seq, d) : err;
}

static msd_err expect_kinds(const struct msd_rpc_args *args,
			    const enum msd_rpc_kind *kinds, uint32_t n,
			    struct msd_diag *d)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i >= args->n || args->values[i].kind != kinds[i]) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "value %u is missing, or has another kind",
					    i);
		}
	}
	return MSD_OK;
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
		err = msd_loaded_instance(o.module->loaded, &o.instance, d);
		o.kind = MSD_RPC_IS_INSTANCE;
		return err == MSD_OK ? msd_rpc_session_result_object(s, &o, d) : err;
	default:
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the session has no function with the handle %llu",
				    (unsigned long long)p->function);
	}
}

static msd_err get_global(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_diag *d)
{
	static const enum msd_rpc_kind kinds[] = {MSD_RPC_TEXT};
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_BUILTIN};
	uint64_t handle = 0;
	msd_err err = expect_kinds(args, kinds, 1, d);

	if (err != MSD_OK)
		return err;
	o.builtin = msd_rpc_builtin_find(args->values[0].as.bytes);
	if (o.builtin == NULL) {
		o.kind = MSD_RPC_IS_FUNCTION;
		o.function = msd_registry_find(args->values[0].as.bytes);
	}
	if (o.builtin != NULL || o.function != NULL)
		err = msd_rpc_table_add(&s->table, &o, &handle, d);
	if (err == MSD_OK)
		answer_int(s, MSD_RPC_POINTER, handle);
	return err;
}

static msd_err free_handle(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_diag *d)
{
	struct msd_rpc_object *o = NULL;

	if (args->n > 0 && args->values[0].kind == MSD_RPC_POINTER)
		o = msd_rpc_table_find(&s->table, args->values[0].as.handle);
	if (o == NULL || o->kind == MSD_RPC_IS_ARRAY) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the session has no object with this handle");
	}
	msd_rpc_table_remove(&s->table, o);
	answer_none(s);
	return MSD_OK;
}

static msd_err check_device(struct msd_device device, struct msd_diag *d)
{
	if (device.type == MSD_DEV_CPU && device.id == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "device %d:%d: a session has the CPU only, cpu(0)",
			    (int)device.type, (int)device.id);
}

static msd_err alloc(struct msd_rpc_session *s, struct msd_device device,
		     uint64_t bytes, struct msd_diag *d)
{
	struct msd_rpc_object o = {
		.kind = MSD_RPC_IS_ARRAY, .bytes = bytes, .is_owned = true};
	uint64_t handle;
	void *data;
	msd_err err = check_device(device, d);

	if (err != MSD_OK)
		return err;
	const uint64_t most = s->max_bytes > 0 ? s->max_bytes : SIZE_MAX / 2;
	if (bytes > most ||
	    posix_memalign(&data, ALIGNMENT, bytes > 0 ? (size_t)bytes : 1) != 0) {
		return msd_diag_set(d, MSD_NOMEM,
				    "an array of %llu bytes: out of memory "
				    "(--max-worker-memory limits a session)",
				    (unsigned long long)bytes);
	}
	o.data = data;
	err = msd_rpc_table_add(&s->table, &o, &handle, d);
	if (err != MSD_OK) {
		free(data);
		return err;
	}
	answer_int(s, MSD_RPC_POINTER, handle);
	return MSD_OK;
}

static msd_err alloc_plain(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_diag *d)
{
	static const enum msd_rpc_kind kinds[] = {MSD_RPC_DEVICE, MSD_RPC_INT};
	const msd_err err = expect_kinds(args, kinds, 2, d);

	if (err != MSD_OK)
		return err;
	return alloc(s, args->values[0].as.device, (uint64_t)args->values[1].as.i64, d);
}

static msd_err alloc_tensor(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			    struct msd_diag *d)
{
	static const enum msd_rpc_kind kinds[] = {MSD_RPC_TENSOR};
	const msd_err err = expect_kinds(args, kinds, 1, d);

	if (err != MSD_OK)
		return err;
	return alloc(s, args->values[0].as.tensor.device,
		     args->values[0].as.tensor.bytes, d);
}

static msd_err free_data(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			 struct msd_diag *d)
{
	static const enum msd_rpc_kind kinds[] = {MSD_RPC_DEVICE, MSD_RPC_POINTER};
	struct msd_rpc_object *o;
	const msd_err err = expect_kinds(args, kinds, 2, d);

	if (err != MSD_OK)
		return err;
	o = msd_rpc_table_find(&s->table, args->values[1].as.handle);
	if (o == NULL || o->kind != MSD_RPC_IS_ARRAY || !o->is_owned) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"the session has no such array, or a result owns it");
	}
	msd_rpc_table_remove(&s->table, o);
	answer_none(s);
	return MSD_OK;
}

static msd_err copy_among(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_diag *d)
{
	static const enum msd_rpc_kind kinds[] = {MSD_RPC_TENSOR, MSD_RPC_TENSOR};
	uint8_t *from = NULL, *to = NULL;
	msd_err err = expect_kinds(args, kinds, 2, d);

	if (err != MSD_OK)
		return err;
	const struct msd_rpc_tensor *a = &args->values[0].as.tensor;
	const struct msd_rpc_tensor *b = &args->values[1].as.tensor;
	if (a->bytes != b->bytes) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT, "a copy of %llu bytes into %llu",
			(unsigned long long)a->bytes, (unsigned long long)b->bytes);
	}
	err = msd_rpc_table_reach(&s->table, a, a->bytes, &from, d);
	if (err == MSD_OK)
		err = msd_rpc_table_reach(&s->table, b, b->bytes, &to, d);
	if (err != MSD_OK)
		return err;
	if (a->bytes > 0)
		memmove(to, from, a->bytes);
	answer_none(s);
	return MSD_OK;
}

/* Kind 0: does the device exist? The CPU has no other attributes in TVM either. */
static msd_err get_attribute(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_diag *d)
{
	static const enum msd_rpc_kind kinds[] = {MSD_RPC_DEVICE, MSD_RPC_INT};
	struct msd_diag why = {0};
	msd_err err = expect_kinds(args, kinds, 2, d);

	if (err != MSD_OK)
		return err;
	err = check_device(args->values[0].as.device, &why);
	msd_diag_finish(&why);
	if (args->values[1].as.i64 == 0) {
		answer_int(s, MSD_RPC_INT, err == MSD_OK);
	} else {
		answer_none(s);
	}
	return MSD_OK;
}

static msd_err answer_values(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
			     struct msd_rpc_args *args, struct msd_diag *d)
{
	switch ((int)p->code) {
	case MSD_RPC_CALL:
		return call(s, p, args, d);
	case MSD_RPC_GET_GLOBAL:
		return get_global(s, args, d);
	case MSD_RPC_FREE_HANDLE:
		return free_handle(s, args, d);
	case MSD_RPC_GET_ATTR:
		return get_attribute(s, args, d);
	case MSD_RPC_ALLOC:
		return alloc_plain(s, args, d);
	case MSD_RPC_ALLOC_WITH_SCOPE:
		return alloc_tensor(s, args, d);
	case MSD_RPC_FREE_DATA:
		return free_data(s, args, d);
	case MSD_RPC_COPY_AMONG:
		return copy_among(s, args, d);
	case MSD_RPC_CREATE_STREAM:
	case MSD_RPC_GET_STREAM:
		answer_int(s, MSD_RPC_POINTER, 0); /* the CPU's only stream */
		return MSD_OK;
	case MSD_RPC_SET_DEVICE:
	case MSD_RPC_SYNC:
	case MSD_RPC_FREE_STREAM:
	case MSD_RPC_SET_STREAM:
		answer_none(s);
		return MSD_OK;
	default:
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "a client does not send code %d", (int)p->code);
	}
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

static msd_err copy_to(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
		       struct msd_diag *d)
{
	uint8_t *to = NULL;
	const msd_err err =
		msd_rpc_table_reach(&s->table, &p->tensor, p->n_bytes, &to, d);

	if (err != MSD_OK)
		return err;
	if (msd_rpc_channel_take(&s->channel, p, to, p->n_bytes) != MSD_OK)
		return MSD_IO;
	msd_rpc_session_return(s, NULL);
	return MSD_OK;
}

/* The data is sent from where it is. */
static msd_err copy_from(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
			 struct msd_diag *d)
{
	const struct msd_rpc_packet ack = {.code = MSD_RPC_COPY_ACK};
	uint8_t *from = NULL;
	const msd_err err =
		msd_rpc_table_reach(&s->table, &p->tensor, p->n_bytes, &from, d);

	if (err != MSD_OK)
		return err;
	s->out.n = 0;
	msd_rpc_packet_write(&s->out, &ack, s->era, NULL, 0);
	if (s->out.bad)
		return msd_diag_no_memory(d);
	msd_put_le64(s->out.p, s->out.n - MSD_RPC_SIZE_BYTES + p->n_bytes);
	const msd_err sent =
		msd_rpc_channel_write(&s->channel, &s->out, from, p->n_bytes);
	s->out.n = 0; /* nothing more to send */
	return sent;
}

static msd_err answer(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
		      struct msd_diag *d)
{
	struct msd_rpc_args args;

	switch ((int)p->code) {
	case MSD_RPC_INIT_SERVER:
		return init(s, p, d);
	case MSD_RPC_COPY_TO:
		return copy_to(s, p, d);
	case MSD_RPC_COPY_FROM:
		return copy_from(s, p, d);
	default:
		break;
	}
	msd_err err = read_values(s, p, &args, d);
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
	msd_rpc_inputs_finish(&s->inputs);
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
