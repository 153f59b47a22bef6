#ifndef MSD_TMFILE_WRITER_H
#define MSD_TMFILE_WRITER_H
/*
 * Objects of a tmfile one behind the other. Each function returns the offset of what it
 * wrote, which the caller keeps until it writes what names it. Short memory shows in
 * out.bad, once, at the end; beyond 4 GiB offsets are wrong and the size tells.
 */
#include "proto/bytes.h"

struct tm_writer {
	struct msd_buf out;
	uint32_t *scratch; /* of the caller, for lists that it puts together */
};

/** @n words, on a multiple of 4. */
uint32_t tm_put_words(struct tm_writer *w, const uint32_t *words, size_t n);
/** Their number, then the words. */
uint32_t tm_put_vector(struct tm_writer *w, const uint32_t *words, size_t n);
/** A text with its NUL, and the object that says where it is, whose offset this is. */
uint32_t tm_put_string(struct tm_writer *w, const char *text);
/** Bytes of weights, on a multiple of 64, so that they are used in place. */
uint32_t tm_put_bytes(struct tm_writer *w, const void *p, size_t n);
uint32_t tm_f32_bits(float value);

#endif
