/*
 * A shared library of TVM: the ELF file, and in it the tree of modules that the
 * library imports.
 *
 * Happy path: the file is read as ELF and checked against this machine, its symbols
 * determine the ABI, and the blob contains the tree. Each module gets a node; a graph
 * or program given with the library gets one more as the root. Then the nodes are
 * opened, the library last because that runs its constructors.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/elf/era.h"
#include "artifact/inspect/companion.h"
#include "artifact/inspect/inspect.h"
#include "artifact/inspect/program.h"
#include "artifact/kind/payload.h"
#include "artifact/tree/tree.h"
#include "proto/words/model_words.h"
#include "runtime/kind/kinds.h"
#include "runtime/load/format.h"

struct library {
	struct msd_elf elf;
	struct msd_tree tree;
	struct msd_program program; /* given with the library */
	struct msd_span given;      /* the kind of the graph or program given with the
				       library; empty: none */
};

static bool is_elf(struct msd_span file)
{
	return file.n >= SELFMAG && memcmp(file.p, ELFMAG, SELFMAG) == 0;
}

static bool is_library(const struct msd_tree_module *module)
{
	return msd_span_is(module->kind, "_lib");
}

/* The given graph or program imports the whole tree, like a module of its kind at the
 * root. */
static void given_create(struct msd_loaded *m, struct msd_span name,
			 struct msd_node **edge)
{
	const struct msd_node_kind *kind = msd_node_kind_find(name);
	struct msd_node *given = &m->nodes[m->n_nodes];

	*edge = m->root;
	*given = (struct msd_node){
		.ops = kind->ops,
		.index = m->n_nodes++,
		.kind = name,
		.kind_name = kind->name,
		.imports = edge,
		.n_imports = 1,
	};
	msd_node_init(given);
	m->root = given;
}

/* Create the nodes with their kinds and imports; nothing is opened. */
static msd_err nodes_create(struct msd_loaded *m, const struct msd_tree *tree,
			    struct msd_span given, struct msd_diag *d)
{
	bool has_library = false;
	size_t n_edges = 0;

	if (tree->n_modules == 0) /* the reader rejects such a file */
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "a tree without modules");
	for (uint32_t i = 0; i < tree->n_modules; i++)
		n_edges += tree->modules[i].n_imports;
	m->nodes = calloc(tree->n_modules + 1u, sizeof(*m->nodes));
	m->edges = calloc(n_edges + 1, sizeof(struct msd_node *));
	if (m->nodes == NULL || m->edges == NULL)
		return msd_diag_no_memory(d);
	struct msd_node **edge = m->edges;
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		const struct msd_tree_module *module = &tree->modules[i];
		const struct msd_node_kind *kind = msd_node_kind_find(module->kind);
		struct msd_node *node = &m->nodes[i];
		msd_node_init(node);
		node->index = i;
		node->kind = module->kind;
		node->kind_name = kind->name;
		node->imports = edge;
		node->n_imports = module->n_imports;
		for (uint32_t k = 0; k < module->n_imports; k++)
			*edge++ = &m->nodes[module->imports[k]];
		if (is_library(module))
			node->root = &m->nodes[0];
		if (is_library(module) && has_library) {
			node->ops = &msd_kind_library_again;
		} else {
			node->ops = kind->ops;
		}
		has_library = has_library || is_library(module);
	}
	m->n_modules = tree->n_modules;
	m->n_nodes = tree->n_modules;
	m->root = m->nodes;
	if (given.n > 0)
		given_create(m, given, edge);
	return MSD_OK;
}

static msd_err given_open(struct msd_loaded *m, const struct msd_node_context *ctx,
			  struct msd_span payload, struct msd_diag *d)
{
	struct msd_node_context own = *ctx;

	own.is_given = true;
	own.payload = payload;
	return m->root->ops->open(m->root, &own, d);
}

/* Open the library nodes if @libraries, else the other nodes. Libraries are last
 * because their constructors are code. */
static msd_err nodes_open(struct msd_loaded *m, const struct msd_tree *tree,
			  bool libraries, struct msd_node_context *ctx,
			  struct msd_diag *d)
{
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		struct msd_node *node = &m->nodes[i];
		if (is_library(&tree->modules[i]) != libraries)
			continue;
		ctx->payload = tree->modules[i].payload;
		msd_err err = node->ops->open(node, ctx, d);
		if (err != MSD_OK)
			return msd_loaded_wrap(m, node, err, d);
	}
	return MSD_OK;
}

static bool takes_params(struct msd_span kind)
{
	const struct msd_payload_kind *row = msd_payload_kind_find(kind);

	return row != NULL && row->takes_params;
}

/* If no module takes parameters, they were meant for another library. */
static msd_err check_params(const struct msd_tree *tree,
			    const struct msd_load_options *options, struct msd_diag *d)
{
	if (options->params.n == 0 || options->graph.n > 0)
		return MSD_OK;
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		if (takes_params(tree->modules[i].kind))
			return MSD_OK;
	}
	return msd_diag_set(
		d, MSD_UNSUPPORTED,
		"parameters were given, but none of its modules has parameters");
}

/* Reject options that apply to a framework's model only: the caller expects such a
 * model. */
