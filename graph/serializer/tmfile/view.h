#ifndef MSD_TMFILE_VIEW_H
#define MSD_TMFILE_VIEW_H
/*
 * Read the objects of a tmfile by their offsets. Every offset and count is checked
 * against the file's size. Objects may be referenced repeatedly, so the total read is
 * limited, too: a small file whose thousand nodes share one long list would otherwise
 * become a large graph.
 */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

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

/** Create a view of @file; faults become errors of @graph. Both are borrowed. */
void tm_view_init(struct tm_view *v, struct msd_span file, modser_graph *graph);
/** The @bytes bytes at @offset, called @what in the error; NULL: outside the file. */
const uint8_t *tm_object(struct tm_view *v, uint32_t offset, size_t bytes,
			 const char *what);
/** The vector at @offset; 0 is an empty one. */
MSD_MUST_CHECK int tm_vector(struct tm_view *v, uint32_t offset, size_t size,
			     const char *what, struct tm_vector *ret);
uint32_t tm_vector_u32(const struct tm_vector *vector, size_t i);
/** The text at @offset, freed by the caller; 0 is an empty one. NULL: an error. */
char *tm_string(struct tm_view *v, uint32_t offset, const char *what);
/** Read a float from its bits. */
float tm_f32(const uint8_t *p);

#endif
