/* An inspected artifact as a picture and as listings of its programs. */
#include <inttypes.h>
#include <string.h>

#include "artifact/inspect/inspect.h"
#include "artifact/kind/look.h"
#include "proto/base/json.h"

void msd_inspect_dot(const struct msd_inspect *i, struct msd_buf *out)
{
	struct msd_buf label = {0};

	msd_buf_printf(out, "digraph modules {\n\tnode [shape=box];\n");
	for (uint32_t k = 0; k < i->n_modules; k++) {
		const struct msd_inspect_module *m = &i->modules[k];

		label.n = 0;
		msd_buf_printf(&label, "[%" PRIu32 "] %s", k, m->kind);
		if (strcmp(m->kind, "_lib") != 0)
			msd_buf_printf(&label, ", %" PRIu64 " bytes", m->bytes);
		/* JSON and Graphviz quote strings in the same way. */
		msd_buf_printf(out, "\tm%" PRIu32 " [label=", k);
		msd_json_str(out, (struct msd_span){label.p, label.n});
		msd_buf_printf(out, "];\n");
	}
	for (uint32_t k = 0; k < i->n_modules; k++) {
		for (uint32_t e = 0; e < i->modules[k].n_imports; e++) {
			msd_buf_printf(out, "\tm%" PRIu32 " -> m%" PRIu32 ";\n", k,
				       i->modules[k].imports[e]);
		}
	}
	msd_buf_printf(out, "}\n");
	out->bad |= label.bad;
	msd_buf_finish(&label);
}

static msd_err list_programs(const struct msd_tree *tree, enum msd_era era,
			     struct msd_buf *out, struct msd_diag *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n_modules; i++) {
		const struct msd_tree_module *m = &tree->modules[i];
		const struct msd_look *look = msd_look_find(m->kind);

		if (look == NULL || look->list == NULL)
			continue;
		msd_buf_printf(out, "%smodule %" PRIu32 "\n", n++ > 0 ? "\n" : "", i);
		msd_err err = look->list(m->payload, era, out, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "module %" PRIu32, i);
	}
	return n > 0 ? MSD_OK
		     : msd_diag_set(d, MSD_UNSUPPORTED,
				    "it holds no program of a virtual machine");
}

msd_err msd_inspect_programs(struct msd_span file, struct msd_buf *out,
			     struct msd_diag *d)
{
	struct msd_elf elf = {0};
	struct msd_tree tree = {0};
	msd_err err = msd_elf_read(file, &elf, d);

	if (err == MSD_OK) {
		enum msd_era era = msd_era_of(&elf);

		err = msd_tree_read_library(&elf, era, &tree, d);
		if (err == MSD_OK)
			err = list_programs(&tree, era, out, d);
	}
	msd_tree_finish(&tree);
	msd_elf_finish(&elf);
	return err;
}
