#include "runtime/module/graph_state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/abi/error.h"

struct state;

struct state_function {
	struct msd_function fn; /* first: it is what calls get as self */
	struct state *state;
};

#define N_FUNCTIONS 13

struct state {
	struct msd_instance base; /* first */
	const struct msd_graph_plan *plan;
	struct msd_graph_instance *graph;
	struct msd_obj **held; /* per argument of the graph: shared memory's owner */
	struct state_function functions[N_FUNCTIONS];
};

static struct state *state_of(void *self)
{
	return ((struct state_function *)self)->state;
}

static const struct msd_graph_node *arg_node(const struct state *s, uint32_t i)
{
	return &s->plan->graph.nodes[s->plan->graph.args[i]];
}

/* Argument of the graph by name or number; -1 when there is none. */
static int64_t find_arg(const struct state *s, const struct msd_any *v)
{
	struct msd_span name;

	if (v->type == MSD_T_INT)
		return v->as.i >= 0 && v->as.i < s->plan->graph.n_args ? v->as.i : -1;
	if (!msd_any_str(v, &name))
		return -1;
	for (uint32_t i = 0; i < s->plan->graph.n_args; i++)
		if (msd_span_is(name, arg_node(s, i)->name))
			return i;
	return -1;
}

static int need(int32_t n, int32_t least, int32_t most)
{
	return n >= least && n <= most
		       ? 0
		       : msd_abi_raise_code(MSD_BAD_ARGUMENT,
					    "expected %d to %d arguments but got %d",
					    least, most, n);
}

static void release(struct state *s, int64_t arg)
{
	msd_obj_unref(s->held[arg]);
	s->held[arg] = NULL;
}

/* Unknown names are ignored, as TVM does. */
static int set_input(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct state *s = state_of(self);

	(void)ret;
	if (need(n, 2, 2) != 0)
		return -1;
	const int64_t arg = find_arg(s, &args[0]);
	if (arg < 0)
		return 0;
	if (msd_graph_instance_set(s->graph, arg_node(s, (uint32_t)arg)->first_entry,
				   &args[1]) != 0)
		return -1;
	release(s, arg);
	return 0;
}

/* Only a tensor that stays can be shared: a resident one. Others are copied. */
static int set_input_zero_copy(void *self, const struct msd_any *args, int32_t n,
			       struct msd_any *ret)
{
	struct state *s = state_of(self);

	if (need(n, 2, 2) != 0)
		return -1;
	const int64_t arg = find_arg(s, &args[0]);
	const struct msd_tensor *t = args[1].as.p;
	if (arg < 0)
		return 0;
	if (args[1].type != MSD_T_TENSOR || t->owner == NULL)
		return set_input(self, args, n, ret);
	const uint32_t entry = arg_node(s, (uint32_t)arg)->first_entry;
	const uint32_t storage = s->plan->graph.entries[entry].storage;
	if (s->plan->storages[storage].is_written) /* the graph would write to it */
		return set_input(self, args, n, ret);
	if (msd_graph_instance_share(s->graph, entry, &args[1]) != 0)
		return -1;
	msd_obj_ref(t->owner);
	release(s, arg);
	s->held[arg] = t->owner;
	return 0;
}

static int run(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)args;
	(void)ret;
	return need(n, 0, 0) == 0 ? msd_graph_instance_execute(state_of(self)->graph)
				  : -1;
}

static int get_output(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct state *s = state_of(self);

	if (need(n, 1, 1) != 0)
		return -1;
	if (args[0].type != MSD_T_INT || args[0].as.i < 0 ||
	    args[0].as.i >= s->plan->graph.n_heads)
		return msd_abi_raise_code(MSD_BAD_ARGUMENT, "there are %u outputs",
					  s->plan->graph.n_heads);
	return msd_graph_instance_get(s->graph, s->plan->graph.heads[args[0].as.i],
				      ret);
}

static int get_input(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct state *s = state_of(self);

	if (need(n, 1, 1) != 0)
		return -1;
	const int64_t arg = find_arg(s, &args[0]);
	if (arg < 0)
		return msd_abi_raise_code(MSD_BAD_ARGUMENT, "there is no such input");
	return msd_graph_instance_get(s->graph, arg_node(s, (uint32_t)arg)->first_entry,
				      ret);
}

/* TVM counts the parameters among the inputs. */
static int get_num_inputs(void *self, const struct msd_any *args, int32_t n,
			  struct msd_any *ret)
{
	(void)args;
	(void)n;
	*ret = msd_int(state_of(self)->plan->graph.n_args);
	return 0;
}

static int get_num_outputs(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	(void)args;
	(void)n;
	*ret = msd_int(state_of(self)->plan->graph.n_heads);
	return 0;
}

