/*
 * Inspect a file: read the ELF, copy names and symbols with their providers, the
 * signatures in the code's texts (signature.c), then the tree, and each module's
 * facts and details (look.c). Everything is copied and made printable: the caller may
 * free the file and print all strings.
 */
#include "artifact/inspect/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/elf/plugin.h"
#include "artifact/inspect/companion.h"
#include "artifact/inspect/private.h"
#include "artifact/printable.h"
#include "artifact/provides/provides.h"

static char *copy_name(const char *name)
{
	return msd_printable_copy(msd_span_of(name));
}

static void free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static msd_err copy_needed(const struct msd_elf *elf, struct msd_inspect *in,
			   struct msd_diag *d)
{
	in->needed =
		calloc(elf->n_needed > 0 ? elf->n_needed : 1u, sizeof(*in->needed));
	if (elf->search_path != NULL)
		in->search_path = copy_name(elf->search_path);
	if (in->needed == NULL || (elf->search_path != NULL && in->search_path == NULL))
		return msd_diag_no_memory(d);
	while (in->n_needed < elf->n_needed) {
		char *name = copy_name(elf->needed[in->n_needed]);

		if (name == NULL)
			return msd_diag_no_memory(d);
		in->needed[in->n_needed++] = name;
	}
	return MSD_OK;
}

static msd_err add_name(char **list, size_t *n, const char *name, struct msd_diag *d)
{
	char *copy = copy_name(name);

	if (copy == NULL)
		return msd_diag_no_memory(d);
	list[(*n)++] = copy;
	return MSD_OK;
}

/* Add an undefined symbol, with its provider if the file names one. */
static msd_err add_undefined(struct msd_inspect *in, const struct msd_elf_sym *sym,
			     struct msd_diag *d)
{
	const char *who = msd_provides_name(MSD_PROVIDED_SYMBOLS, sym->name)
				  ? "modserd"
				  : sym->library;
	msd_err err = add_name(in->undefined, &in->n_undefined, sym->name, d);

	if (err != MSD_OK || who == NULL)
		return err;
	in->providers[in->n_undefined - 1] = copy_name(who);
	return in->providers[in->n_undefined - 1] != NULL ? MSD_OK
							  : msd_diag_no_memory(d);
}

/* A pointer global that the loader must fill, with a name that it does not know. */
static bool is_unknown_slot(const struct msd_elf_sym *sym)
{
	return sym->defined && sym->type == MSD_SYM_OBJECT &&
	       strncmp(sym->name, "__TVM", 5) == 0 &&
	       !msd_provides_name(MSD_PROVIDED_SLOTS, sym->name);
}

/* Copy functions and undefined symbols; the sorted order is kept. */
static msd_err copy_symbols(const struct msd_elf *elf, struct msd_inspect *in,
			    struct msd_diag *d)
{
	size_t n = elf->n_syms > 0 ? elf->n_syms : 1u;
	msd_err err = MSD_OK;

	in->functions = calloc(n, sizeof(*in->functions));
	in->signatures = calloc(n, sizeof(*in->signatures));
	in->undefined = calloc(n, sizeof(*in->undefined));
	in->providers = calloc(n, sizeof(*in->providers));
	in->unknown_slots = calloc(n, sizeof(*in->unknown_slots));
	if (in->functions == NULL || in->signatures == NULL || in->undefined == NULL ||
	    in->providers == NULL || in->unknown_slots == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < elf->n_syms && err == MSD_OK; i++) {
		const struct msd_elf_sym *sym = &elf->syms[i];
		const char *name = msd_era_function_name(in->era, sym);

		if (name != NULL) {
			err = add_name(in->functions, &in->n_functions, name, d);
		} else if (msd_elf_sym_is_wanted(sym)) {
			err = add_undefined(in, sym, d);
		} else if (is_unknown_slot(sym)) {
			err = add_name(in->unknown_slots, &in->n_unknown_slots,
				       sym->name, d);
		}
	}
	return err;
}

static msd_err copy_module(const struct msd_tree_module *from, struct msd_span file,
			   enum msd_era era, struct msd_inspect_module *to,
			   struct msd_diag *d)
{
	size_t n = from->n_imports > 0 ? from->n_imports : 1u;

	to->kind = msd_printable_copy(from->kind);
	to->bytes = from->payload.n;
	if (to->bytes > 0)
		to->offset = (uint64_t)(from->payload.p - file.p);
	to->imports = calloc(n, sizeof(*to->imports));
	if (to->kind == NULL || to->imports == NULL)
		return msd_diag_no_memory(d);
	if (from->n_imports > 0)
		memcpy(to->imports, from->imports, n * sizeof(*to->imports));
	to->n_imports = from->n_imports;
	msd_err err =
		msd_payload_describe(from->kind, from->payload, era, &to->info, d);
	return err == MSD_OK ? msd_inspect_look(from, era, to, d) : err;
}

