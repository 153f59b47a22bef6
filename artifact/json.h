#ifndef MSD_ARTIFACT_JSON_H
#define MSD_ARTIFACT_JSON_H
/*
 * What jansson does not have for documents that are made of untrusted texts, and in
 * which any allocation may fail: NULL stands for a value that memory was short for, and
 * what it is put into becomes NULL, too, so that one look at the end is enough.
 */
#include <jansson.h>

#include "proto/bytes.h"

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
/** Append @json, which is taken, as jansson writes it with @flags, and what may
 * not be shown (proto/utf8.h) escaped. NULL: @out is bad.
 */
void msd_json_put(struct msd_buf *out, json_t *json, size_t flags);

#endif
