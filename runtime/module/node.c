#include "runtime/module/node.h"

#include "artifact/tree/tree.h"
#include "runtime/packed/global.h"

/* Nodes already searched: several paths may lead to one node. */
struct visited {
	uint64_t bits[MSD_MAX_MODULES / 64 +
		      1]; /* one more bit: a graph may be above the tree */
};

static bool visit(struct visited *v, const struct msd_node *node)
{
	const uint64_t bit = (uint64_t)1 << (node->index % 64);
	uint64_t *word = &v->bits[node->index / 64];

	if (*word & bit)
		return false;
	*word |= bit;
	return true;
}

static struct msd_function *search(struct msd_node *node, const char *name,
				   struct visited *v)
{
	struct msd_function *fn;

	if (!visit(v, node))
		return NULL;
	fn = node->ops->find != NULL ? node->ops->find(node, name) : NULL;
	for (size_t i = 0; fn == NULL && i < node->n_imports; i++)
		fn = search(node->imports[i], name, v);
	return fn;
}

struct msd_function *msd_node_lookup(struct msd_node *node, const char *name)
{
	struct visited v = {0};

	return search(node, name, &v);
}

static struct msd_function *search_imports(struct msd_node *node, const char *name,
					   struct visited *v)
{
	struct msd_function *fn = NULL;

	for (size_t i = 0; fn == NULL && i < node->n_imports; i++)
		fn = search(node->imports[i], name, v);
	return fn;
}

struct msd_function *msd_node_lookup_from_imports(struct msd_node *node,
						  const char *name)
{
	struct visited v = {0};
	struct msd_function *fn = search_imports(node, name, &v);

	if (fn == NULL && node->root != NULL)
		fn = search_imports(node->root, name, &v);
	return fn != NULL ? fn : msd_global_find(name);
}

struct msd_function *msd_node_lookup_for_client(const char *name)
{
	return msd_global_find_for_clients(name);
}

static void refusals(struct msd_node *node, struct msd_buf *out, struct visited *v)
{
	if (!visit(v, node))
		return;
	if (node->refusal != NULL)
		msd_buf_printf(out, "%s%s", out->n > 0 ? "; " : "", node->refusal);
	for (size_t i = 0; i < node->n_imports; i++)
		refusals(node->imports[i], out, v);
}

void msd_node_refusals(struct msd_node *node, struct msd_buf *out)
{
	struct visited v = {0};

	refusals(node, out, &v);
}

static struct msd_function *find(struct msd_abi_context *c, const char *name)
{
	return msd_node_lookup_from_imports((struct msd_node *)(void *)c, name);
}

static void explain(struct msd_abi_context *c, struct msd_buf *why)
{
	msd_node_refusals((struct msd_node *)(void *)c, why);
}

void msd_node_init(struct msd_node *node)
{
	msd_globals_open();
	node->context = (struct msd_abi_context){.find = find, .explain = explain};
}

struct msd_span msd_node_params(const struct msd_node_context *ctx)
{
	if (ctx->options == NULL || (ctx->options->graph.n > 0 && !ctx->is_given))
		return (struct msd_span){0};
	return ctx->options->params;
}
