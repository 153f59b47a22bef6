#ifndef MSD_CLI_CELL_H
#define MSD_CLI_CELL_H
/* Formats one value of a map or a table by its key: bytes, a time, or as it is. */
#include "client/modser.h"
#include "proto/base/bytes.h"

/** True for nil, an empty text, or an absent value. */
bool msd_cell_is_empty(const modser_value *v);
/** True if a number at @key is a time; the cell then contains the unit. */
bool msd_cell_is_time(const char *key);
/** Append @v, which may be NULL. */
void msd_cell_put(struct msd_buf *out, const char *key, const modser_value *v,
		  bool for_people);

#endif
