#ifndef MSD_CLI_JSON_H
#define MSD_CLI_JSON_H
/*
 * Formats values as JSON: maps are objects, tuples are arrays. A tensor is {"dtype",
 * "shape", "data"} with nested arrays; inf and nan are strings; bytes are {"bytes":
 * "00ff"}. The text is written during the walk, without a jansson document. A
 * document would multiply the memory of a tensor's elements, and numbers need the
 * shortest exact digits (docs/internals/decisions.md).
 */
#include "client/modser.h"
#include "proto/base/bytes.h"

/** Append @v as JSON; @out is bad if memory ran out. */
void msd_json_put_value(struct msd_buf *out, const modser_value *v);
/** Append `"dtype": "float32", "shape": [2, 3]`. */
void msd_json_put_type(struct msd_buf *out, const modser_tensor *t);

#endif
