#include "graph/layout/in_place.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"

/* Sorted. tests/graph/test_in_place.c runs each in all engines. */
static const char *const ops[] = {
	"Absval", "Acos",      "Acosh",       "Add",        "Asin",
	"Asinh",  "Atan",      "Atanh",       "Bitwise",    "BitwiseNot",
	"Ceil",   "Celu",      "Clip",        "Cos",        "Cosh",
	"Div",    "Elu",       "Erf",         "Exp",        "Floor",
	"Gelu",   "HardSwish", "Hardsigmoid", "Log",        "Mish",
	"Mod",    "Mul",       "Neg",         "Not",        "PReLU",
	"Pow",    "ReLu",      "ReLu6",       "Reciprocal", "Round",
	"Selu",   "Shrink",    "Sigmoid",     "Sign",       "Sin",
	"Sinh",   "Softplus",  "Softsign",    "Sqrt",       "SquaredDifference",
	"Sub",    "Swish",     "Tan",         "Tanh",       "ThresholdedRelu",
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

bool msd_op_runs_in_place(const modser_sg_node *node)
{
	return node->op != NULL &&
	       bsearch(node->op->schema->name, (const void *)ops,
		       sizeof(ops) / sizeof(ops[0]), sizeof(ops[0]), compare) != NULL;
}
