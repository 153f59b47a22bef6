/*
 * Joined calls.
 *
 * Happy path: the first call of the queue can be joined. The calls behind it are
 * added until one does not fit. Their tensors are concatenated, the function runs,
 * and each reply gets its rows. Failures: memory is short, or the function fails: the
 * calls run separately, and each gets its own reply.
 */
#include "daemon/worker/calls/batch.h"

#include <stdio.h>
#include <string.h>

#include "daemon/worker/calls/plan.h"
#include "daemon/worker/calls/stage.h"
#include "proto/base/clock.h"
#include "proto/name.h"

#define MOST_CALLS 64u /* as many as the supervisor sends ahead */

/* A tensor of one call, and the address of its bytes. */
struct piece {
	struct msd_wire_tensor tensor;
	const uint8_t *p;
};

struct member {
	struct msd_request *request;
	struct piece *pieces; /* one per argument */
	int64_t rows;
};

/* The calls to run as one; in the worker's arena. */
struct group {
	struct member members[MOST_CALLS];
	uint32_t n;
	uint32_t n_args;
	int64_t rows;
	uint64_t deadline_ns; /* the earliest of their deadlines; 0: none */
};

static struct msd_request *request_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_request, link);
}

/* Open the arguments of a call without a plan, behind its target. */
static bool open_args(const struct msd_request *r, struct msd_cur *c, uint32_t *ret_n,
		      struct msd_wire_value *ret_target)
{
	uint32_t n;

	if (!msd_array_open(r->params, c, &n) || n == 0 ||
	    msd_value_read(c, ret_target, NULL) != MSD_OK)
		return false;
	*ret_n = n - 1;
	return true;
}

/* The name may have been unknown when the request was queued. */
static void find_func(struct msd_worker *w, struct msd_request *r)
{
	struct msd_span module, function;
	struct msd_wire_value target;
	struct msd_cur c;
	uint32_t n;

	if (open_args(r, &c, &n, &target) && target.kind == MSD_K_STR &&
	    msd_target_split(target.as.str, &module, &function) &&
	    msd_span_is(module, w->name) &&
	    msd_funcs_find(&w->funcs, function, &r->func, NULL) != MSD_OK)
		r->func = NULL;
}

static bool may_join(struct msd_worker *w, struct msd_request *r)
{
	if (r->method != MSD_M_CALL || r->instance.generation != 0 ||
	    r->device.type != 0)
		return false;
	if (r->func == NULL)
		find_func(w, r);
	return r->func != NULL && r->func->has_batch && !r->is_measured;
}

/*
 * Read a tensor that arrived with the call, has rows, and is for the module's device.
 */
static bool read_piece(const struct msd_request *r, const struct msd_wire_value *v,
		       struct piece *ret)
{
	struct msd_wire_tensor *t = &ret->tensor;
	struct msd_device device;
	struct msd_obj *owner;
	uint8_t *p;

	if (v->kind != MSD_K_TENSOR ||
	    msd_wire_tensor_read(v->as.tensor.p, v->as.tensor.n, t, NULL) != MSD_OK ||
	    t->where != MSD_AT_SEGMENT || t->device.type != 0 || t->ndim == 0 ||
	    t->shape[0] < 1 || t->dtype.bits * t->dtype.lanes % 8 != 0 ||
	    msd_call_locate(r->peer, t, &p, &device, &owner, NULL) != MSD_OK)
		return false;
	ret->p = p;
	return true;
}

static bool read_pieces(struct msd_worker *w, struct member *m, uint32_t *ret_n)
{
	const struct msd_plan *plan =
		m->request->known != NULL ? m->request->known->plan : NULL;
	struct msd_wire_value value;
	struct msd_cur c = {0};
	uint32_t n = plan != NULL ? plan->n_args : 0;

	if (plan == NULL && !open_args(m->request, &c, &n, &value))
		return false;
	if (n > m->request->func->n_needed) /* values of optional parameters */
		return false;
	m->pieces = n > 0 ? msd_arena_alloc(&w->arena, n * sizeof(*m->pieces)) : NULL;
	if (m->pieces == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (plan != NULL) {
			value = msd_plan_arg(m->request, i);
		} else if (msd_value_read(&c, &value, NULL) != MSD_OK) {
			return false;
		}
		if (!read_piece(m->request, &value, &m->pieces[i]) ||
		    m->pieces[i].tensor.shape[0] != m->pieces[0].tensor.shape[0])
			return false;
	}
	m->rows = m->pieces[0].tensor.shape[0];
	*ret_n = n;
	return true;
}

static bool is_alike(const struct msd_wire_tensor *a, const struct msd_wire_tensor *b)
{
	return msd_dtype_eq(a->dtype, b->dtype) && a->ndim == b->ndim &&
	       memcmp(a->shape + 1, b->shape + 1, (a->ndim - 1) * sizeof(*a->shape)) ==
		       0;
}