/* The module with the unknown end is the first of an unknown kind. */
static msd_err tell_cut(const struct msd_tree *tree, struct msd_inspect *in,
			struct msd_diag *d)
{
	uint32_t i = 0;

	while (i + 1 < tree->n_modules &&
	       (msd_span_is(tree->modules[i].kind, "_lib") ||
		msd_payload_kind_find(tree->modules[i].kind) != NULL))
		i++;
	return msd_payload_info_add(&in->modules[i].info, "unsupported",
				    "modserd does not know this kind, so it cannot "
				    "read the modules after it")
		       ? MSD_OK
		       : msd_diag_no_memory(d);
}

static msd_err copy_tree(const struct msd_elf *elf, struct msd_inspect *in,
			 struct msd_diag *d)
{
	struct msd_tree tree = {0};
	msd_err err = msd_tree_show_library(elf, in->era, &tree, d);

	if (err != MSD_OK)
		return err;
	in->layout = tree.layout;
	in->modules = calloc(tree.n_modules, sizeof(*in->modules));
	if (in->modules == NULL) {
		msd_tree_finish(&tree);
		return msd_diag_no_memory(d);
	}
	while (in->n_modules < tree.n_modules && err == MSD_OK) {
		uint32_t i = in->n_modules++;

		err = copy_module(&tree.modules[i], elf->image, in->era,
				  &in->modules[i], d);
	}
	if (err == MSD_OK && tree.is_cut)
		err = tell_cut(&tree, in, d);
	msd_tree_finish(&tree);
	return err;
}

static msd_err copy_brings(const struct msd_elf *elf, struct msd_inspect *in,
			   struct msd_diag *d)
{
	struct msd_plugin_list list;
	msd_err err = msd_elf_plugin_list(elf, &list, d);

	if (err != MSD_OK)
		return err;
	in->is_plugin = true;
	in->brings = calloc(list.n > 0 ? list.n : 1u, sizeof(*in->brings));
	if (in->brings == NULL)
		err = msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < list.n; i++) {
		const struct msd_plugin_item *item = &list.items[i];

		if (asprintf(&in->brings[i], "%s %s", msd_plugin_word_name(item->word),
			     item->name) < 0) {
			err = msd_diag_no_memory(d);
		} else {
			in->n_brings++;
		}
	}
	msd_plugin_list_finish(&list);
	return err;
}

msd_err msd_inspect_read(struct msd_span file, enum msd_abi_word said,
			 struct msd_inspect **ret, struct msd_diag *d)
{
	char machine[MSD_MACHINE_NAME_MAX];
	struct msd_elf elf = {0};
	msd_err err = msd_companion_refuse(file, d);

	if (err == MSD_OK)
		err = msd_elf_read(file, &elf, d);
	if (err != MSD_OK)
		return err;
	struct msd_inspect *in = calloc(1, sizeof(*in));
	if (in == NULL) {
		msd_elf_finish(&elf);
		return msd_diag_no_memory(d);
	}
	in->file_bytes = file.n;
	in->needs_neighbours = elf.uses_origin;
	in->machine = strdup(msd_elf_machine_format(elf.machine, machine));
	err = in->machine != NULL ? msd_era_choose(&elf, said, &in->era, d)
				  : msd_diag_no_memory(d);
	if (err == MSD_OK)
		err = copy_needed(&elf, in, d);
	if (err == MSD_OK)
		err = copy_symbols(&elf, in, d);
	if (err == MSD_OK)
		err = msd_inspect_signatures(in, &elf, d);
	if (err == MSD_OK)
		err = copy_tree(&elf, in, d);
	if (err == MSD_OK && msd_elf_is_plugin(&elf))
		err = copy_brings(&elf, in, d);
	msd_elf_finish(&elf);
	if (err != MSD_OK) {
		msd_inspect_destroy(in);
		return err;
	}
	*ret = in;
	return MSD_OK;
}

void msd_inspect_destroy(struct msd_inspect *i)
{
	if (i == NULL)
		return;
	for (uint32_t k = 0; k < i->n_modules; k++) {
		free(i->modules[k].kind);
		free(i->modules[k].imports);
		msd_payload_info_finish(&i->modules[k].info);
		msd_gpu_code_finish(&i->modules[k].gpu);
		msd_model_finish(&i->modules[k].model);
	}
	free(i->modules);
	free_names(i->functions, i->n_functions);
	free_names(i->signatures, i->signatures != NULL ? i->n_functions : 0);
	free_names(i->providers, i->providers != NULL ? i->n_undefined : 0);
	free_names(i->unknown_slots, i->n_unknown_slots);
	free_names(i->places, i->places != NULL ? i->n_needed : 0);
	free_names(i->needed, i->n_needed);
	free_names(i->brings, i->n_brings);
	free(i->search_path);
	free_names(i->undefined, i->n_undefined);
	free(i->machine);
	free(i);
}
