#ifndef MSD_TEST_VM_TREE_H
#define MSD_TEST_VM_TREE_H
/*
 * A tree as a load makes it, without a file: a Relax VM node over a library node whose
 * functions are C functions of the test.
 */
#include "runtime/module/node.h"
#include "runtime/value/value.h"
#include "tests/runtime/relax/image_writer.h"

#define TREE_MAX_FUNCS 8

struct vm_tree {
	struct msd_node vm;
	struct msd_node lib;
	struct msd_node *imports[1];
	struct msd_function funcs[TREE_MAX_FUNCS]; /* of the library */
	size_t n_funcs;
	struct msd_buf image;
};

/** Add a library function; before vm_tree_open(). */
void vm_tree_add(struct vm_tree *t, const char *name, msd_safe_call call);
/** Open and start the VM node on what @img holds. */
MSD_MUST_CHECK msd_err vm_tree_open(struct vm_tree *t, struct image *img,
				    struct msd_diag *d);
/** The same on the bytes that are in t->image already. */
MSD_MUST_CHECK msd_err vm_tree_open_bytes(struct vm_tree *t, struct msd_diag *d);
void vm_tree_close(struct vm_tree *t);
/** Call VM function @name; on failure the error's text is in @d. */
MSD_MUST_CHECK msd_err vm_tree_call(struct vm_tree *t, const char *name,
				    const struct msd_any *args, int32_t n,
				    struct msd_any *ret, struct msd_diag *d);

/**
 * Write the model main(x: float32[n]) = x + 1, whose library function addone is added
 * to @t: shape heap, checks, storage and tensor as TVM's compiler makes them.
 */
void addone_write(struct vm_tree *t, struct image *img);

/** A fresh float32 tensor of one dimension, as a value; one reference. */
struct msd_any f32_tensor(const float *data, int64_t n);
/** Element @i of a float32 tensor. */
float f32_at(const struct msd_any *v, int64_t i);
/** A shape as a value; one reference. */
struct msd_any shape_value(const int64_t *dim, size_t n);

#endif