static bool fits(const struct group *g, const struct member *m, uint32_t n_args)
{
	const struct member *first = &g->members[0];
	const struct msd_span names = first->request->names;

	if (m->request->func != first->request->func || n_args != g->n_args ||
	    m->request->names.n != names.n ||
	    (names.n > 0 && memcmp(m->request->names.p, names.p, names.n) != 0))
		return false;
	for (uint32_t i = 0; i < n_args; i++) {
		if (!is_alike(&m->pieces[i].tensor, &first->pieces[i].tensor))
			return false;
	}
	return true;
}

/* True if @rows of @g's function, started now, are expected to finish in half of the
 * time to @g's deadline. If the joint run fails, the calls run again separately. */
static bool is_in_time(const struct group *g, int64_t rows, uint64_t now_ns)
{
	return g->deadline_ns == 0 ||
	       (g->deadline_ns > now_ns &&
		msd_rows_latency_expect(&g->members[0].request->func->rows_pace,
					(uint64_t)rows) <=
			(g->deadline_ns - now_ns) / 2);
}

static bool is_late(const struct msd_request *r, uint64_t now_ns)
{
	return r->deadline_ns != 0 && now_ns >= r->deadline_ns;
}

/* The earlier of two deadlines; 0 means none. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Collect the first calls of the queue that can be joined. */
static void gather(struct msd_worker *w, struct msd_peer *peer, uint64_t now_ns,
		   struct group *g)
{
	g->n = 0;
	g->rows = 0;
	g->deadline_ns = 0;
	MSD_LIST_EACH (it, &peer->queue) {
		struct member *m = &g->members[g->n];
		uint32_t n_args;

		if (g->n == MOST_CALLS)
			return;
		*m = (struct member){.request = request_of(it)};
		if (!may_join(w, m->request) || is_late(m->request, now_ns) ||
		    !read_pieces(w, m, &n_args))
			return;
		if (g->n == 0)
			g->n_args = n_args;
		if (!fits(g, m, n_args) ||
		    (uint64_t)m->rows > w->batch.most_rows - (uint64_t)g->rows ||
		    (g->n > 0 && !is_in_time(g, g->rows + m->rows, now_ns)))
			return;
		g->rows += m->rows;
		g->n++;
		g->deadline_ns = earlier(g->deadline_ns, m->request->deadline_ns);
	}
}

void msd_batch_init(struct msd_worker *w, uv_loop_t *loop, uv_timer_cb on_due)
{
	(void)uv_timer_init(loop, &w->batch.due);
	w->batch.due.data = w;
	w->batch.on_due = on_due;
}

bool msd_batch_waits(struct msd_worker *w, struct msd_request *first)
{
	if (w->batch.n_apart > 0 || !may_join(w, first))
		return false;
	const uint64_t now_ns = msd_now_ns();
	const uint64_t until_ns = first->came_ns + w->batch.within_ns;
	struct group *g = msd_arena_alloc(&w->arena, sizeof(*g));
	bool waits = false;

	if (g != NULL && now_ns < until_ns) {
		gather(w, first->peer, now_ns, g);
		waits = g->n > 0 && g->n < MOST_CALLS &&
			(uint64_t)g->rows < w->batch.most_rows &&
			g->members[g->n - 1].request->link.next ==
				&first->peer->queue &&
			/* A call must not miss its deadline because it waited. */
			is_in_time(g, g->rows, until_ns);
	}
	msd_arena_reset(&w->arena);
	if (waits) {
		(void)uv_timer_start(
			&w->batch.due, w->batch.on_due,
			(until_ns - now_ns + MSD_NS_PER_MS - 1) / MSD_NS_PER_MS, 0);
	}
	return waits;
}

/* Concatenate argument @i of all calls. The host copy stays valid until a queued
 * device copy has finished. */
static msd_err join_arg(const struct group *g, uint32_t i, struct msd_call *call,
			struct msd_dev *dev, struct msd_diag *d)
{
	struct msd_wire_tensor t = g->members[0].pieces[i].tensor;
	struct msd_tensor *there;

	t.shape[0] = g->rows;
	struct msd_tensor *joined = msd_tensor_new(t.dtype, t.shape, t.ndim);
	if (joined == NULL)
		return msd_diag_no_memory(d);
	uint8_t *to = joined->dl.data;
	for (uint32_t k = 0; k < g->n; k++) {
		const struct piece *piece = &g->members[k].pieces[i];
		if (piece->tensor.bytes > 0)
			memcpy(to, piece->p, piece->tensor.bytes);
		to += piece->tensor.bytes;
	}
	t.bytes = (uint64_t)(to - (uint8_t *)joined->dl.data);
	msd_err err = msd_call_hold(call, &joined->obj, &call->args[i], d);
	if (err != MSD_OK || dev == NULL)
		return err;
	err = msd_stage_in(call, &t, dev, joined->dl.data, &there, d);
	return err == MSD_OK ? msd_call_hold(call, &there->obj, &call->args[i], d)
			     : err;
}

