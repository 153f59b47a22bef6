#ifndef MSD_CLI_PARAMETERS_H
#define MSD_CLI_PARAMETERS_H
/* The daemon's description of one function's parameters. */
#include "client/modser.h"
#include "proto/dtype.h"

struct msd_parameters {
	modser_result
		*list; /* answer of function.list, storage of the rest; NULL: none */
	const modser_value *function; /* its map; NULL: not listed */
	const modser_value *params;   /* a tuple of maps; NULL: unknown */
};

/**
 * Request the description of @target, "module:function". End with
 * msd_parameters_finish() in any case. Errors: the daemon's, which ret->list then
 * holds; a function that is not listed is not an error.
 */
MSD_MUST_CHECK modser_err msd_parameters_ask(modser_client *client, const char *target,
					     uint32_t deadline_ms,
					     struct msd_parameters *ret);
/** Switch @s to the function @name of the same list; false: not listed. */
bool msd_parameters_find(struct msd_parameters *s, const char *name);
/** The parameter called @name, or else the @i-th; NULL if unknown. */
const modser_value *msd_parameters_param(const struct msd_parameters *s,
					 const char *name, size_t i);
/** Number of parameters that every call gives: those before the optional ones. */
size_t msd_parameters_needed(const struct msd_parameters *s);
bool msd_parameters_optional(const modser_value *param);
/** The text at @key of a parameter; NULL if absent. */
const char *msd_parameters_text(const modser_value *param, const char *key);
/** True if @param has the kind @kind: "tensor", "int", ... */
bool msd_parameters_is(const modser_value *param, const char *kind);
/** The dtype of a tensor parameter; false: unknown, or not a tensor. */
bool msd_parameters_dtype(const modser_value *param, struct msd_dtype *ret);
void msd_parameters_finish(struct msd_parameters *s);

#endif
