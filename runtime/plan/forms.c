/*
 * Happy path: an engine gets, for each input of its node, the layout of its own in
 * which the tensor exists already, and says which it wants for each input and output.
 * Their sizes are asked, too.
 *
 * A layout that cannot hold a tensor leaves the node to rows. Failures: a layout
 * without a function, or of impossible size.
 */
#include "runtime/plan/forms.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/plugin/plugin.h"
#include "runtime/plan/entry.h"
#include "runtime/plan/reorder.h"

#define MOST_BYTES (SIZE_MAX / 4)

bool msd_forms_init(struct msd_forms *f, const modser_graph *g, size_t most)
{
	f->main = calloc(g->n_tensors + 1, sizeof(*f->main));
	f->main_by = calloc(g->n_tensors + 1, sizeof(*f->main_by));
	f->others = calloc(g->n_tensors + 1, sizeof(*f->others));
	f->wants = calloc(most, sizeof(*f->wants));
	f->asked = calloc(most, sizeof(*f->asked));
	return f->main != NULL && f->main_by != NULL && f->others != NULL &&
	       f->wants != NULL && f->asked != NULL;
}

void msd_forms_finish(struct msd_forms *f)
{
	free(f->main);
	free((void *)f->main_by);
	free((void *)f->others);
	free(f->wants);
	free((void *)f->asked);
}

/* A layout of engine @by in which @t exists already; NULL: there is none. */
static const modserd_layout *existing(const struct msd_forms *f,
				      const struct msd_engine *by,
				      const modser_sg_tensor *t)
{
	const struct msd_reorder *r = t != NULL ? f->others[t->index] : NULL;

	if (t == NULL || f->main_by[t->index] == by)
		return t != NULL ? f->main[t->index].layout : NULL;
	while (r != NULL && (r->is_to_rows || strcmp(r->engine, by->name) != 0))
		r = r->other;
	return r != NULL ? r->layout : NULL;
}

/* MSD_UNSUPPORTED without a text: the layout cannot hold the tensor. */
static msd_err measure(const struct msd_forms *f, const char *name,
		       const modser_sg_tensor *t, struct msd_form *want,
		       struct msd_diag *d)
{
	if (want->layout == f->main[t->index].layout) {
		want->bytes = f->main[t->index].bytes;
		return MSD_OK;
	}
	if (!msd_plugin_check_layout(want->layout)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "engine %s: %s", name,
				    modser_registration_error());
	}
	want->bytes = want->layout->bytes(t);
	if (want->bytes > MOST_BYTES) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "engine %s: layout %s of \"%s\" takes %zu bytes",
				    name, want->layout->name, t->name, want->bytes);
	}
	return want->bytes > 0 ? MSD_OK : MSD_UNSUPPORTED;
}

static modser_sg_tensor *tensor_at(const modser_sg_node *node, size_t k)
{
	return k < node->n_inputs ? node->inputs[k] : node->outputs[k - node->n_inputs];
}

msd_err msd_forms_ask(struct msd_forms *f, const struct msd_entry_step *step,
		      struct msd_diag *d)
{
	const struct msd_engine *by = step->by->engine;
	const modser_sg_node *node = step->call.node;
	const size_t n = msd_entry_ends(step).n_in + msd_entry_ends(step).n_out;
	msd_err err = MSD_OK;

	memset(f->wants, 0, n * sizeof(*f->wants));
	if (by->lay_out == NULL)
		return MSD_OK;
	for (size_t k = 0; k < n; k++) {
		f->asked[k] =
			k < node->n_inputs ? existing(f, by, node->inputs[k]) : NULL;
	}
	if (!by->lay_out(step->by->state, node, f->asked, f->asked + node->n_inputs))
		return MSD_OK;
	for (size_t k = 0; err == MSD_OK && k < n; k++) {
		const modser_sg_tensor *t = tensor_at(node, k);

		if (t == NULL || f->asked[k] == NULL)
			continue;
		f->wants[k].layout = f->asked[k];
		err = measure(f, by->name, t, &f->wants[k], d);
	}
	if (err == MSD_UNSUPPORTED) {
		memset(f->wants, 0, n * sizeof(*f->wants));
		return MSD_OK;
	}
	return err;
}
