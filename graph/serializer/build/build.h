#ifndef MSD_SERIALIZER_BUILD_H
#define MSD_SERIALIZER_BUILD_H
/*
 * Build a graph node by node, for formats whose operators become several of ours. Each
 * function returns the tensor that its node makes, or NULL with the error of the graph.
 * It also returns NULL if a tensor that it gets is NULL, so that calls can be nested
 * and only the last result is checked.
 */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_build {
	modser_graph *g;
	const char *name; /* name of new nodes and tensors */
};

/**
 * Add a node of @op with @n inputs; a NULL among them fails. Its parameters are set
 * next, then msd_build_done() infers its shape.
 */
modser_sg_tensor *msd_build_node(const struct msd_build *b, const char *op,
				 modser_sg_tensor *const *in, size_t n);
/** Add one more output to the node that makes @t. */
modser_sg_tensor *msd_build_output(const struct msd_build *b, modser_sg_tensor *t);
/** Set a parameter of the node that makes @t. */
modser_sg_tensor *msd_build_int(modser_sg_tensor *t, const char *param, int64_t v);
modser_sg_tensor *msd_build_float(modser_sg_tensor *t, const char *param, float v);
modser_sg_tensor *msd_build_text(modser_sg_tensor *t, const char *param, const char *v);
modser_sg_tensor *msd_build_list(modser_sg_tensor *t, const char *param,
				 const int64_t *v, size_t n);
modser_sg_tensor *msd_build_numbers(modser_sg_tensor *t, const char *param,
				    const float *v, size_t n);
/** Infer the node that makes @t, as far as the file determines it. */
modser_sg_tensor *msd_build_done(modser_sg_tensor *t);

/** A node without parameters, of one or two inputs. */
modser_sg_tensor *msd_build_one(const struct msd_build *b, const char *op,
				modser_sg_tensor *x);
modser_sg_tensor *msd_build_two(const struct msd_build *b, const char *op,
				modser_sg_tensor *x, modser_sg_tensor *y);
/** A reshape to @dims, and a transpose. */
modser_sg_tensor *msd_build_reshape(const struct msd_build *b, modser_sg_tensor *x,
				    const int64_t *dims, size_t n);
modser_sg_tensor *msd_build_transpose(const struct msd_build *b, modser_sg_tensor *x,
				      const int64_t *perm, size_t n);
/** A reduction of type @type (graph/op/reduce/reduce.h) that keeps its axes. */
modser_sg_tensor *msd_build_reduce(const struct msd_build *b, modser_sg_tensor *x,
				   int64_t type, const int64_t *axes, size_t n);

/** Constants, whose values are copied: float32, one float32, int64 of one dimension. */
modser_sg_tensor *msd_build_floats(const struct msd_build *b, const float *v,
				   const int64_t *dims, size_t n);
modser_sg_tensor *msd_build_number(const struct msd_build *b, float v);
modser_sg_tensor *msd_build_ints(const struct msd_build *b, const int64_t *v, size_t n);
/**
 * A constant whose bytes the graph frees with @release (NULL: they outlive it). On
 * failure the caller keeps them.
 */
modser_sg_tensor *msd_build_constant(const struct msd_build *b, const char *dtype,
				     const int64_t *dims, size_t n, const void *bytes,
				     void (*release)(void *bytes));

/** Give @t another name. -1: memory is short, or @name is not UTF-8. */
MSD_MUST_CHECK int msd_build_rename(modser_sg_tensor *t, const char *name);

#endif