static msd_err check_words(const struct msd_load_options *options, struct msd_diag *d)
{
	static const enum msd_run_key_id of_models[] = {
		MSD_RUN_FILL_KEY, MSD_RUN_OUTPUTS_KEY, MSD_RUN_SIGNATURE_KEY,
		MSD_RUN_ENGINE_KEY};

	if (options->files.n > 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "external data is for a framework's model, but "
				    "this is a compiled library: omit the files");
	}
	if (*options->run.words.input != '\0') {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"the option input is for a framework's model, but the shapes "
			"of this library are compiled in: omit input");
	}
	for (size_t i = 0; i < sizeof(of_models) / sizeof(of_models[0]); i++) {
		const struct msd_run_key *key = &msd_run_keys[of_models[i]];

		if (msd_run_option_is_given(key, &options->run)) {
			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"the option %s is for a framework's model, but this is "
				"a compiled library: omit it",
				key->name);
		}
	}
	return MSD_OK;
}

/* Write the text of inspect for the file with ABI @era; its facts are not needed
 * afterwards. */
static msd_err say(struct msd_loaded *m, const struct msd_load_source *from,
		   enum msd_era era, struct msd_diag *d)
{
	struct msd_inspect *inspect;
	msd_err err = msd_inspect_read(from->file,
				       era == MSD_ERA_CLASSIC ? MSD_ERA_SAID_CLASSIC
							      : MSD_ERA_SAID_FFI,
				       &inspect, d);

	if (err != MSD_OK)
		return err;
	msd_inspect_text(inspect, &m->about.text);
	m->about.era = msd_era_title(inspect->era);
	m->about.machine = strdup(inspect->machine);
	msd_inspect_destroy(inspect);
	if (m->about.machine == NULL || m->about.text.bad)
		return msd_diag_no_memory(d);
	return MSD_OK;
}

/* Read the file given with the library: a program, else a graph. If the library's ABI
 * is unknown, the file determines it. */
static msd_err read_given(struct library *lib, struct msd_span file, enum msd_era *era,
			  struct msd_diag *d)
{
	if (file.n == 0)
		return MSD_OK;
	lib->given = msd_span_of("GraphExecutorFactory");
	if (msd_companion_of(file) == MSD_COMPANION_PROGRAM) {
		const msd_err err = msd_program_read(file, *era, &lib->program, d);

		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "what came beside it");
		lib->given = lib->program.kind;
		*era = lib->program.era;
	} else if (*era == MSD_ERA_NONE) { /* graphs existed only in the classic ABI */
		*era = MSD_ERA_CLASSIC;
	}
	return MSD_OK;
}

/* Determine the library's ABI and read its tree. */
static msd_err read(struct library *lib, const struct msd_load_source *from,
		    enum msd_era *ret_era, struct msd_diag *d)
{
	msd_err err = msd_elf_read(from->file, &lib->elf, d);

	if (err == MSD_OK)
		err = msd_elf_check_host(&lib->elf, d);
	if (err != MSD_OK)
		return err;
	err = msd_era_choose(&lib->elf, from->options->run.era, ret_era, d);
	if (err == MSD_OK)
		err = read_given(lib, from->options->graph, ret_era, d);
	if (err == MSD_OK && *ret_era == MSD_ERA_NONE) {
		err = msd_diag_set(
			d, MSD_UNSUPPORTED,
			"a shared library without any symbol of TVM; if TVM's C target "
			"made it, give its calling convention: abi " MSD_ERA_WORDS);
	}
	if (err != MSD_OK)
		return err;
	err = msd_tree_read_library(&lib->elf, *ret_era, &lib->tree, d);
	if (err == MSD_OK)
		err = check_params(&lib->tree, from->options, d);
	return err == MSD_OK ? check_words(from->options, d) : err;
}

static msd_err open_library(struct msd_loaded *m, const struct msd_load_source *from,
			    struct msd_diag *d)
{
	struct library *lib = calloc(1, sizeof(*lib));
	struct msd_node_context ctx = {
		.fd = from->fd, .file = from->file, .options = from->options};

	m->form = lib;
	if (lib == NULL)
		return msd_diag_no_memory(d);
	ctx.elf = &lib->elf;
	msd_err err = read(lib, from, &ctx.era, d);
	if (err == MSD_OK)
		err = say(m, from, ctx.era, d);
	if (err == MSD_OK)
		err = nodes_create(m, &lib->tree, lib->given, d);
	if (err == MSD_OK && lib->given.n > 0)
		err = given_open(m, &ctx, lib->program.payload, d);
	if (err == MSD_OK)
		err = nodes_open(m, &lib->tree, false, &ctx, d);
	if (err == MSD_OK)
		err = nodes_open(m, &lib->tree, true, &ctx, d);
	return err;
}

static void close_library(void *form)
{
	struct library *lib = form;

	if (lib == NULL)
		return;
	msd_program_finish(&lib->program);
	msd_tree_finish(&lib->tree);
	msd_elf_finish(&lib->elf);
	free(lib);
}

const struct msd_format msd_format_library = {
	.name = "shared library",
	.is = is_elf,
	.open = open_library,
	.close = close_library,
};
