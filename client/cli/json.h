#ifndef MSD_CLI_JSON_H
#define MSD_CLI_JSON_H
/*
 * Values as JSON: maps are objects, tuples arrays; a tensor is {"dtype", "shape",
 * "data"} with nested arrays; inf and nan are strings; bytes are {"bytes": "00ff"}.
 * Written as they are walked, and not as a document of jansson's like the rest: a
 * tensor's elements would take several times their room, and numbers need the fewest
 * digits that mean the same (docs/decisions.md).
 */
#include "client/modser.h"
#include "proto/bytes.h"

/** Append @v in that form; @out is bad when memory is short. */
void msd_json_put_value(struct msd_buf *out, const modser_value *v);
/** Append `"dtype": "float32", "shape": [2, 3]`. */
void msd_json_put_type(struct msd_buf *out, const modser_tensor *t);

#endif
