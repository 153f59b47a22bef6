/*
 * Happy path: a module has had a number of fast consecutive calls. With the next
 * call, the client asks the daemon for a direct channel in the same write; the daemon
 * answers that first. Later calls use the channel. Failures: if the daemon refuses,
 * the client asks again after twice as many calls. If the channel closes, a call that
 * did not begin goes through the daemon, and the client asks for a new channel after
 * some calls. If a worker dies, the daemon reports the reason on its own connection.
 */
#include "client/transport/auto_direct.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "client/result.h"
#include "client/transport/direct.h"
#include "proto/base/clock.h"
#include "proto/name.h"

#define PLAIN 4u        /* functions of a module that are called alternately */
#define WAYS 4u         /* modules that are called alternately */
#define FIRST_CALLS 32u /* a channel costs some round trips */
#define MOST_CALLS (1u << 20)
/* Less frequent calls and longer calls gain nothing from a channel. A longer call is
 * also safer through the daemon, where it is not lost with the worker. */
#define EACH_NS 1000000u
#define LONG_NS 500000u
/* Above this, the transfer of the bytes dominates the cost of a call. */
#define MOST_BYTES (UINT64_C(1) << 20)
/* Bytes of a body; a channel accepts 64 KiB. VALUE_BYTES is the most that a value
 * adds to its own bytes. */
#define MOST_BODY_BYTES (UINT64_C(32) << 10)
#define VALUE_BYTES (64u + 9u * MODSER_MAX_NDIM)
#define ASK_MS 1000u
#define TELL_NS UINT64_C(1000000000)
#define MOST_DEPTH 4u

/* Call statistics of one module. */
struct way {
	char module[MSD_MAX_NAME_BYTES + 1]; /* empty: the entry is free */
	modser_client *channel;              /* owned; NULL: no channel */
	uint32_t n_calls; /* calls through the daemon since since_ns */
	uint64_t since_ns;
	uint32_t after; /* number of such calls before a channel is requested */
	/* Functions whose last results had no objects, which a channel does not carry:
	 * kept for a client that takes them. Empty: free. */
	char plain[PLAIN][MSD_MAX_FUNC_NAME_BYTES + 1];
	unsigned next_plain;
};

struct msd_auto_direct {
	bool is_off;
	struct way ways[WAYS];
	struct way *through; /* entry of the call that goes through the daemon now */
	char function[MSD_MAX_FUNC_NAME_BYTES + 1]; /* of that call */
	bool is_asking; /* a channel was requested for `through`, with request @id */
	uint64_t id;
};

static bool is_local(const modser_client *c)
{
	return !c->is_direct && c->address != NULL &&
	       strncmp(c->address, "unix:", strlen("unix:")) == 0;
}

static struct msd_auto_direct *create(void)
{
	struct msd_auto_direct *u = calloc(1, sizeof(*u));
	const char *word = getenv("MODSER_DIRECT");

	if (u != NULL)
		u->is_off = word != NULL && strcmp(word, "off") == 0;
	return u;
}

static void close_way(struct way *w)
{
	modser_close(w->channel);
	w->channel = NULL;
	w->n_calls = 0;
}

void msd_auto_direct_close(struct msd_auto_direct *u)
{
	for (size_t i = 0; u != NULL && i < WAYS; i++)
		close_way(&u->ways[i]);
	free(u);
}

/* Remaining bytes that may be sent: in a call's body, and after it. */
struct left {
	uint64_t body, payload;
};

static bool spend(uint64_t *left, uint64_t bytes)
{
	if (bytes > *left)
		return false;
	*left -= bytes;
	return true;
}

/* True if a channel supports the value: inline tensors on the host and plain values,
 * up to @left bytes. */
static bool travels(const modser_value *v, unsigned depth, struct left *left)
{
	uint64_t bytes = 0;

	if (!spend(&left->body, v->kind == MODSER_TENSOR || v->kind == MODSER_OUT ||
						v->kind == MODSER_SHAPE
					? VALUE_BYTES
					: 9u))
		return false;
	switch (v->kind) {
	case MODSER_NIL:
	case MODSER_BOOL:
	case MODSER_INT:
	case MODSER_FLOAT:
	case MODSER_DTYPE:
	case MODSER_DEVICE:
	case MODSER_SHAPE:
		return true;
	case MODSER_STR:
	case MODSER_BYTES:
		return spend(&left->body, v->as.str.n);
	case MODSER_TENSOR:
	case MODSER_OUT:
		if (v->as.tensor.device.type != 0 ||
		    v->as.tensor.ndim > MODSER_MAX_NDIM ||
		    !modser_tensor_bytes(v->as.tensor.dtype, v->as.tensor.shape,
					 v->as.tensor.ndim, &bytes))
			return false;
		return spend(&left->payload, bytes);
	case MODSER_TUPLE:
		if (depth == MOST_DEPTH)
			return false;
		for (size_t i = 0; i < v->as.tuple.n; i++) {
			if (!travels(&v->as.tuple.item[i], depth + 1, left))
				return false;
		}
		return true;
	case MODSER_RESIDENT:
	case MODSER_FUNCTION:
	case MODSER_MODULE:
	case MODSER_INSTANCE:
	case MODSER_UPLOAD:
	case MODSER_MAP:
	case MODSER_RESULT_OF:
	case MODSER_OBJECT:
	default:
		return false;
	}
}

