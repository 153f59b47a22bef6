#ifndef MODSER_PACK_H
#define MODSER_PACK_H
/*
 * Import trees of TVM libraries, for C programs: build a tree, save it as the blob of
 * a library's symbol, load and read a blob. Link with -lmodser_pack. Only one thread
 * may use a tree at a time; there is no global state. See examples/pack_library.c and
 * `modser pack` for building a library from blob and host code.
 */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of a release, named by the oldest release that writes it. */
typedef enum modser_release {
	MODSER_TVM_0_6,
	MODSER_TVM_0_7,
	MODSER_TVM_0_8, /* to 0.20 */
	MODSER_TVM_0_21,
	MODSER_TVM_0_22 /* and later */
} modser_release;

/* One kernel of a device module. */
typedef struct modser_kernel {
	const char *name;
	const char *const *arg_types; /* "handle", "float32", "int64", ... */
	size_t n_args;
	const char *const *tags; /* launch parameters in order: "blockIdx.x", ... */
	size_t n_tags;
} modser_kernel;

typedef struct modser_tree modser_tree;

/**
 * Create an empty tree; the caller destroys it. NULL: out of memory, or unknown
 * release.
 */
modser_tree *modser_tree_create(modser_release release);
void modser_tree_destroy(modser_tree *tree); /* NULL is allowed */

/**
 * Add a module and return its number; the first one, 0, is the root; -1 on failure.
 * @kind is "_lib" for the host code, which has no payload. @payload is copied.
 */
long modser_tree_add(modser_tree *tree, const char *kind, const void *payload,
		     size_t bytes);
/**
 * The same for device code of kind "cuda", "opencl", "hip" or another kind with the
 * same payload layout; @format is "ptx", "cubin", "cl", ... Everything is copied.
 */
long modser_tree_add_kernels(modser_tree *tree, const char *kind, const char *format,
			     const void *code, size_t bytes,
			     const modser_kernel *kernels, size_t n);
/** Let module @parent import module @child. Returns 0, or -1 on failure. */
int modser_tree_import(modser_tree *tree, long parent, long child);

/**
 * Number the modules as the release does and write the blob. From 0.8 on the
 * libraries are merged into one, and modules that the root does not reach are
 * dropped. A loaded tree without changes gives the same bytes again. Returns 0 on
 * success: the caller owns *@ret_blob and frees it with free(). -1 on failure; both
 * are unchanged.
 */
int modser_tree_save(modser_tree *tree, unsigned char **ret_blob, size_t *ret_bytes);
/**
 * Read a blob with its size prefix; it is copied. Returns NULL if memory is out or
 * the release is unknown. Otherwise always returns a tree: if the blob is invalid,
 * the tree is empty and modser_tree_error() gives the reason.
 */
modser_tree *modser_tree_load(modser_release release, const void *blob, size_t bytes);

/**
 * The symbol of the blob in a library of that release. Static. NULL: unknown release.
 */
const char *modser_tree_symbol(modser_release release);
/**
 * The error text of the last function that failed on @tree; "" if none failed. Owned
 * by the tree, valid until the next function fails on it.
 */
const char *modser_tree_error(const modser_tree *tree);

/** The number of modules. */
size_t modser_tree_count(const modser_tree *tree);
/** Kind of module @i, or NULL if absent. Owned by the tree. */
const char *modser_tree_kind(const modser_tree *tree, size_t i);
/** Its payload, owned by the tree, valid until the tree changes. */
const void *modser_tree_payload(const modser_tree *tree, size_t i, size_t *ret_bytes);
size_t modser_tree_import_count(const modser_tree *tree, size_t i);
/** The number of the module that module @i imports as its @k-th; -1 if absent. */
long modser_tree_import_at(const modser_tree *tree, size_t i, size_t k);

#ifdef __cplusplus
}
#endif

#endif
