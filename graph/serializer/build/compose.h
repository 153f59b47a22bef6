#ifndef MSD_SERIALIZER_COMPOSE_H
#define MSD_SERIALIZER_COMPOSE_H
/*
 * Operators of several formats that become several nodes. As in build.h, a NULL input
 * gives NULL.
 */
#include "graph/serializer/build/build.h"

/** Types of Comparison. */
enum { MSD_COMPARE_EQUAL = 0, MSD_COMPARE_GREATER = 2, MSD_COMPARE_LESS = 4 };

/** A comparison of type @type, as bool. */
modser_sg_tensor *msd_build_compare(const struct msd_build *b, int64_t type,
				    modser_sg_tensor *x, modser_sg_tensor *y);
/** @yes where @condition is true, else @no. */
modser_sg_tensor *msd_build_choose(const struct msd_build *b,
				   modser_sg_tensor *condition, modser_sg_tensor *yes,
				   modser_sg_tensor *no);
modser_sg_tensor *msd_build_cast(const struct msd_build *b, modser_sg_tensor *x,
				 const char *dtype);
/** The angle of the point (@x, @y), both float32. */
modser_sg_tensor *msd_build_atan2(const struct msd_build *b, modser_sg_tensor *y,
				  modser_sg_tensor *x);
/** Elements @begin up to @end of axis @axis. */
modser_sg_tensor *msd_build_range(const struct msd_build *b, modser_sg_tensor *x,
				  int64_t axis, int64_t begin, int64_t end);
/**
 * @x with elements of axis @axis before and behind it, mirrored at its ends, which are
 * repeated.
 */
modser_sg_tensor *msd_build_mirror(const struct msd_build *b, modser_sg_tensor *x,
				   int64_t axis, int64_t before, int64_t after);
/** Elements of axis @axis at @indices, which may be negative. */
modser_sg_tensor *msd_build_gather(const struct msd_build *b, modser_sg_tensor *x,
				   modser_sg_tensor *indices, int64_t axis);
/** Parts one after another along @axis. */
modser_sg_tensor *msd_build_concat(const struct msd_build *b,
				   modser_sg_tensor *const *parts, size_t n,
				   int64_t axis);

/**
 * The sums of rows of @data that have one segment, whose numbers are the vector @ids.
 * @count: the number of segments; NULL: one more than the last, as they are sorted.
 */
modser_sg_tensor *msd_build_segments(const struct msd_build *b, modser_sg_tensor *data,
				     modser_sg_tensor *ids, modser_sg_tensor *count);

/** Boxes of one image that overlap little, the best scores first. */
struct msd_suppression {
	modser_sg_tensor *boxes;   /* [n, 4] */
	modser_sg_tensor *scores;  /* [n] */
	modser_sg_tensor *max;     /* one integer */
	modser_sg_tensor *overlap; /* one float32 */
	modser_sg_tensor *least;   /* one float32; NULL: scores do not matter */
};
/** Indices of the boxes, int64. */
modser_sg_tensor *msd_build_suppress(const struct msd_build *b,
				     const struct msd_suppression *s);
/** Vector @x with zeros behind it, up to @n elements; @n is one integer. */
modser_sg_tensor *msd_build_fill(const struct msd_build *b, modser_sg_tensor *x,
				 modser_sg_tensor *n);
/** The number of elements of vector @x, as @dtype. */
modser_sg_tensor *msd_build_count(const struct msd_build *b, modser_sg_tensor *x,
				  const char *dtype);

#endif