/* True if only deadline_ms and names are used, the options that a channel supports. */
static bool are_plain(const modser_options *o)
{
	return o == NULL ||
	       (!o->unordered && o->instance.generation == 0 && o->instance_of == 0 &&
		o->device == NULL && o->progress == NULL && !o->kill_abandoned &&
		!o->trace && !o->background && !o->promised);
}

static bool may_go(const modser_client *c, const modser_value *args, size_t n_args,
		   const modser_options *options, uint64_t most)
{
	struct left left = {.body = MOST_BODY_BYTES,
			    .payload = most < MOST_BYTES ? most : MOST_BYTES};

	if (!are_plain(options) || c->segments != NULL || n_args > MSD_MAX_TENSORS)
		return false;
	for (size_t i = 0; i < n_args; i++) {
		const char *name = options != NULL && options->names != NULL
					   ? options->names[i]
					   : NULL;

		if (!spend(&left.payload, MSD_TENSOR_ALIGN) ||
		    (name != NULL && !spend(&left.body, strlen(name) + 9)) ||
		    !travels(&args[i], 0, &left))
			return false;
	}
	return true;
}

/* The entry of @module, else an entry without a channel; NULL: all have one. */
static struct way *find(struct msd_auto_direct *u, struct msd_span module)
{
	struct way *spare = NULL;

	for (size_t i = 0; i < WAYS; i++) {
		struct way *w = &u->ways[i];

		if (msd_span_is(module, w->module))
			return w;
		if (w->channel == NULL &&
		    (spare == NULL || w->n_calls < spare->n_calls))
			spare = w;
	}
	if (spare == NULL)
		return NULL;
	*spare = (struct way){.after = FIRST_CALLS};
	memcpy(spare->module, module.p, module.n);
	return spare;
}

/* Count one more call; true if a channel for @w is worth requesting now. */
static bool is_time(struct way *w)
{
	if (w->n_calls++ == 0)
		w->since_ns = msd_now_ns();
	if (w->n_calls <= w->after)
		return false;
	const bool is_fast = msd_now_ns() - w->since_ns < (uint64_t)w->after * EACH_NS;
	w->n_calls = 0;
	return is_fast;
}

/* The entry of @function among the plain ones, or NULL. */
static char *find_plain(struct way *w, struct msd_span function)
{
	for (unsigned i = 0; i < PLAIN; i++) {
		if (msd_span_is(function, w->plain[i]))
			return w->plain[i];
	}
	return NULL;
}

/* The function @u->function has returned a result; @is_plain: it never returns objects
 * or maps. */
static void note_plain(struct msd_auto_direct *u, struct way *w, bool is_plain)
{
	char *known = find_plain(w, msd_span_of(u->function));

	if (known != NULL && !is_plain)
		known[0] = '\0';
	if (known == NULL && is_plain) {
		memcpy(w->plain[w->next_plain++ % PLAIN], u->function,
		       sizeof(u->function));
	}
}

modser_client *msd_auto_direct_channel(modser_client *client, const char *function,
				       const modser_value *args, size_t n_args,
				       const modser_options *options)
{
	struct msd_span module, name;

	if (client->unasked == NULL && is_local(client))
		client->unasked = create();
	if (client->unasked == NULL || client->unasked->is_off ||
	    client->n_in_flight > 0 || client->is_processing || client->fd < 0 ||
	    !msd_target_split(msd_span_of(function), &module, &name))
		return NULL;
	struct way *w = find(client->unasked, module);
	if (w == NULL)
		return NULL;
	const uint64_t most = w->channel != NULL ? w->channel->most_bytes : MOST_BYTES;
	if (!may_go(client, args, n_args, options, most))
		return NULL;
	if (w->channel != NULL &&
	    (!client->takes_objects || find_plain(w, name) != NULL))
		return w->channel;
	if (client->takes_objects && name.n < sizeof(client->unasked->function)) {
		memcpy(client->unasked->function, name.p, name.n);
		client->unasked->function[name.n] = '\0';
	}
	client->unasked->through = w;
	client->unasked->is_asking = w->channel == NULL && is_time(w) &&
				     msd_direct_ask(client, w->module, ASK_MS,
						    &client->unasked->id) == MODSER_OK;
	return NULL;
}

