#ifndef MSD_CLI_NODE_TIMES_H
#define MSD_CLI_NODE_TIMES_H
/* The times of a model's nodes in one call, as tables, JSON, or a trace for Chrome. */
#include "client/modser.h"
#include "proto/base/bytes.h"

struct msd_node_time {
	char *name, *op, *engine, *implementation;
	int64_t node;       /* its number in the plan */
	int64_t operations; /* of its group, if it is the first node of one */
	int64_t group;      /* that node; -1: it runs alone */
	int64_t runs, ns, begin_ns;
	int64_t change_ns; /* of layouts for it, beside `ns` */
	bool is_body;      /* within a Loop, Scan or If, whose time includes it */
};

struct msd_node_times {
	struct msd_node_time *rows;
	size_t n;
	int64_t call_ns;
	int64_t threads;
	bool is_bad; /* memory is short */
};

/** Add the nodes of a page of module.plan. */
void msd_node_times_add(struct msd_node_times *t, const modser_value *page);
/** Set the times of @answer to module.profile. False: it has not one row a node. */
bool msd_node_times_set(struct msd_node_times *t, const modser_value *answer);
/** Append the call, its nodes, the longest first, and the sums of each operator. */
void msd_node_times_text(struct msd_buf *out, const struct msd_node_times *t,
			 bool for_people);
/** The same as a JSON object on one line. */
void msd_node_times_json(struct msd_buf *out, const struct msd_node_times *t);
/** Append a document of Chrome's Trace Event Format: chrome://tracing, Perfetto. */
void msd_node_times_chrome(struct msd_buf *out, const struct msd_node_times *t);
void msd_node_times_finish(struct msd_node_times *t);

#endif
