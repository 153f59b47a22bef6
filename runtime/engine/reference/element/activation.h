#ifndef MSD_RUNTIME_ENGINE_REFERENCE_ACTIVATION_H
#define MSD_RUNTIME_ENGINE_REFERENCE_ACTIVATION_H
/* Activation functions of recurrent layers, by name. */
#include "graph/op/recurrent/recurrent.h"
#include "proto/base/err.h"

struct msd_activation {
	double (*f)(double x, double a, double b);
	double a;
	double b;
};

/** Activation @i of the node's list, or @otherwise if the list is empty. */
MSD_MUST_CHECK msd_err msd_activation_read(const struct msd_op_recurrent *r, size_t i,
					   const char *otherwise,
					   struct msd_activation *ret,
					   struct msd_diag *d);
double msd_activate(const struct msd_activation *f, double x);

#endif
