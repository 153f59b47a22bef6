#ifndef MSD_TMFILE_VIEW_H
#define MSD_TMFILE_VIEW_H
/*
 * The objects of a tmfile by their offsets. Every offset and count is held against the
 * bytes that are there. Objects may be named twice, so what is read in all is bounded,
 * too: a small file whose thousand nodes share one long list would else become a large
 * graph.
 */
#include "graph/modser_graph.h"
#include "proto/bytes.h"

struct tm_view {
	struct msd_span file;
	size_t budget;    /* bytes that may still be read */
	uint64_t made_up; /* bytes of constants that are not in the file */
	modser_graph *graph;
};

/* Elements of @size bytes each, borrowed from the file. */
struct tm_vector {
	const uint8_t *p;
	size_t n;
};

/** A view of @file, both borrowed, whose faults become errors of @graph. */
void tm_view_init(struct tm_view *v, struct msd_span file, modser_graph *graph);
/** The @bytes bytes at @offset, called @what in the error; NULL: they are not there. */
const uint8_t *tm_object(struct tm_view *v, uint32_t offset, size_t bytes,
			 const char *what);
/** The vector at @offset; 0 is an empty one. */
MSD_MUST_CHECK int tm_vector(struct tm_view *v, uint32_t offset, size_t size,
			     const char *what, struct tm_vector *ret);
uint32_t tm_vector_u32(const struct tm_vector *vector, size_t i);
/** The text at @offset, for the caller to free; 0 is an empty one. NULL: an error. */
char *tm_string(struct tm_view *v, uint32_t offset, const char *what);
/** A float by its bits. */
float tm_f32(const uint8_t *p);

#endif
