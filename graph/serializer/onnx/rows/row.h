#ifndef MSD_ONNX_ROW_H
#define MSD_ONNX_ROW_H
/*
 * Mapping of an ONNX operator, from one version on, to an operator of this library.
 * The rows are in the files below; a new operator is a row.
 *
 * `params` are words, as in modser_onnx_row of modser_graph.h.
 */
#include "graph/serializer/onnx/load.h"

struct onnx_row {
	const char *name;
	int64_t since;
	const char *op; /* operator name here; NULL: the function creates everything */
	const char *params;
	int (*load)(struct onnx_node *n); /* optional: does the rest */
};

/* Each list ends with a row without a name. */
extern const struct onnx_row onnx_rows_element[];
extern const struct onnx_row onnx_rows_flow[];
extern const struct onnx_row onnx_rows_index[];
extern const struct onnx_row onnx_rows_microsoft[];   /* of com.microsoft */
extern const struct onnx_row onnx_rows_microsoft_q[]; /* the same, quantized */
extern const struct onnx_row onnx_rows_microsoft_fused[];
extern const struct onnx_row onnx_rows_microsoft_cache[];
extern const struct onnx_row onnx_rows_ml[]; /* of ai.onnx.ml */
extern const struct onnx_row onnx_rows_move[];
extern const struct onnx_row onnx_rows_reduce[];
extern const struct onnx_row onnx_rows_quantized[];
extern const struct onnx_row onnx_rows_window[];
extern const struct onnx_row onnx_rows_layer[];
extern const struct onnx_row onnx_rows_recurrent[];
extern const struct onnx_row onnx_rows_signal[];
/** All built-in rows, ended by NULL. */
extern const struct onnx_row *const onnx_rows[];

/* A walk over the built-in and the added rows. */
struct onnx_row_walk {
	size_t list;
	const struct onnx_row *next;
	const struct onnx_added *added;
};
/** The next row; NULL at the end. Begin with a zeroed @w. */
const struct onnx_row *onnx_row_next(struct onnx_row_walk *w);

/**
 * The row of @name in version @opset of @domain, NULL for ONNX's own: the latest
 * version up to @opset. NULL if absent; then *@ret_first is the first version that
 * has it, 0 if none does.
 */
const struct onnx_row *onnx_row_find(const char *domain, const char *name,
				     int64_t opset, int64_t *ret_first);
/** True if this is ONNX's own domain. */
bool onnx_domain_is_own(const char *domain);
/** True if both are the same domain. */
bool onnx_domain_is(const char *a, const char *b);
/** The row's domain; "": ONNX's own. */
const char *onnx_row_domain(const struct onnx_row *row);
/**
 * The written version of the row's domain: for a domain of added rows, the latest of
 * any row; 0 for a domain that is only read.
 */
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
/** Take the next word from *@at. False at the end. */
bool onnx_word_next(const char **at, struct onnx_word *ret);

/** Set the parameters of @n from its attributes and @row. */
/** Set parameter @param from attribute @attr; unchanged if the attribute is absent. */
MSD_MUST_CHECK int onnx_param_read(const struct onnx_node *n, const char *attr,
				   const char *param);
MSD_MUST_CHECK int onnx_params_read(struct onnx_node *n, const struct onnx_row *row);

#endif