static msd_err join_args(const struct group *g, struct msd_call *call,
			 struct msd_diag *d)
{
	struct msd_dev *dev = call->queued;
	msd_err err = msd_call_make_args(call, g->n_args, d);

	for (uint32_t i = 0; err == MSD_OK && i < g->n_args; i++)
		err = join_arg(g, i, call, dev, d);
	if (err == MSD_OK && call->request->names.n > 0)
		err = msd_call_order_args(call, call->request->names, d);
	return err == MSD_OK ? msd_stage_check(call, d) : err;
}

/* Answer member @m of @joined with its rows of @result, from @first on. */
static void answer(struct msd_worker *w, const struct msd_call *joined,
		   const struct member *m, int64_t first, const struct msd_any *result,
		   uint64_t exec_ns)
{
	struct msd_call call = *joined;
	struct msd_out *o = msd_out_new();

	if (o == NULL) {
		msd_conn_close(&m->request->peer->conn, MSD_NOMEM,
			       "out of memory for a reply");
		return;
	}
	call.request = m->request;
	call.peer = m->request->peer;
	call.rows = (struct msd_rows){first, m->rows};
	const size_t begin = o->body.n;
	const msd_err err =
		msd_call_write_reply(&call, result, exec_ns, &o->body, &w->diag);
	if (err != MSD_OK) {
		msd_call_free_slots(&call);
		o->body.n = begin;
		(void)msd_diag_wrap(&w->diag, err, "%s", call.func->name);
		msd_worker_write_error(&o->body, m->request, err, &w->diag);
	}
	msd_conn_send(&m->request->peer->conn, o);
}

/* False if the calls must run separately. */
static bool run_joined(struct msd_worker *w, const struct group *g,
		       struct msd_call *call)
{
	struct msd_any result = msd_none();
	int64_t first = 0;
	uint64_t exec_ns;

	if (join_args(g, call, &w->diag) != MSD_OK ||
	    msd_call_invoke(w, call, &result, &exec_ns, &w->diag) != MSD_OK)
		return false;
	if (!msd_call_has_rows(&result, g->rows)) {
		call->func->has_batch = false;
		(void)fprintf(
			stderr,
			"modserd-worker: calls of %s are no longer joined: its results "
			"have another number of rows than its arguments\n",
			call->func->name);
		msd_any_drop(&result);
		return false;
	}
	for (uint32_t k = 0; k < g->n; k++) {
		answer(w, call, &g->members[k], first, &result, exec_ns);
		first += g->members[k].rows;
	}
	msd_any_drop(&result);
	return true;
}

static bool run_group(struct msd_worker *w, const struct group *g)
{
	const struct msd_request *first = g->members[0].request;
	struct msd_call call = {
		.peer = first->peer,
		.module = w->module,
		.device = msd_loaded_device(w->module),
		.request = first,
		.func = first->func,
		.arena = &w->arena,
		.wants_objects = true,
		.n_joined = g->n,
		.begun_ns = msd_now_ns(),
	};
	const bool ran = msd_loaded_reach(w->module, call.device, &call.queued,
					  &w->diag) == MSD_OK &&
			 run_joined(w, g, &call);

	if (ran) {
		msd_rows_latency_note(&first->func->rows_pace, (uint64_t)g->rows,
				      msd_now_ns() - call.begun_ns);
	}
	for (uint32_t k = 0; ran && k < g->n; k++)
		msd_worker_recycle(w, g->members[k].request);
	if (!ran)
		w->batch.n_apart = g->n - 1; /* the first one runs next */
	msd_call_finish(&call, false);
	return ran;
}

void msd_batch_learn(struct msd_worker *w, const struct msd_request *r, uint64_t ns)
{
	if (w->batch.n_rows > 0)
		msd_rows_latency_note(&r->func->rows_pace, w->batch.n_rows, ns);
}

bool msd_batch_run(struct msd_worker *w, struct msd_request *first)
{
	w->batch.n_rows = 0;
	if (w->batch.n_apart > 0) {
		w->batch.n_apart--;
		return false;
	}
	if (!may_join(w, first))
		return false;
	struct group *g = msd_arena_alloc(&w->arena, sizeof(*g));
	if (g != NULL)
		gather(w, first->peer, msd_now_ns(), g);
	if (g != NULL && g->n > 1)
		return run_group(w, g);
	if (g != NULL && g->n == 1)
		w->batch.n_rows = (uint64_t)g->rows;
	msd_arena_reset(&w->arena);
	return false;
}
