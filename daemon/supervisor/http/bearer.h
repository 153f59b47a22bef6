#ifndef MSD_SUPERVISOR_BEARER_H
#define MSD_SUPERVISOR_BEARER_H
/*
 * What a request of the HTTP front may do: that of the way it came, and where there is
 * a file of rights, that of the user whose token it shows (`Authorization: Bearer`).
 * Without a token it is anonymous. Each request is asked for itself.
 */
#include "daemon/supervisor/http/asking.h"
#include "proto/method.h"

/**
 * May @a do what needs the right of @method, with the module @name, where it is about
 * one? False: it was answered.
 */
MSD_MUST_CHECK bool msd_bearer_may(struct msd_asking *a, enum msd_method method,
				   struct msd_span name);
/** The session of @a's caller stands as who shows this token, for this request, which
 * is as one for @method: what it may do standing.h says then. An error was answered.
 */
MSD_MUST_CHECK msd_err msd_bearer_stand(struct msd_asking *a, enum msd_method method);
/** A token might help @a. */
bool msd_bearer_is_anonymous(const struct msd_asking *a);
/** msd_bearer_may() without an answer, and without a word about who may not: what is
 * left out of a list. */
MSD_MUST_CHECK bool msd_bearer_sees(const struct msd_asking *a, const char *name);

#endif
