#ifndef MSD_CLI_PARAMETERS_H
#define MSD_CLI_PARAMETERS_H
/* What the daemon says of one function's parameters. */
#include "client/modser.h"
#include "proto/dtype.h"

struct msd_parameters {
	modser_result *list; /* function.list's, which all else lies in; NULL: none */
	const modser_value *function; /* its map; NULL: it is not in the list */
	const modser_value *params;   /* a tuple of maps; NULL: they are not known */
};

/**
 * Ask for that of @target, "module:function". End with msd_parameters_finish() in any
 * case. Errors: the daemon's, which ret->list then holds; a function that is not listed
 * is none.
 */
MSD_MUST_CHECK modser_err msd_parameters_ask(modser_client *client, const char *target,
					     uint32_t deadline_ms,
					     struct msd_parameters *ret);
/** Have @s be about the function @name of the same list; false: it is not in it. */
bool msd_parameters_find(struct msd_parameters *s, const char *name);
/** The parameter called @name, or else the @i-th; NULL when it is not known. */
const modser_value *msd_parameters_param(const struct msd_parameters *s,
					 const char *name, size_t i);
/** The text at @key of a parameter; NULL: there is none. */
const char *msd_parameters_text(const modser_value *param, const char *key);
/** Is @param of that kind: "tensor", "int", ...? */
bool msd_parameters_is(const modser_value *param, const char *kind);
/** The dtype of a parameter that is a tensor; false: it is not known, or is none. */
bool msd_parameters_dtype(const modser_value *param, struct msd_dtype *ret);
void msd_parameters_finish(struct msd_parameters *s);

#endif
