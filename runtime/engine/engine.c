/*
 * Happy path: a node is offered to the engines of plugins, the last registered first,
 * then to those of the table. An engine that claims a node and then does not support
 * its shapes releases it, and the next one is asked. A plugin's engine has a row too,
 * with functions that call the plugin's; its errors get the plugin engine's name.
 */
#include "runtime/engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/pass/pass.h"
#include "graph/plugin/plugin.h"
#include "runtime/kernel/kernel.h"

#define MOST_WHY 256

static const struct msd_engine *const engines[] = {&msd_engine_native,
						   &msd_engine_reference};
#define N_ENGINES (sizeof(engines) / sizeof(engines[0]))

/* Engines of plugins; the list only grows, at its head. */
struct added {
	struct msd_engine row; /* first member */
	modserd_engine theirs;
	const struct added *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects registration */
static _Atomic(const struct added *) list;

/* State of a node that a plugin's engine has accepted. */
struct held {
	const modserd_engine *engine;
	void *state;
};

static msd_err fail(const modserd_engine *engine, msd_err code, char why[MOST_WHY],
		    struct msd_diag *d)
{
	why[MOST_WHY - 1] = '\0';
	return msd_diag_set(d, code, "engine %s: %s", engine->name,
			    why[0] != '\0' ? why : "it failed");
}

static msd_err take_added(const struct msd_engine *e, const modser_sg_node *node,
			  void **ret_state, struct msd_diag *d)
{
	const struct added *a = (const struct added *)e;
	struct held *h = calloc(1, sizeof(*h));
	char why[MOST_WHY] = "";

	if (h == NULL)
		return msd_diag_no_memory(d);
	h->engine = &a->theirs;
	const int said = h->engine->take(node, &h->state, why, sizeof(why));
	if (said == 1) {
		*ret_state = h;
		return MSD_OK;
	}
	free(h);
	return said == 0 ? MSD_UNSUPPORTED : fail(&a->theirs, MSD_BAD_ARTIFACT, why, d);
}

/* NULL: it supports all shapes. */
static msd_err check_added(void *state, const modser_sg_node *node, struct msd_diag *d)
{
	const struct held *h = state;
	char why[MOST_WHY] = "";

	if (h->engine->validate == NULL)
		return MSD_OK;
	const int said = h->engine->validate(h->state, node, why, sizeof(why));
	if (said == 1)
		return MSD_OK;
	return fail(h->engine, said == 0 ? MSD_UNSUPPORTED : MSD_BAD_ARTIFACT, why, d);
}

static msd_err run_added(void *state, const struct msd_kernel_call *c,
			 struct msd_diag *d)
{
	const modserd_kernel_call call = {c->node, c->in, c->out, c->in_layouts,
					  c->out_layouts};
	const struct held *h = state;
	char why[MOST_WHY] = "";

	if (h->engine->run(h->state, &call, why, sizeof(why)) == 0)
		return MSD_OK;
	return fail(h->engine, MSD_CALL_FAILED, why, d);
}

static bool lay_out_added(void *state, const modser_sg_node *node,
			  const modserd_layout **in, const modserd_layout **out)
{
	const struct held *h = state;

	return h->engine->lay_out(h->state, node, in, out) == 1;
}

static void leave_added(void *state)
{
	struct held *h = state;

	if (h->engine->leave != NULL)
		h->engine->leave(h->state);
	free(h);
}

/* A group has at least two nodes. */
static msd_err join_added(const struct msd_engine *e, const modserd_group *group,
			  void *const *states, void **ret_state, struct msd_diag *d)
{
	const modserd_engine *theirs = &((const struct added *)e)->theirs;
	struct held *h = calloc(1, sizeof(*h));
	void **their_states = calloc(group->n_nodes, sizeof(*their_states));
	char why[MOST_WHY] = "";
	int said = -1;

	if (h == NULL || their_states == NULL) {
		free(h);
		free((void *)their_states);
		return msd_diag_no_memory(d);
	}
	for (size_t i = 0; i < group->n_nodes; i++)
		their_states[i] = ((const struct held *)states[i])->state;
	h->engine = theirs;
	said = theirs->join(group, their_states, &h->state, why, sizeof(why));
	free((void *)their_states);
	if (said == 1) {
		*ret_state = h;
		return MSD_OK;
	}
	free(h);
	return said == 0 ? MSD_UNSUPPORTED : fail(theirs, MSD_BAD_ARTIFACT, why, d);
}

static msd_err run_group_added(void *state, const struct msd_kernel_call *c,
			       struct msd_diag *d)
{
	const struct held *h = state;
	char why[MOST_WHY] = "";

