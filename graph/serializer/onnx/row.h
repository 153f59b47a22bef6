#ifndef MSD_ONNX_ROW_H
#define MSD_ONNX_ROW_H
/*
 * How one operator of ONNX, from one version of it on, is one of ours. The rows stand
 * in the files named below; a new operator is a row.
 *
 * `params` are words, as modser_onnx_row of modser_graph.h has them.
 */
#include "graph/serializer/onnx/load.h"

struct onnx_row {
	const char *name;
	int64_t since;
	const char *op; /* ours; NULL: the function makes all that there is */
	const char *params;
	int (*load)(struct onnx_node *n); /* optional: the rest */
};

/* Each list ends with a row without a name. */
extern const struct onnx_row onnx_rows_element[];
extern const struct onnx_row onnx_rows_flow[];
extern const struct onnx_row onnx_rows_index[];
extern const struct onnx_row onnx_rows_ml[]; /* of ai.onnx.ml */
extern const struct onnx_row onnx_rows_move[];
extern const struct onnx_row onnx_rows_reduce[];
extern const struct onnx_row onnx_rows_quantized[];
extern const struct onnx_row onnx_rows_window[];
extern const struct onnx_row onnx_rows_layer[];
extern const struct onnx_row onnx_rows_recurrent[];
extern const struct onnx_row onnx_rows_signal[];
/** All of the project's, ended by NULL. */
extern const struct onnx_row *const onnx_rows[];

/* A walk over these and those that were added. */
struct onnx_row_walk {
	size_t list;
	const struct onnx_row *next;
	const struct onnx_added *added;
};
/** The next row; NULL: there are no more. Begin with a zeroed @w. */
const struct onnx_row *onnx_row_next(struct onnx_row_walk *w);

/** The row of @name in version @opset of @domain, NULL for ONNX's own: that of its
 * latest version until then. NULL: none; then *@ret_first is the first version that has
 * it, 0 when none does. */
const struct onnx_row *onnx_row_find(const char *domain, const char *name,
				     int64_t opset, int64_t *ret_first);
/** Is this ONNX's own domain? */
bool onnx_domain_is_own(const char *domain);
/** Are both the same domain? */
bool onnx_domain_is(const char *a, const char *b);
/** The row's domain; "": ONNX's own. */
const char *onnx_row_domain(const struct onnx_row *row);
/** The version of the row's domain that is written: of another than ONNX's own, the
 * latest that a row has. */
int64_t onnx_row_opset(const struct onnx_row *row);

#define ONNX_WORD_BYTES 64
/* One word of params. */
struct onnx_word {
	char attr[ONNX_WORD_BYTES];  /* "": none */
	char param[ONNX_WORD_BYTES]; /* "": none */
	bool is_required;
	bool is_fixed; /* the parameter is always `value` */
	bool has_value;
	double value;
};
/** Take the next word from *@at. False: there is none. */
bool onnx_word_next(const char **at, struct onnx_word *ret);

/** Set the parameters of @n as its attributes and @row say. */
MSD_MUST_CHECK int onnx_params_read(struct onnx_node *n, const struct onnx_row *row);

#endif
