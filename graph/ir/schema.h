#ifndef MSD_GRAPH_IR_SCHEMA_H
#define MSD_GRAPH_IR_SCHEMA_H
/* The table of operators: the project's own and those that were registered. */
#include "graph/modser_graph.h"

/** The project's own, ended by NULL (graph/op/table.c). */
extern const modser_sg_op_schema *const msd_op_table[];

/** The operator that tmfiles call @type; NULL: none. */
const modser_sg_op_schema *msd_op_schema_of_tm(uint32_t type);
/** Number @i of all operators; NULL: there are fewer. */
const modser_sg_op_schema *msd_op_schema_at(size_t i);

#endif
