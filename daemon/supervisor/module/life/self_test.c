/*
 * Happy path: a test becomes a call, with its inputs in a slot of the in segments.
 * The worker's answer is compared, and the next test follows, for all tests of all
 * warm-up rounds; then the module is notified. Failures: an error, a wrong answer, or
 * no answer within the load timeout. The load fails, and the workers are killed.
 * Without room for its tensors a test waits.
 */
#include "daemon/supervisor/module/life/self_test.h"

#include <string.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/self_test_plan.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/reply.h"
#include "daemon/supervisor/module/workers/signature.h"

#define ROOM_MS 10u /* delay after a test found no room */

/* An answer that is being compared. */
struct comparing {
	const struct msd_self_test *t;
	struct msd_segmap *out;
	const uint8_t *result;
	uint32_t n; /* tensors so far */
};

static void forget(struct msd_module *m)
{
	struct msd_self_test *t = m->trial;

	m->trial = NULL;
	msd_self_test_free(t, m->group.registry->deadlines);
}

static void fail(struct msd_self_test *t)
{
	struct msd_module *m = t->m;
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_MODULE_FAILED, "load %s: self-test %u (%.*s): %s",
			   m->group.name, t->at % t->n_each, (int)t->now.function.n,
			   (const char *)t->now.function.p, msd_diag_text(&t->why));
	forget(m);
	msd_module_keep_error(m, d.code, msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_module_kill(m, "its self-tests failed");
}

static msd_err compare(struct comparing *x, const struct msd_wire_tensor *got,
		       struct msd_diag *d)
{
	const struct msd_self_test_case *c = &x->t->now;
	const uint8_t *data;

	if (x->n >= c->n_outputs)
		return msd_diag_set(d, MSD_MODULE_FAILED, "it has more outputs");
	data = got->where == MSD_AT_SEGMENT
		       ? msd_segmap_at(x->out, got->segment, got->offset, got->bytes)
		       : NULL;
	if (data == NULL && got->bytes > 0)
		return msd_diag_set(d, MSD_PROTOCOL, "a tensor without a location");
	return msd_self_test_compare(c, &c->outputs[x->n], got, data, d);
}

static msd_err on_ext(void *ctx, int8_t type, size_t at, size_t n, struct msd_diag *d)
{
	struct comparing *x = ctx;
	struct msd_wire_tensor t;

	if (type != MSD_EXT_TENSOR)
		return MSD_OK;
	msd_err err = msd_wire_tensor_read(x->result + at, n, &t, d);
	if (err == MSD_OK)
		err = compare(x, &t, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "output %u", x->n);
	x->n++;
	return MSD_OK;
}

static msd_err check_answer(const struct msd_self_test *t, struct msd_process *p,
			    const struct msd_in *in, struct msd_diag *d)
{
	struct comparing x = {.t = t, .out = &p->out, .result = in->body.result.p};
	struct msd_ext_visitor visitor = {.visit = on_ext, .ctx = &x};
	size_t used;

	if (!msd_reply_is_ok(in)) {
		msd_reply_error(in, d);
		return d->code;
	}
	msd_err err = msd_scan_object(in->body.result, &visitor, &used, d);
	if (err == MSD_OK && x.n < t->now.n_outputs) {
		err = msd_diag_set(d, MSD_MODULE_FAILED, "%u outputs, expected %u", x.n,
				   t->now.n_outputs);
	}
	return err;
}

/* The reply is for no client: its slots are released. */
static void on_answer(struct msd_req *r, struct msd_in *in)
{
	struct msd_replica *rep = r->at.replica;
	struct msd_self_test *t = r->module->trial;
	struct msd_diag d = {0};

	if (t != NULL) {
		(void)!check_answer(t, rep->process, in, &t->why);
		msd_deadline_set(rep->group->registry->deadlines, &t->next, 0);
	}
	if (msd_reply_is_ok(in) && !msd_reply_forward(r, rep->process, in, &d))
		msd_replica_disbelieve(rep, "it sent a malformed answer", &d);
	msd_diag_finish(&d);
}

static void pack_values(struct msd_buf *b, const struct msd_self_test_value *values,
			uint32_t n, enum msd_where where)
{
	for (uint32_t i = 0; i < n; i++) {
		struct msd_wire_tensor t = values[i].tensor;

		t.where = where;
		t.offset = where == MSD_AT_INLINE ? t.offset : 0;
		msd_pack_tensor(b, &t);
	}
}

static uint64_t bytes_of(const struct msd_self_test_value *values, uint32_t n)
{
	return n == 0 ? 0 : values[n - 1].tensor.offset + values[n - 1].tensor.bytes;
}

