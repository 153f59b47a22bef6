/*
 * Module kinds that pass constants to their imports: `metadata` (0.7, 0.8) and
 * `const_loader` (0.9 on). They serve vendor code generators with functions that take
 * TVM's own arrays of tensors. If no symbol has constants, as with host code only,
 * lookups just pass through. `metadata_module` describes a model; its users read it
 * from the library directly.
 */
#include <stdio.h>

#include "artifact/params/tensor_blob.h"
#include "runtime/kind/kinds.h"

/* Skip names and tensors, then find the first symbol that has constants. The result
 * is empty if there is no such symbol. */
static msd_err find_needy(struct msd_span payload, struct msd_span *ret,
			  struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_tensor_blob blob;
	msd_err err = MSD_OK;
	size_t n = msd_cur_count64(&c, sizeof(uint64_t));

	*ret = (struct msd_span){0};
	for (size_t i = 0; i < n && !c.bad; i++)
		(void)msd_cur_str64(&c);
	const uint64_t n_tensors = msd_cur_u64(&c);
	for (uint64_t i = 0; err == MSD_OK && i < n_tensors && !c.bad; i++)
		err = msd_tensor_blob_read(&c, &blob, d);
	if (err != MSD_OK)
		return err;
	struct msd_cur symbols = c;
	n = msd_cur_count64(&symbols, sizeof(uint64_t));
	c = symbols;
	for (size_t i = 0; i < n && !c.bad; i++)
		(void)msd_cur_str64(&c);
	if (msd_cur_u64(&c) != n || c.bad)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated (symbols)");
	for (size_t i = 0; i < n; i++) {
		const struct msd_span symbol = msd_cur_str64(&symbols);
		const size_t n_names = msd_cur_count64(&c, sizeof(uint64_t));
		for (size_t k = 0; k < n_names && !c.bad; k++)
			(void)msd_cur_str64(&c);
		if (n_names > 0 && ret->n == 0)
			*ret = symbol;
	}
	return c.bad ? msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated (symbols)")
		     : MSD_OK;
}

static msd_err constants_open(struct msd_node *node, const struct msd_node_context *ctx,
			      struct msd_diag *d)
{
	struct msd_span needy;
	msd_err err = find_needy(ctx->payload, &needy, d);

	if (err != MSD_OK || needy.n == 0)
		return err;
	if (asprintf(&node->refusal,
		     "module %u (%s) cannot run here: %.*s takes its constants as "
		     "objects of TVM's own runtime",
		     node->index, node->kind_name, (int)(needy.n < 128 ? needy.n : 128),
		     (const char *)needy.p) < 0) {
		node->refusal = NULL;
		return msd_diag_no_memory(d);
	}
	return MSD_OK;
}

static msd_err nothing_open(struct msd_node *node, const struct msd_node_context *ctx,
			    struct msd_diag *d)
{
	(void)node;
	(void)ctx;
	(void)d;
	return MSD_OK;
}

static void nothing_close(struct msd_node *node)
{
	(void)node;
}

const struct msd_node_ops msd_kind_constants = {
	.open = constants_open,
	.close = nothing_close,
};

const struct msd_node_ops msd_kind_nothing = {
	.open = nothing_open,
	.close = nothing_close,
};