/* Take the channel for @w. Its answer precedes that of the call, which was sent after
 * it. */
static void take(modser_client *client, struct way *w)
{
	modser_result *r = NULL;
	uint64_t workers = 0;

	modser_err err = modser_wait(client, client->unasked->id, &r);
	if (r != NULL) {
		err = msd_direct_open_channel(client, r, &w->channel, &workers);
	} else {
		msd_direct_drop(client);
	}
	modser_result_free(r);
	/* If there are several workers, only the daemon knows which of them is idle. */
	if (err == MODSER_OK && workers != 1)
		close_way(w);
	if (w->channel != NULL) {
		w->after = FIRST_CALLS;
	} else if (w->after < MOST_CALLS) {
		w->after *= 2;
	}
}

void msd_auto_direct_settle(modser_client *client, const modser_result *result)
{
	struct msd_auto_direct *u = client->unasked;
	struct way *w = u != NULL ? u->through : NULL;

	if (w == NULL)
		return;
	u->through = NULL;
	if (u->is_asking)
		take(client, w);
	u->is_asking = false;
	if (client->takes_objects && modser_result_error(result)->code == MODSER_OK)
		note_plain(u, w, !result->has_objects && !result->is_varied);
	if (modser_result_exec_ns(result) > LONG_NS)
		close_way(w);
}

static bool is_not_begun(const modser_result *r)
{
	if (r == NULL)
		return false; /* out of memory; a retry would fail, too */
	switch ((int)r->error.code) {
	case MODSER_DRAINING: /* channel closed; calls that it had read are answered */
		return !r->is_reply;
	case MODSER_REFUSED: /* refused there; the daemon decides */
		return r->is_reply;
	default:
		return r->is_unsent;
	}
}

static struct way *way_of(struct msd_auto_direct *u, const modser_client *channel)
{
	for (size_t i = 0; i < WAYS; i++) {
		if (u->ways[i].channel == channel)
			return &u->ways[i];
	}
	return NULL;
}

/*
 * The daemon reports why a worker is lost before it closes the worker's channels. A
 * worker also exits with its daemon; the client may see that before the daemon's end.
 */
static void await_cause(modser_client *client, uint64_t pid, modser_result *result)
{
	const uint64_t until_ns = msd_now_ns() + TELL_NS;
	struct msd_lost_worker *w;

	while ((w = msd_lost_workers_find(&client->lost, pid)) == NULL &&
	       client->fd >= 0) {
		struct pollfd p = {.fd = client->fd, .events = POLLIN};

		if (poll(&p, 1, msd_poll_ms(until_ns)) == 0)
			break;
		(void)modser_process(client);
	}
	if (w != NULL) {
		msd_result_fail(result, w->code, w->why);
		msd_lost_worker_forget(w);
	} else if (client->fd < 0) {
		msd_result_fail(result, client->why.code, msd_diag_text(&client->why));
	}
}

/* True if the worker's answer is not valid. Through the daemon the call would end
 * with the same error. */
static bool is_no_answer(const modser_result *r)
{
	return r != NULL && !r->is_reply && !r->is_unsent &&
	       (r->error.code == MODSER_PROTOCOL || r->error.code == MODSER_TOO_LARGE);
}

static void blame_worker(modser_result *result)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_WORKER_LOST,
			   "the module's worker sent a malformed answer: %s",
			   result->error.message);
	msd_result_fail(result, MSD_WORKER_LOST, msd_diag_text(&d));
	msd_diag_finish(&d);
}

bool msd_auto_direct_is_for_daemon(modser_client *client, const modser_client *channel,
				   modser_result *result)
{
	struct way *w = way_of(client->unasked, channel);
	const bool is_lost = channel->fd < 0;
	const modser_err code = modser_result_error(result)->code;
	const bool is_not = is_not_begun(result);

	if (is_lost && code == MODSER_WORKER_LOST && !result->is_reply && !is_not)
		await_cause(client, channel->worker_pid, result);
	if (is_lost && is_no_answer(result))
		blame_worker(result);
	/* A worker that still runs a late call is killed soon. */
	if (is_lost || code == MODSER_DEADLINE || code == MODSER_DRAINING ||
	    modser_result_exec_ns(result) > LONG_NS)
		close_way(w);
	return is_not;
}
