#ifndef MSD_ONNX_ROW_H
#define MSD_ONNX_ROW_H
/*
 * How one operator of ONNX, from one version of it on, is one of ours. The rows stand
 * in the files named below; a new operator is a row.
 *
 * `params` are words that say what becomes of the attributes:
 *   alpha      attribute alpha is parameter alpha
 *   size=n     attribute size is parameter n
 *   size!      it must be there
 *   axis:-1    ONNX's value when it is not there, where ours is another
 *   -seed      it says nothing to us
 *   type:=3    no attribute: the parameter is always this
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
extern const struct onnx_row onnx_rows_move[];
extern const struct onnx_row onnx_rows_reduce[];
extern const struct onnx_row onnx_rows_window[];
extern const struct onnx_row onnx_rows_layer[];
extern const struct onnx_row onnx_rows_recurrent[];
/** All of them, ended by NULL. */
extern const struct onnx_row *const onnx_rows[];

/** The row of @name in @opset: that of its latest version until then. NULL: none; then
 * *@ret_first is the opset that has it first, 0 when none does. */
const struct onnx_row *onnx_row_find(const char *name, int64_t opset,
				     int64_t *ret_first);

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
