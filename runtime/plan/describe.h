#ifndef MSD_RUNTIME_PLAN_DESCRIBE_H
#define MSD_RUNTIME_PLAN_DESCRIBE_H
/*
 * Describes a plan to people: a row for each node that runs, in the order of a run. The
 * rows of graphs within nodes (If, Loop, Scan) follow those of their plan. Engines and
 * shapes that are known only in a run are those of the last one.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_plan;

/* The most bytes of a page. A row has fewer: long names and lists are cut. */
#define MSD_PLAN_PAGE_BYTES 65536u

size_t msd_plan_row_count(struct msd_plan *plan);
/**
 * Append the page that begins with row @from, as much as fits: the result of
 * module.plan in PROTOCOL.md. Errors: MSD_BAD_ARGUMENT (@from is beyond the end),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_plan_put_page(struct msd_plan *plan, uint64_t from,
					 struct msd_buf *out, struct msd_diag *d);

#endif