	if (h->engine->run_group(h->state, c->in, c->out, why, sizeof(why)) == 0)
		return MSD_OK;
	return fail(h->engine, MSD_CALL_FAILED, why, d);
}

static void leave_group_added(void *state)
{
	struct held *h = state;

	if (h->engine->leave_group != NULL)
		h->engine->leave_group(h->state);
	free(h);
}

static msd_err offer(const struct msd_engine *e, const modser_sg_node *node,
		     struct msd_engine_node *ret, struct msd_diag *d)
{
	void *state = NULL;
	const msd_err err = e->take(e, node, &state, d);

	if (err == MSD_OK)
		*ret = (struct msd_engine_node){e, state};
	return err;
}

/* Nodes that passes made are offered only to engines that list the operator. */
static bool is_listed(const modserd_engine *engine, const char *op)
{
	for (size_t i = 0; engine->made != NULL && engine->made[i] != NULL; i++) {
		if (strcmp(engine->made[i], op) == 0)
			return true;
	}
	return false;
}

static msd_err offer_added(const struct added *a, const modser_sg_node *node,
			   struct msd_engine_node *ret, struct msd_diag *d)
{
	const char *op = modser_sg_op_name(node->op);

	if (msd_passes_make(op) && !is_listed(&a->theirs, op))
		return MSD_UNSUPPORTED;
	return offer(&a->row, node, ret, d);
}

static void release(struct msd_engine_node *n)
{
	if (n->engine != NULL && n->engine->leave != NULL)
		n->engine->leave(n->state);
	*n = (struct msd_engine_node){0};
}

/* The first engine that would accept the node decides. An engine that fails here also
 * fails the load of the unchanged node. */
bool msd_engine_may_make(const modser_sg_node *node, const char *made)
{
	if (msd_kernel_find(made) == NULL && msd_engine_native_is_off())
		return false;
	for (const struct added *a = atomic_load(&list); a != NULL; a = a->next) {
		struct msd_engine_node taken = {0};
		struct msd_diag d = {0};

		if (is_listed(&a->theirs, made))
			return true;
		const msd_err err = offer(&a->row, node, &taken, &d);
		msd_diag_finish(&d);
		release(&taken);
		if (err != MSD_UNSUPPORTED)
			return false;
	}
	return true;
}

static msd_err check(const struct msd_engine_node *n, const modser_sg_node *node,
		     struct msd_diag *d)
{
	return n->engine != NULL && n->engine->check != NULL
		       ? n->engine->check(n->state, node, d)
		       : MSD_OK;
}

/* Ends the offers of a node. @is_refused: an engine has said why in @d. */
static msd_err finish(msd_err err, bool is_refused, const modser_sg_node *node,
		      struct msd_diag *d)
{
	if (err == MSD_UNSUPPORTED && !is_refused) {
		return msd_diag_set(d, err, "node %zu \"%s\": %s cannot be run yet",
				    node->number, node->name,
				    modser_sg_op_name(node->op));
	}
	if (err != MSD_OK) {
		return msd_diag_wrap(d, err, "node %zu \"%s\"", node->number,
				     node->name);
	}
	if (is_refused) /* by an engine before the one that claimed it */
		msd_diag_finish(d);
	return MSD_OK;
}

/* An engine that has claimed a node and does not support it gives it back. */
static msd_err settle(msd_err err, struct msd_claim *c, const modser_sg_node *node,
		      bool *is_refused, struct msd_diag *d)
{
	if (err != MSD_OK)
		return err;
	err = check(&c->by, node, d);
	if (err != MSD_OK) {
		*is_refused = true;
		release(&c->by);
	}
	return err;
}

/* An engine that has packed the node's weights goes on with them. */
static msd_err offer_packed(const struct msd_engine *e, struct msd_claim *c,
			    const modser_sg_node *node, struct msd_diag *d)
{
	if (c->packed.engine != e)
		return offer(e, node, &c->by, d);
	c->by = (struct msd_engine_node){e, c->packed.state};
	c->packed = (struct msd_engine_node){0};
	return MSD_OK;
}

void msd_claim_pack(struct msd_claim *c, const modser_sg_node *node)
{
	struct msd_diag d = {0};

	if (atomic_load(&list) != NULL || c->by.engine != NULL ||
	    c->packed.engine != NULL)
		return;
	struct msd_engine_node native = {&msd_engine_native, NULL};
	struct msd_engine_way way = {0};
	msd_err err = native.engine->take(native.engine, node, &native.state, &d);

	if (err == MSD_OK) {
		err = check(&native, node, &d);
		c->packed = native;
		native.engine->tell(native.state, &way);
	}
	if (err != MSD_OK || way.packed_bytes == 0) /* the rest suits guessed shapes */
		release(&c->packed);
	msd_diag_finish(&d);
}

msd_err msd_claim_make(struct msd_claim *c, const modser_sg_node *node,
		       struct msd_diag *d)
{
	const struct added *a = atomic_load(&list);
	msd_err err = MSD_UNSUPPORTED;
	bool is_refused = false;

