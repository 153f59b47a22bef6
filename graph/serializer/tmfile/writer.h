#ifndef MSD_TMFILE_WRITER_H
#define MSD_TMFILE_WRITER_H
/*
 * Append objects of a tmfile. Each function returns the offset of its object, which
 * the caller keeps until it writes a reference. Check out.bad for short memory once,
 * at the end; beyond 4 GiB offsets are wrong, which the size reveals.
 */
#include "proto/base/bytes.h"

struct tm_writer {
	struct msd_buf out;
	uint32_t *scratch; /* owned by the caller, for building lists */
};

/** Write @n words, on a multiple of 4. */
uint32_t tm_put_words(struct tm_writer *w, const uint32_t *words, size_t n);
/** Write their number, then the words. */
uint32_t tm_put_vector(struct tm_writer *w, const uint32_t *words, size_t n);
/**
 * Write a text with its NUL, and the object with its location; return the object's
 * offset.
 */
uint32_t tm_put_string(struct tm_writer *w, const char *text);
/** Write bytes of weights, on a multiple of 64, so that they are used in place. */
uint32_t tm_put_bytes(struct tm_writer *w, const void *p, size_t n);
uint32_t tm_f32_bits(float value);

#endif
