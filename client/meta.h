#ifndef MODSER_CLIENT_META_H
#define MODSER_CLIENT_META_H
/* Metadata of an answer from the daemon: its times, and whether the daemon is
 * draining. */
#include "client/modser.h"
#include "proto/base/bytes.h"

/**
 * Store the known keys of the map @meta, empty if absent, in @r. An unknown key of a
 * newer daemon, with its own kind of value, stops the search.
 */
void msd_meta_read(struct msd_span meta, modser_result *r);

#endif
