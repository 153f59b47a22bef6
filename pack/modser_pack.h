#ifndef MODSER_PACK_H
#define MODSER_PACK_H
/*
 * Import trees of TVM libraries, for programs in C: build one, save it as the blob that
 * a library holds behind one symbol, load a blob and look at it. Link with
 * -lmodser_pack. A tree belongs to one thread at a time; nothing here keeps a global
 * state. How blob and host code become a library: examples/pack_library.c, and
 * `modser pack`.
 */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whose layout: named by the oldest release that writes it. */
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

/** An empty tree, to be destroyed by the caller. NULL: out of memory, or no such
 * release. */
modser_tree *modser_tree_create(modser_release release);
void modser_tree_destroy(modser_tree *tree); /* NULL is fine */

/**
 * Add a module and return its number, 0 for the first, which is the root; -1 on
 * failure. @kind is "_lib" for the host code, which has no payload. @payload is copied.
 */
long modser_tree_add(modser_tree *tree, const char *kind, const void *payload,
		     size_t bytes);
/**
 * The same for device code of kind "cuda", "opencl", "hip" or another whose payload is
 * laid out like theirs; @format is "ptx", "cubin", "cl", ... All is copied.
 */
long modser_tree_add_kernels(modser_tree *tree, const char *kind, const char *format,
			     const void *code, size_t bytes,
			     const modser_kernel *kernels, size_t n);
/** Let module @parent import module @child. 0, or -1 on failure. */
int modser_tree_import(modser_tree *tree, long parent, long child);

/**
 * Number the modules as the release does and write the blob: from 0.8 on its libraries
 * become one, and what the root does not reach is left out. A tree that was loaded and
 * not changed gives the bytes that it was loaded from. 0 on success: *@ret_blob is
 * owned by the caller, who frees it with free(). -1 on failure; both are unchanged.
 */
int modser_tree_save(modser_tree *tree, unsigned char **ret_blob, size_t *ret_bytes);
/**
 * Read a blob with its size prefix; it is copied. Always a tree unless memory is out
 * or there is no such release (NULL); modser_tree_error() says what was wrong with the
 * blob, and the tree is then empty.
 */
modser_tree *modser_tree_load(modser_release release, const void *blob, size_t bytes);

/** The symbol behind which a library of that release holds its blob. Static. NULL:
 * no such release. */
const char *modser_tree_symbol(modser_release release);
/** What the last function that failed on @tree had against it; "" when none did. The
 * tree's own until the next function fails on it. */
const char *modser_tree_error(const modser_tree *tree);

/** How many modules it has. */
size_t modser_tree_count(const modser_tree *tree);
/** Kind of module @i, or NULL when there is no such module. The tree's own. */
const char *modser_tree_kind(const modser_tree *tree, size_t i);
/** Its payload, the tree's own until it changes. */
const void *modser_tree_payload(const modser_tree *tree, size_t i, size_t *ret_bytes);
size_t modser_tree_import_count(const modser_tree *tree, size_t i);
/** The number of the module that module @i imports as its @k-th; -1: no such. */
long modser_tree_import_at(const modser_tree *tree, size_t i, size_t k);

#ifdef __cplusplus
}
#endif

#endif
