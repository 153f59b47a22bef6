#ifndef MSD_ARTIFACT_JSON_H
#define MSD_ARTIFACT_JSON_H
/*
 * Helpers to build JSON documents from untrusted texts when any allocation may fail.
 * NULL stands for a value that could not be allocated. Adding it to a container makes
 * the container NULL, so one check at the end is enough.
 */
#include <jansson.h>

#include "proto/base/bytes.h"

/** @s as a string; a byte that is not UTF-8 becomes U+FFFD. */
json_t *msd_json_text(struct msd_span s);
/** The same for a NUL-terminated text; null for NULL. */
json_t *msd_json_string(const char *text);
/** Append @value to the array *@list; takes @value. */
void msd_json_add(json_t **list, json_t *value);
/** Set @key of the object *@map; takes @value. */
void msd_json_set(json_t **map, const char *key, json_t *value);
/** An array of @n texts. */
json_t *msd_json_texts(char *const *texts, size_t n);
/**
 * Append @json, taking ownership, as jansson writes it with @flags; unprintable
 * characters (proto/base/utf8.h) are escaped. NULL: @out is bad.
 */
void msd_json_put(struct msd_buf *out, json_t *json, size_t flags);

#endif
