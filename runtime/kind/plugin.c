/*
 * Module kinds of plugins (modserd_module_kind in graph/modserd_plugin.h).
 *
 * Happy path: a plugin adds a kind before the module is opened. A node of that kind
 * gives its payload to the plugin's load(), and then asks for all functions, which are
 * listed and looked up like those of other kinds. Failures: load() fails with the
 * plugin's text; two functions with one name, or an incomplete one, fail the load.
 */
#include "graph/plugin/plugin.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/kind/payload.h"
#include "proto/base/grow.h"
#include "runtime/kind/kinds.h"
#include "runtime/module/check.h"
#include "runtime/value/value.h"

#define MAX_FUNCTIONS 65536u /* of one module */

/* The list only grows, at its head. */
static struct added {
	struct msd_node_kind row;
	const modserd_module_kind *kind;
	struct added *next;
} * added;

/* A plugin's function as compiled code sees it. */
struct plugin_function {
	struct msd_function fn; /* first member: callers hold a pointer to it */
	const modserd_function *function;
	struct msd_call_rules rules;
};

struct plugin_node {
	const modserd_module_kind *kind;
	void *state;
	bool is_loaded;
	struct plugin_function **functions; /* sorted by name */
	size_t n;
};

static const struct msd_signature unknown;

static const struct added *find_added(struct msd_span kind)
{
	const struct added *a = added;

	while (a != NULL && !msd_span_is(kind, a->kind->kind))
		a = a->next;
	return a;
}

static int call_function(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	const struct plugin_function *f = self;

	return f->function->call(f->function->self,
				 (const modserd_any *)(const void *)args, n,
				 (modserd_any *)(void *)ret);
}

static int compare(const void *a, const void *b)
{
	const struct plugin_function *const *x = a;
	const struct plugin_function *const *y = b;

	return strcmp((*x)->fn.name, (*y)->fn.name);
}

static msd_err add_function(struct plugin_node *p, const modserd_function *function,
			    struct msd_diag *d)
{
	struct plugin_function *f;

	if (!msd_plugin_check_function(function)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its plugin: function %zu: %s",
				    p->n, modser_registration_error());
	}
	f = malloc(sizeof(*f));
	if (f == NULL || !msd_grow(&p->functions, p->n, sizeof(f))) {
		free(f);
		return msd_diag_no_memory(d);
	}
	msd_function_init(&f->fn, function->name, call_function);
	f->function = function;
	f->rules = (struct msd_call_rules){
		.info = {.name = function->name,
			 .style = MSD_FUNC_PRIM,
			 .signature = &unknown,
			 .module_kind = p->kind->kind},
		.data_align = 1,
		.is_typed = true,
	};
	f->fn.rules = &f->rules;
	p->functions[p->n++] = f;
	return MSD_OK;
}

static msd_err add_functions(struct plugin_node *p, struct msd_diag *d)
{
	const modserd_function *function;
	msd_err err = MSD_OK;

	while (err == MSD_OK &&
	       (function = p->kind->function(p->state, p->n)) != NULL) {
		err = p->n < MAX_FUNCTIONS
			      ? add_function(p, function, d)
			      : msd_diag_set(d, MSD_TOO_LARGE,
					     "its plugin has more than %u functions",
					     MAX_FUNCTIONS);
	}
	if (err != MSD_OK || p->n == 0)
		return err;
	qsort(p->functions, p->n, sizeof(*p->functions), compare);
	for (size_t i = 1; i < p->n; i++) {
		if (compare(&p->functions[i - 1], &p->functions[i]) == 0) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "its plugin has two functions %s",
					    p->functions[i]->fn.name);
		}
	}
	return MSD_OK;
}

static msd_err plugin_open(struct msd_node *node, const struct msd_node_context *ctx,
			   struct msd_diag *d)
{
	struct plugin_node *p = calloc(1, sizeof(*p));
	char why[256] = "";

	if (p == NULL)
		return msd_diag_no_memory(d);
	node->state = p;
	p->kind = find_added(node->kind)->kind;
	if (p->kind->load(ctx->payload.p, ctx->payload.n, &p->state, why,
			  sizeof(why)) != 0) {
		why[sizeof(why) - 1] = '\0';
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its plugin: %s",
				    why[0] != '\0' ? why : "load() failed");
	}
	p->is_loaded = true;
	return add_functions(p, d);
}

static struct msd_function *plugin_find(struct msd_node *node, const char *name)
{
	const struct plugin_node *p = node->state;
	const struct plugin_function key = {.fn = {.name = name}};
	const struct plugin_function *at = &key;
	struct plugin_function **found =
		p->n > 0 ? bsearch(&at, p->functions, p->n, sizeof(at), compare) : NULL;

	return found != NULL ? &(*found)->fn : NULL;
}

static msd_err plugin_list(struct msd_node *node,
			   msd_err (*each)(void *ctx, const struct msd_func_info *info),
			   void *ctx)
{
	const struct plugin_node *p = node->state;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < p->n; i++) {
		if (p->functions[i]->function->for_clients != 0)
			err = each(ctx, &p->functions[i]->rules.info);
	}
	return err;
}

static void plugin_close(struct msd_node *node)
{
	struct plugin_node *p = node->state;

	if (p == NULL)
		return;
	if (p->is_loaded && p->kind->unload != NULL)
		p->kind->unload(p->state);
	for (size_t i = 0; i < p->n; i++)
		free(p->functions[i]);
	free(p->functions);
	free(p);
}

static const struct msd_node_ops plugin_ops = {
	.open = plugin_open,
	.find = plugin_find,
	.list = plugin_list,
	.close = plugin_close,
};

const struct msd_node_kind *msd_plugin_kind_find(struct msd_span kind)
{
	const struct added *a = find_added(kind);

	return a != NULL ? &a->row : NULL;
}

bool msd_plugin_kind_add(const modserd_module_kind *kind)
{
	struct added *mine = malloc(sizeof(*mine));

	if (mine == NULL || !msd_payload_kind_add(kind->kind, kind->measure)) {
		free(mine);
		return false;
	}
	*mine = (struct added){{kind->kind, &plugin_ops}, kind, added};
	added = mine;
	return true;
}