	for (; err == MSD_UNSUPPORTED && a != NULL; a = a->next) {
		err = settle(offer_added(a, node, &c->by, d), c, node, &is_refused, d);
	}
	for (size_t i = 0; err == MSD_UNSUPPORTED && i < N_ENGINES; i++) {
		err = settle(offer_packed(engines[i], c, node, d), c, node, &is_refused,
			     d);
	}
	return finish(err, is_refused, node, d);
}

msd_err msd_claim_reserve(struct msd_claim *c, const modser_sg_node *node,
			  struct msd_diag *d)
{
	const struct added *a = atomic_load(&list);
	msd_err err = MSD_UNSUPPORTED;

	for (size_t i = N_ENGINES; err == MSD_UNSUPPORTED && i > 0; i--)
		err = offer(engines[i - 1], node, &c->reserve, d);
	if (err == MSD_UNSUPPORTED && c->by.engine != NULL)
		return MSD_OK;
	if (err == MSD_UNSUPPORTED) /* an operator that a pass made for it */
		err = offer(&msd_engine_native, node, &c->reserve, d);
	for (; err == MSD_UNSUPPORTED && a != NULL; a = a->next)
		err = offer_added(a, node, &c->reserve, d);
	return finish(err, false, node, d);
}

msd_err msd_claim_choose(struct msd_claim *c, const modser_sg_node *node,
			 const struct msd_engine_node **ret, struct msd_diag *d)
{
	*ret = &c->by;
	if (c->by.engine == NULL)
		return msd_claim_make(c, node, d);
	msd_err err = check(&c->by, node, d);
	if (err == MSD_UNSUPPORTED && c->reserve.engine != NULL) {
		*ret = &c->reserve;
		err = check(&c->reserve, node, d);
	}
	return finish(err, true, node, d);
}

/* The reason why an engine that was offered @node did not take it. */
static const char *reason(const struct msd_engine *e, const struct msd_diag *d)
{
	if (d->text != NULL)
		return d->text;
	return e == &msd_engine_native && msd_engine_native_is_off()
		       ? "it is switched off"
		       : "it does not compute this operator";
}

void msd_engine_refusals(const struct msd_engine_node *by, const modser_sg_node *node,
			 void (*each)(void *ctx, const char *engine, const char *why),
			 void *ctx)
{
	const struct added *a = atomic_load(&list);
	size_t i = 0;

	while (a != NULL || i < N_ENGINES) {
		const struct msd_engine *e = a != NULL ? &a->row : engines[i++];
		struct msd_engine_node taken = {0};
		struct msd_diag d = {0};

		if (e == by->engine)
			return;
		msd_err err = a != NULL ? offer_added(a, node, &taken, &d)
					: offer(e, node, &taken, &d);
		if (err == MSD_OK)
			err = check(&taken, node, &d);
		if (err != MSD_OK)
			each(ctx, e->name, reason(e, &d));
		release(&taken);
		msd_diag_finish(&d);
		a = a != NULL ? a->next : NULL;
	}
}

void msd_claim_release(struct msd_claim *c)
{
	release(&c->by);
	release(&c->reserve);
	release(&c->packed);
}

bool msd_engine_is_plugins(const struct msd_engine_node *by, const modser_sg_node *node)
{
	if (by->engine == &msd_engine_reference)
		return !msd_kernel_is_own(modser_sg_op_name(node->op));
	return by->engine != &msd_engine_native;
}

static bool is_taken(const char *name)
{
	for (size_t i = 0; i < N_ENGINES; i++) {
		if (strcmp(engines[i]->name, name) == 0)
			return true;
	}
	for (const struct added *a = atomic_load(&list); a != NULL; a = a->next) {
		if (strcmp(a->row.name, name) == 0)
			return true;
	}
	return false;
}

static struct added *create(const modserd_engine *engine)
{
	struct added *a = malloc(sizeof(*a));

	if (a == NULL)
		return NULL;
	*a = (struct added){.row = {.name = engine->name,
				    .take = take_added,
				    .check = check_added,
				    .run = run_added,
				    .leave = leave_added},
			    .theirs = msd_plugin_engine(engine)};
	if (a->theirs.lay_out != NULL)
		a->row.lay_out = lay_out_added;
	if (a->theirs.join != NULL) {
		a->row.join = join_added;
		a->row.run_group = run_group_added;
		a->row.leave_group = leave_group_added;
	}
	return a;
}

int msd_engine_register(const modserd_engine *engine)
{
	if (!msd_plugin_check_engine(engine))
		return -1;
	struct added *mine = create(engine);
	int result = -1;

	if (mine == NULL)
		return -1;
	(void)pthread_mutex_lock(&lock);
	if (!is_taken(engine->name)) {
		mine->next = atomic_load(&list);
		atomic_store(&list, mine);
		mine = NULL;
		result = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	free(mine);
	return result;
}
