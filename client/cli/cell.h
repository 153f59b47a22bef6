#ifndef MSD_CLI_CELL_H
#define MSD_CLI_CELL_H
/* One value of a map or a table, as its key says: bytes, a time, or as it is. */
#include "client/modser.h"
#include "proto/bytes.h"

/** Nil, an empty text, or no value at all. */
bool msd_cell_is_empty(const modser_value *v);
/** A number at @key has a unit of time, which the cell says. */
bool msd_cell_is_time(const char *key);
/** Append @v, which may be NULL. */
void msd_cell_put(struct msd_buf *out, const char *key, const modser_value *v,
		  bool for_people);

#endif
