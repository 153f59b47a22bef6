/*
 * libmodser_pack: a C interface for the serializer. A tree here owns all its data;
 * the serializer's tree is built from borrowed parts for each save. A loaded tree
 * remembers the layout of its blob until a module is added, so that it can be written
 * unchanged, byte for byte.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/gpu/device_blob.h"
#include "artifact/tree/write.h"
#include "pack/modser_pack.h"
#include "proto/base/grow.h"
#include "proto/dtype.h"

struct module {
	char *kind;
	struct msd_buf payload;
	uint32_t *imports;
	uint32_t n_imports;
};

struct modser_tree {
	modser_release release;
	struct module *modules;
	uint32_t n;
	bool is_as_read;      /* nothing was added since it was loaded */
	struct msd_tree form; /* layout of the loaded blob; without its modules */
	struct msd_diag d;
};

static const struct release {
	enum msd_era era;
	enum msd_tree_style style;
} releases[] = {
	[MODSER_TVM_0_6] = {MSD_ERA_CLASSIC, MSD_TREE_06},
	[MODSER_TVM_0_7] = {MSD_ERA_CLASSIC, MSD_TREE_07},
	[MODSER_TVM_0_8] = {MSD_ERA_CLASSIC, MSD_TREE_08},
	[MODSER_TVM_0_21] = {MSD_ERA_FFI_021, MSD_TREE_08},
	[MODSER_TVM_0_22] = {MSD_ERA_FFI, MSD_TREE_022},
};

static bool is_known(modser_release release)
{
	return (size_t)release < sizeof(releases) / sizeof(*releases);
}

static int fail(modser_tree *tree, msd_err err, const char *what)
{
	(void)msd_diag_set(&tree->d, err, "%s", what);
	return -1;
}

modser_tree *modser_tree_create(modser_release release)
{
	modser_tree *tree = is_known(release) ? calloc(1, sizeof(*tree)) : NULL;

	if (tree != NULL)
		tree->release = release;
	return tree;
}

void modser_tree_destroy(modser_tree *tree)
{
	if (tree == NULL)
		return;
	for (uint32_t i = 0; i < tree->n; i++) {
		free(tree->modules[i].kind);
		free(tree->modules[i].imports);
		msd_buf_finish(&tree->modules[i].payload);
	}
	free(tree->modules);
	msd_tree_finish(&tree->form);
	msd_diag_finish(&tree->d);
	free(tree);
}

/* Takes ownership of @payload, on failure too. */
static long add(modser_tree *tree, const char *kind, size_t kind_bytes,
		struct msd_buf *payload)
{
	char *copy = strndup(kind, kind_bytes);

	if (copy == NULL || payload->bad || tree->n >= MSD_MAX_MODULES ||
	    !msd_grow(&tree->modules, tree->n, sizeof(*tree->modules))) {
		msd_buf_finish(payload);
		free(copy);
		return fail(tree, MSD_NOMEM,
			    tree->n < MSD_MAX_MODULES ? "out of memory"
						      : "more than 4096 modules");
	}
	tree->is_as_read = false;
	tree->modules[tree->n] = (struct module){.kind = copy, .payload = *payload};
	return (long)tree->n++;
}

long modser_tree_add(modser_tree *tree, const char *kind, const void *payload,
		     size_t bytes)
{
	struct msd_buf copy = {0};

	msd_buf_put(&copy, payload, bytes);
	return add(tree, kind, strlen(kind), &copy);
}

/* 0.21 and later write the name twice, and a tag per argument. */
static msd_err fill_kernel(const modser_kernel *from, enum msd_era era,
			   struct msd_kernel *to, struct msd_diag *d)
{
	*to = (struct msd_kernel){
		.name = msd_span_of(from->name),
		.args = calloc(from->n_args + 1, sizeof(*to->args)),
		.tags = calloc(from->n_tags + 1, sizeof(*to->tags)),
		.extra = calloc(from->n_args + 1, sizeof(*to->extra)),
	};
	if (to->args == NULL || to->tags == NULL || to->extra == NULL)
		return msd_diag_no_memory(d);
	if (era != MSD_ERA_CLASSIC) {
		to->info_name = to->name;
		to->n_extra = from->n_args;
	}
	for (; to->n_args < from->n_args; to->n_args++) {
		const char *type = from->arg_types[to->n_args];

		if (!msd_dtype_parse(type, strlen(type), &to->args[to->n_args])) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "kernel %s: \"%s\" is not a type",
					    from->name, type);
		}
	}
	for (; to->n_tags < from->n_tags; to->n_tags++)
		to->tags[to->n_tags] = msd_span_of(from->tags[to->n_tags]);
	return MSD_OK;
}

long modser_tree_add_kernels(modser_tree *tree, const char *kind, const char *format,
			     const void *code, size_t bytes,
			     const modser_kernel *kernels, size_t n)
{
	enum msd_era era = releases[tree->release].era;
	struct msd_device_blob b = {
		.format = msd_span_of(format),
		.code = {code, bytes},
		.kernels = calloc(n + 1, sizeof(*b.kernels)),
		.n_kernels = n,
	};
	struct msd_buf payload = {0};
	msd_err err = b.kernels != NULL ? MSD_OK : msd_diag_no_memory(&tree->d);

	for (size_t i = 0; i < n && err == MSD_OK; i++)
		err = fill_kernel(&kernels[i], era, &b.kernels[i], &tree->d);
	if (err == MSD_OK)
		err = msd_device_blob_write(&b, era, &payload, &tree->d);
	msd_device_blob_finish(&b);
	if (err == MSD_OK)
		return add(tree, kind, strlen(kind), &payload);
	msd_buf_finish(&payload);
	return -1;
}

