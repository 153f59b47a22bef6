#ifndef MSD_TMFILE_PLAN_H
#define MSD_TMFILE_PLAN_H
/*
 * How a graph is written: each node with an operator and parameters of Tengine's,
 * and without inputs that are parameters there. Constants that nothing reads any more
 * are left out, so nodes and tensors have numbers of their own in the file. The graph
 * itself does not change.
 */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/* A node as it is written. */
struct tm_node {
	const modser_sg_node *from;
	modser_sg_op *op;          /* the graph's, or made for the file */
	modser_sg_tensor **inputs; /* the graph's, or `own` */
	size_t n_inputs;
	size_t n_outputs;
	modser_sg_tensor *own[2]; /* inputs in another order */
	modser_graph *made;       /* owns the operators that are made */
	int64_t *lengths;         /* by tensor: the extent of what is written as a
				     vector; -1: as it is */
};

struct tm_plan {
	struct tm_node *nodes; /* one for each of the graph */
	uint32_t *node_at;     /* numbers in the file; TM_LEFT_OUT */
	uint32_t *tensor_at;
	size_t n_nodes, n_tensors; /* in the file */
	int64_t *lengths;
	modser_graph *made;
};

#define TM_LEFT_OUT UINT32_MAX

/** Plan how to write @g. 0, or -1 with the error of @g. Finish it in every case. */
MSD_MUST_CHECK int tm_plan_make(modser_graph *g, const modser_serializer *serializer,
				struct tm_plan *ret);
void tm_plan_finish(struct tm_plan *p);

/* A form writes an operator in Tengine's way. */
struct tm_form {
	const char *op;
	int (*write)(struct tm_node *n);
};
/* Each list ends with a form without a name. */
extern const struct tm_form tm_forms_always[]; /* also for graphs of tmfiles */
extern const struct tm_form tm_forms_element[];
extern const struct tm_form tm_forms_layer[];
extern const struct tm_form tm_forms_move[];
extern const struct tm_form tm_forms_window[];

/* Helpers for forms. */

/** Record why @n cannot be written. Returns -1. */
int tm_fail(const struct tm_node *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Give @n a new operator @op with its defaults. */
MSD_MUST_CHECK int tm_become(struct tm_node *n, const char *op);
/** Give @n a copy of its operator, to change it. */
MSD_MUST_CHECK int tm_copy(struct tm_node *n);
MSD_MUST_CHECK int tm_set_int(const struct tm_node *n, const char *param,
			      int64_t value);
MSD_MUST_CHECK int tm_set_float(const struct tm_node *n, const char *param,
				float value);
MSD_MUST_CHECK int tm_set_ints(const struct tm_node *n, const char *param,
			       const int64_t *values, size_t count);
/** A parameter of the node's operator in the graph. */
int64_t tm_int(const struct tm_node *n, const char *param);
/** Input @i of the node in the graph; NULL: none. */
const modser_sg_tensor *tm_input(const struct tm_node *n, size_t i);
/** Dimensions of input 0; -1: not known. */
int tm_ndim(const struct tm_node *n);
/** Number of elements; 0: not known, or none. */
uint64_t tm_elements(const modser_sg_tensor *t);
/** The integers of constant input @i. -1 with the error: it is not constant. */
MSD_MUST_CHECK int tm_ints(const struct tm_node *n, size_t i, int64_t *ret,
			   size_t *ret_n);
/** The one float32 of constant @t; false if it is none. */
MSD_MUST_CHECK bool tm_number(const modser_sg_tensor *t, float *ret);
/** Leave out all outputs but the first; -1: a node reads one, called @what. */
MSD_MUST_CHECK int tm_keep_output(struct tm_node *n, const char *what);
/** Make the parameter @param, an axis of @ndim, positive. */
MSD_MUST_CHECK int tm_set_axis(const struct tm_node *n, const char *param, int ndim);

#define TM_MAX_INTS 64u

#endif