static int get_input_index(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	if (need(n, 1, 1) != 0)
		return -1;
	*ret = msd_int(find_arg(state_of(self), &args[0]));
	return 0;
}

static int get_input_name(void *self, const struct msd_any *args, int32_t n,
			  struct msd_any *ret)
{
	struct state *s = state_of(self);

	if (need(n, 1, 1) != 0)
		return -1;
	const int64_t arg = find_arg(s, &args[0]);
	if (arg < 0)
		return msd_abi_raise_code(MSD_BAD_ARGUMENT, "there is no such input");
	const char *name = arg_node(s, (uint32_t)arg)->name;
	struct msd_str *str = msd_str_new(name, strlen(name), MSD_T_STR);
	if (str == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "out of memory");
	*ret = msd_of_obj(&str->obj);
	return 0;
}

/* One tensor of a .params file, for this instance alone. */
static int load_param(struct state *s, struct msd_span name,
		      const struct msd_tensor_blob *blob)
{
	for (uint32_t i = 0; i < s->plan->graph.n_args; i++) {
		if (!msd_span_is(name, arg_node(s, i)->name))
			continue;
		struct msd_tensor *t =
			msd_tensor_new(blob->dtype, blob->shape, blob->ndim);
		if (t == NULL)
			return msd_abi_raise_code(MSD_NOMEM, "out of memory");
		if (blob->data.n > 0)
			memcpy(t->dl.data, blob->data.p, blob->data.n);
		struct msd_any v = msd_of_obj(&t->obj);
		const int rc = msd_graph_instance_set(s->graph,
						      arg_node(s, i)->first_entry, &v);
		msd_any_drop(&v);
		if (rc == 0)
			release(s, i);
		return rc;
	}
	return 0; /* unknown names are ignored, as TVM does */
}

static int load_params(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct state *s = state_of(self);
	struct msd_params params = {0};
	struct msd_diag d = {0};
	struct msd_span bytes = {0};

	(void)ret;
	if (need(n, 1, 1) != 0)
		return -1;
	if (args[0].type == MSD_T_BYTES) {
		const struct msd_str *str = args[0].as.p;
		bytes = (struct msd_span){(const uint8_t *)str->data, str->size};
	}
	if (msd_params_read_file(bytes, &params, &d) != MSD_OK) {
		(void)msd_abi_raise_code(MSD_BAD_ARGUMENT, "%s", msd_diag_text(&d));
		msd_diag_finish(&d);
		return -1;
	}
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < params.n; i++)
		rc = load_param(s, params.names[i], &params.tensors[i]);
	msd_params_finish(&params);
	return rc;
}

/* Instances of one module have their parameters in common anyhow. */
static int share_params(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return 0;
}

static const struct {
	const char *name;
	msd_safe_call call;
} table[] = {
	{"get_input", get_input},
	{"get_input_index", get_input_index},
	{"get_input_name", get_input_name},
	{"get_num_inputs", get_num_inputs},
	{"get_num_outputs", get_num_outputs},
	{"get_output", get_output},
	{"load_params", load_params},
	{"run", run},
	{"set_input", set_input},
	{"set_input_zero_copy", set_input_zero_copy},
	{"share_params", share_params},
};
_Static_assert(sizeof(table) / sizeof(table[0]) <= N_FUNCTIONS, "room");

static struct msd_function *state_find(struct msd_instance *base, const char *name)
{
	struct state *s = (struct state *)base;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].name, name) == 0)
			return &s->functions[i].fn;
	return NULL;
}

static void state_close(struct msd_instance *base)
{
	struct state *s = (struct state *)base;

	msd_graph_instance_destroy(s->graph);
	for (uint32_t i = 0; s->held != NULL && i < s->plan->graph.n_args; i++)
		msd_obj_unref(s->held[i]);
	free(s->held);
	free(s);
}

static const struct msd_instance_ops ops = {.find = state_find, .close = state_close};

msd_err msd_graph_state_create(const struct msd_graph_plan *plan,
			       struct msd_instance **ret, struct msd_diag *d)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	s->base.ops = &ops;
	s->plan = plan;
	s->held = calloc((size_t)plan->graph.n_args + 1, sizeof(struct msd_obj *));
	msd_err err = s->held != NULL ? msd_graph_instance_create(plan, &s->graph, d)
				      : msd_diag_set(d, MSD_NOMEM, "out of memory");
	if (err != MSD_OK) {
		state_close(&s->base);
		return err;
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		msd_function_init(&s->functions[i].fn, table[i].name, table[i].call);
		s->functions[i].state = s;
	}
	*ret = &s->base;
	return MSD_OK;
}
