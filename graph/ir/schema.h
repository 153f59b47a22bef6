#ifndef MSD_GRAPH_IR_SCHEMA_H
#define MSD_GRAPH_IR_SCHEMA_H
/* The table of operators: built-in and registered. */
#include "graph/modser_graph.h"

/** The built-in operators, ended by NULL (graph/op/table.c). */
extern const modser_sg_op_schema *const msd_op_table[];

/** Operator @i of all; NULL if there are fewer. */
const modser_sg_op_schema *msd_op_schema_at(size_t i);

#endif