/* Write the call as a client would. */
static void write_call(const struct msd_self_test *t, struct msd_req *r)
{
	const struct msd_self_test_case *c = &t->now;
	struct msd_buf target = {0}, *b = &r->job.params;
	const struct msd_function_signature *f =
		msd_facts_function(&t->m->group.facts, c->function);
	const bool is_prim = f != NULL && f->is_prim;

	msd_buf_printf(&target, "%s:%.*s", t->m->group.name, (int)c->function.n,
		       (const char *)c->function.p);
	msd_pack_array(b, 1u + c->n_inputs + (is_prim ? c->n_outputs : 0));
	msd_pack_str(b, (const char *)target.p, target.n);
	b->bad = b->bad || target.bad;
	msd_buf_finish(&target);
	pack_values(b, c->inputs, c->n_inputs, MSD_AT_INLINE);
	if (is_prim)
		pack_values(b, c->outputs, c->n_outputs, MSD_AT_OUT);
	r->placement.wanted_bytes = bytes_of(c->inputs, c->n_inputs) +
				    (is_prim ? bytes_of(c->outputs, c->n_outputs) : 0);
}

static msd_err point(void *ctx, int8_t type, size_t at, size_t n, struct msd_diag *d)
{
	struct msd_req *r = ctx;
	struct msd_wire_tensor t;

	if (type != MSD_EXT_TENSOR)
		return MSD_OK;
	msd_err err = msd_wire_tensor_read(r->job.params.p + at, n, &t, d);
	if (err == MSD_OK && t.where == MSD_AT_INLINE)
		msd_placement_point(&r->placement, r->job.params.p + at, t.offset);
	return err;
}

/* Errors: MSD_WAIT (no room now), and those of msd_req_reserve(). */
static msd_err place(const struct msd_self_test *t, struct msd_req *r,
		     struct msd_diag *d)
{
	const struct msd_self_test_case *c = &t->now;
	const uint64_t bytes = bytes_of(c->inputs, c->n_inputs);
	struct msd_ext_visitor visitor = {.visit = point, .ctx = r};
	size_t used;
	msd_err err = msd_req_reserve(r, t->m->group.registry->budget, &t->m->group.in,
				      bytes, d);

	if (err != MSD_OK || bytes == 0)
		return err;
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		memcpy(r->placement.slot.p + c->inputs[i].tensor.offset,
		       c->inputs[i].data, c->inputs[i].tensor.bytes);
	}
	return msd_scan_object((struct msd_span){r->job.params.p, r->job.params.n},
			       &visitor, &used, d);
}

static msd_err send_call(struct msd_self_test *t, struct msd_diag *d)
{
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_CALL);
	msd_err err = MSD_OK;

	if (r == NULL)
		return msd_diag_no_memory(d);
	t->m->group.ops->adopt(&t->m->group, r);
	r->job.on_response = on_answer;
	write_call(t, r);
	err = r->job.params.bad ? msd_diag_no_memory(d) : place(t, r, d);
	if (err == MSD_OK && !msd_replica_post(&t->m->group.replicas[0], r))
		err = msd_diag_no_memory(d);
	if (err != MSD_OK)
		msd_req_release(r);
	return err;
}

static void run(struct msd_self_test *t)
{
	const struct msd_span tests = {t->tests.p, t->tests.n};
	msd_err err =
		msd_self_test_case_read(tests, t->at % t->n_each, &t->now, &t->why);

	if (err == MSD_OK)
		err = send_call(t, &t->why);
	if (err == MSD_WAIT) {
		msd_deadline_set(t->m->group.registry->deadlines, &t->next, ROOM_MS);
		t->at--;
	} else if (err != MSD_OK) {
		fail(t);
	}
}

/* If a worker was lost meanwhile, the tests have ended or are about to. */
static void on_next(struct msd_deadline *node)
{
	struct msd_self_test *t = MSD_CONTAINER_OF(node, struct msd_self_test, next);
	struct msd_module *m = t->m;

	if (m->life.state != MSD_STATE_TRIAL || m->life.is_blamed ||
	    m->life.n_open < m->life.n_workers)
		return;
	if (t->why.code != MSD_OK) {
		fail(t);
	} else if (++t->at < t->n) {
		run(t);
	} else {
		forget(m);
		msd_module_take_plain(m, MSD_LIFE_TRIED);
	}
}

static void on_overdue(struct msd_deadline *node)
{
	struct msd_self_test *t = MSD_CONTAINER_OF(node, struct msd_self_test, overdue);

	if (t->m->life.state != MSD_STATE_TRIAL)
		return;
	(void)msd_diag_set(
		&t->why, MSD_MODULE_FAILED,
		"it did not finish within %llu ms, the daemon's --load-timeout",
		(unsigned long long)t->m->group.registry->limits->load_ms);
	fail(t);
}

void msd_self_test_begin(struct msd_module *m)
{
	struct msd_self_test *t = m->trial;

	t->next.on_due = on_next;
	t->overdue.on_due = on_overdue;
	msd_deadline_set(m->group.registry->deadlines, &t->overdue,
			 m->group.registry->limits->load_ms);
	run(t);
}
