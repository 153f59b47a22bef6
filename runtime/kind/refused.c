/* Kinds that cannot run: each appears in the tree and in listings, and reports the
 * reason when it is used. */
#include <stdio.h>

#include "artifact/kind/kinds.h"
#include "runtime/kind/kinds.h"

#define RUNS(name) NULL
#define REFUSED(why) why
#define ROW(kind, title, format, look, params, run) {kind, run},
static const struct {
	const char *kind;
	const char *why;
} known[] = {MSD_KIND_MAP(ROW)};

static const char *reason(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (msd_span_is(kind, known[i].kind))
			return known[i].why;
	}
	return "the kind is unknown to this build";
}

static msd_err refused_open(struct msd_node *node, const struct msd_node_context *ctx,
			    struct msd_diag *d)
{
	(void)ctx;
	if (asprintf(&node->refusal, "module %u (%.*s) cannot run here: %s",
		     node->index, (int)(node->kind.n < 64 ? node->kind.n : 64),
		     (const char *)node->kind.p, reason(node->kind)) < 0) {
		node->refusal = NULL;
		return msd_diag_no_memory(d);
	}
	return MSD_OK;
}

static void refused_close(struct msd_node *node)
{
	(void)node; /* the load frees the reason */
}

const struct msd_node_ops msd_kind_refused = {
	.open = refused_open,
	.close = refused_close,
};