int modser_tree_import(modser_tree *tree, long parent, long child)
{
	if (parent < 0 || child < 0 || (unsigned long)parent >= tree->n ||
	    (unsigned long)child >= tree->n)
		return fail(tree, MSD_BAD_ARGUMENT, "no module has that number");
	struct module *m = &tree->modules[parent];
	if (!msd_grow(&m->imports, m->n_imports, sizeof(*m->imports)))
		return fail(tree, MSD_NOMEM, "out of memory");
	m->imports[m->n_imports++] = (uint32_t)child;
	tree->is_as_read = false;
	return 0;
}

int modser_tree_save(modser_tree *tree, unsigned char **ret_blob, size_t *ret_bytes)
{
	struct msd_tree given = {.n_modules = tree->n};
	struct msd_tree numbered = {0};
	struct msd_buf out = {0};

	if (tree->n == 0)
		return fail(tree, MSD_BAD_ARGUMENT, "the tree has no modules");
	given.modules = calloc(tree->n, sizeof(*given.modules));
	if (given.modules == NULL)
		return fail(tree, MSD_NOMEM, "out of memory");
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct module *m = &tree->modules[i];

		given.modules[i] = (struct msd_tree_module){
			.kind = msd_span_of(m->kind),
			.payload = {m->payload.p, m->payload.n},
			.imports = m->imports,
			.n_imports = m->n_imports,
		};
	}
	given.layout = tree->form.layout;
	given.has_import_tree = tree->form.has_import_tree;
	given.entries = tree->form.entries;
	given.n_entries = tree->form.n_entries;
	msd_err err = MSD_OK;
	if (!tree->is_as_read) {
		err = msd_tree_order(&given, releases[tree->release].style, &numbered,
				     &tree->d);
	}
	if (err == MSD_OK) {
		err = msd_tree_write(tree->is_as_read ? &given : &numbered, &out,
				     &tree->d);
	}
	msd_tree_finish(&numbered);
	free(given.modules);
	if (err != MSD_OK) {
		msd_buf_finish(&out);
		return -1;
	}
	*ret_blob = out.p;
	*ret_bytes = out.n;
	return 0;
}

static msd_err copy_tree(modser_tree *tree, const struct msd_tree *from)
{
	for (uint32_t i = 0; i < from->n_modules; i++) {
		const struct msd_tree_module *m = &from->modules[i];
		struct msd_buf payload = {0};

		msd_buf_put(&payload, m->payload.p, m->payload.n);
		if (add(tree, (const char *)m->kind.p, m->kind.n, &payload) < 0)
			return MSD_NOMEM;
	}
	for (uint32_t i = 0; i < from->n_modules; i++) {
		for (uint32_t k = 0; k < from->modules[i].n_imports; k++) {
			if (modser_tree_import(tree, (long)i,
					       (long)from->modules[i].imports[k]) != 0)
				return MSD_NOMEM;
		}
	}
	return MSD_OK;
}

modser_tree *modser_tree_load(modser_release release, const void *blob, size_t bytes)
{
	modser_tree *tree = modser_tree_create(release);
	struct msd_tree read = {0};

	if (tree == NULL)
		return NULL;
	msd_err err = msd_tree_read_blob((struct msd_span){blob, bytes},
					 releases[release].era, &read, &tree->d);
	if (err == MSD_OK)
		err = copy_tree(tree, &read);
	if (err == MSD_OK) {
		tree->form.layout = read.layout;
		tree->form.has_import_tree = read.has_import_tree;
		tree->form.entries = read.entries;
		tree->form.n_entries = read.n_entries;
		read.entries = NULL;
		tree->is_as_read = true;
	}
	msd_tree_finish(&read);
	if (err != MSD_NOMEM)
		return tree;
	modser_tree_destroy(tree);
	return NULL;
}

const char *modser_tree_symbol(modser_release release)
{
	return is_known(release) ? msd_era_names(releases[release].era)->blob : NULL;
}

const char *modser_tree_error(const modser_tree *tree)
{
	return tree->d.code != MSD_OK ? msd_diag_text(&tree->d) : "";
}

size_t modser_tree_count(const modser_tree *tree)
{
	return tree->n;
}

const char *modser_tree_kind(const modser_tree *tree, size_t i)
{
	return i < tree->n ? tree->modules[i].kind : NULL;
}

const void *modser_tree_payload(const modser_tree *tree, size_t i, size_t *ret_bytes)
{
	if (i >= tree->n)
		return NULL;
	*ret_bytes = tree->modules[i].payload.n;
	return tree->modules[i].payload.p;
}

size_t modser_tree_import_count(const modser_tree *tree, size_t i)
{
	return i < tree->n ? tree->modules[i].n_imports : 0;
}

long modser_tree_import_at(const modser_tree *tree, size_t i, size_t k)
{
	return k < modser_tree_import_count(tree, i) ? (long)tree->modules[i].imports[k]
						     : -1;
}
