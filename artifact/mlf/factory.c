/* Convert a model to a graph executor factory in a module tree. */
#include <string.h>

#include "artifact/graph_json/graph.h"
#include "artifact/mlf/mlf.h"
#include "artifact/params/params.h"

/* The tensors of a .params file, as bytes: the part after the names. */
static struct msd_span tensors_of(struct msd_span file, const struct msd_params *p)
{
	size_t at =
		2 * sizeof(uint64_t) + sizeof(uint64_t); /* magics, count of names */

	for (size_t i = 0; i < p->n; i++)
		at += sizeof(uint64_t) + p->names[i].n;
	at += sizeof(uint64_t); /* count of tensors */
	return (struct msd_span){file.p + at, file.n - at};
}

static void put_tree(struct msd_buf *out)
{
	msd_buf_put_str64(out, "_lib", strlen("_lib"));
	msd_buf_put_str64(out, "_import_tree", strlen("_import_tree"));
	msd_buf_put_u64(out, 3); /* offsets of each module's imports, and the end */
	msd_buf_put_u64(out, 0);
	msd_buf_put_u64(out, 1);
	msd_buf_put_u64(out, 1);
	msd_buf_put_u64(out, 1); /* the imports: the factory's, module 1 */
	msd_buf_put_u64(out, 1);
}

msd_err msd_mlf_factory(const struct msd_mlf_model *model, struct msd_buf *out,
			struct msd_diag *d)
{
	static const char kind[] = "GraphExecutorFactory";
	struct msd_span tensors = {0};
	struct msd_params params = {0};
	struct msd_graph graph = {0};
	size_t start = out->n;
	msd_err err = msd_mlf_check_params(model, d);

	if (err == MSD_OK)
		err = msd_graph_read(model->graph, &graph, d);
	msd_graph_finish(&graph);
	if (err == MSD_OK && model->params.n > 0)
		err = msd_params_read_file(model->params, &params, d);
	if (err != MSD_OK)
		return err;
	if (model->params.n > 0)
		tensors = tensors_of(model->params, &params);
	msd_buf_put_u64(out, 0); /* bytes, below */
	msd_buf_put_u64(out, 3); /* entries */
	msd_buf_put_str64(out, kind, sizeof(kind) - 1);
	msd_buf_put_str64(out, model->graph.p, model->graph.n);
	msd_buf_put_u64(out, params.n);
	msd_buf_put_u64(out, params.n);
	for (size_t i = 0; i < params.n; i++)
		msd_buf_put_str64(out, params.names[i].p, params.names[i].n);
	msd_buf_put(out, tensors.p, tensors.n);
	msd_buf_put_str64(out, model->name, strlen(model->name));
	put_tree(out);
	msd_params_finish(&params);
	if (out->bad)
		return msd_diag_no_memory(d);
	msd_put_le64(out->p + start, out->n - start - sizeof(uint64_t));
	return MSD_OK;
}
