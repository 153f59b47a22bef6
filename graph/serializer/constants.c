/*
 * Read constants one by one, after a lazy load or for a graph that only says where they
 * are. The serializer's own function reads them, else their location says where they
 * are, else the whole model is read and searched by name. Failures are the graph's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/ir/graph.h"
#include "graph/serializer/serializer.h"

/* The only constant of that name. */
static const modser_sg_tensor *find_const(modser_graph *g,
					  const modser_sg_tensor *wanted)
{
	const modser_sg_tensor *found = NULL;

	for (size_t i = 0; i < g->n_tensors; i++) {
		const modser_sg_tensor *t = g->tensors[i];

		if (t->type != MODSER_TENSOR_CONST ||
		    strcmp(t->name, wanted->name) != 0)
			continue;
		if (found != NULL) {
			(void)msd_sg_fail(wanted->graph, MSD_BAD_ARTIFACT,
					  "two constants are called \"%s\"",
					  wanted->name);
			return NULL;
		}
		found = t;
	}
	if (found == NULL) {
		(void)msd_sg_fail(wanted->graph, MSD_NOT_FOUND,
				  "no constant is called \"%s\"", wanted->name);
	}
	return found;
}

static int copy_const(modser_graph *from, modser_sg_tensor *to)
{
	const modser_sg_tensor *t = find_const(from, to);
	uint64_t expected;

	if (t == NULL)
		return -1;
	if (msd_sg_tensor_bytes(to, &expected) && expected != t->bytes) {
		return msd_sg_fail(to->graph, MSD_BAD_ARTIFACT,
				   "constant \"%s\" has %" PRIu64
				   " bytes in the file, expected %" PRIu64,
				   to->name, t->bytes, expected);
	}
	void *copy = malloc(t->bytes > 0 ? (size_t)t->bytes : 1);
	if (copy == NULL)
		return msd_sg_no_memory(to->graph);
	if (t->bytes > 0)
		memcpy(copy, t->data, (size_t)t->bytes);
	if (modser_sg_tensor_set_buffer(to, copy, free) != 0) {
		free(copy);
		return -1;
	}
	to->bytes = t->bytes;
	return 0;
}

/*
 * Read the file as a whole model: in most formats a constant has no shape of its own.
 */
static int find_in_model(const modser_serializer *s, struct msd_buf *file,
			 modser_sg_tensor *tensor)
{
	const modser_part part = {file->p, file->n};
	modser_graph *from = modser_graph_create("");
	int result = 0;

	if (from == NULL) {
		result = msd_sg_no_memory(tensor->graph);
	} else if (modser_serializer_load_memory(s, &part, 1, NULL, from) != 0) {
		result = msd_sg_fail(tensor->graph, from->diag.code, "%s",
				     modser_graph_error(from));
	} else {
		result = copy_const(from, tensor);
	}
	modser_graph_destroy(from);
	return result;
}

/* Fill @p with the bytes at @at. */
static int read_range(modser_graph *g, int fd, uint8_t *p, size_t n, uint64_t at)
{
	while (n > 0) {
		const ssize_t got = pread(fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			return msd_sg_fail(g, MSD_IO, "the file of constants: %s",
					   got < 0 ? strerror(errno)
						   : "it became shorter");
		}
		p += got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

/* Read only the bytes at the location of @t. */
int msd_const_read(int fd, modser_sg_tensor *t)
{
	struct stat st;
	uint64_t expected;

	if (msd_sg_tensor_bytes(t, &expected) && expected != t->bytes) {
		return msd_sg_fail(t->graph, MSD_BAD_ARTIFACT,
				   "constant \"%s\" has %" PRIu64
				   " bytes in the file, expected %" PRIu64,
				   t->name, t->bytes, expected);
	}
	if (fstat(fd, &st) != 0)
		return msd_sg_fail(t->graph, MSD_IO, "%s", strerror(errno));
	const uint64_t all = (uint64_t)st.st_size;
	if (t->offset > all || t->bytes > all - t->offset) {
		return msd_sg_fail(t->graph, MSD_BAD_ARTIFACT,
				   "constant \"%s\": %" PRIu64 " bytes at %" PRIu64
				   " are not in the file of %" PRIu64 " bytes",
				   t->name, t->bytes, t->offset, all);
	}
	uint8_t *p = malloc(t->bytes > 0 ? (size_t)t->bytes : 1);
	if (p == NULL)
		return msd_sg_no_memory(t->graph);
	if (read_range(t->graph, fd, p, (size_t)t->bytes, t->offset) == 0 &&
	    modser_sg_tensor_set_buffer(t, p, free) == 0)
		return 0;
	free(p);
	return -1;
}

static int load_from(const modser_serializer *s, int fd, modser_sg_tensor *tensor)
{
	struct msd_buf file = {0};
	int result;

	if (s->ops->load_const == NULL && tensor->has_location)
		return msd_const_read(fd, tensor);
	if (s->ops->load_const == NULL && s->ops->n_files > 1) {
		return msd_sg_fail(tensor->graph, MSD_NOT_FOUND,
				   "constant \"%s\" has no location in the file of "
				   "constants",
				   tensor->name);
	}
	result = msd_serializer_read_fd(tensor->graph, fd, "the file of constants",
					&file);
	if (result == 0 && s->ops->load_const != NULL) {
		const modser_part part = {file.p, file.n};

		result = s->ops->load_const(s, &part, tensor);
	} else if (result == 0) {
		result = find_in_model(s, &file, tensor);
	}
	msd_buf_finish(&file);
	return result;
}

int modser_serializer_load_const_fd(const modser_serializer *s, int fd,
				    modser_sg_tensor *tensor)
{
	if (s == NULL || tensor == NULL) {
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL,
				   "the serializer");
	}
	return load_from(s, fd, tensor);
}

int modser_serializer_load_const_file(const modser_serializer *s, const char *path,
				      modser_sg_tensor *tensor)
{
	if (s == NULL || path == NULL || tensor == NULL) {
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL,
				   "the serializer, or path,");
	}
	const int fd = msd_serializer_open(tensor->graph, path);

	if (fd < 0)
		return -1;
	const int result = load_from(s, fd, tensor);
	(void)close(fd);
	if (result != 0) {
		(void)msd_diag_wrap(&tensor->graph->diag, tensor->graph->diag.code,
				    "%s", path);
	}
	return result;
}

int msd_const_read_all(modser_graph *g)
{
	const char *path = modser_graph_text(g, MODSER_GRAPH_CONST_FILE);
	int result = 0;
	int fd = -1;

	for (size_t i = 0; result == 0 && i < g->n_tensors; i++) {
		modser_sg_tensor *t = g->tensors[i];

		if (t->type != MODSER_TENSOR_CONST || !t->has_location ||
		    t->data != NULL || t->bytes == 0)
			continue;
		if (path[0] == '\0') {
			result = msd_sg_fail(g, MSD_BAD_ARGUMENT,
					     "constant \"%s\" has only a location, and "
					     "the graph no file of constants",
					     t->name);
			break;
		}
		if (fd < 0)
			fd = msd_serializer_open(g, path);
		result = fd >= 0 ? msd_const_read(fd, t) : -1;
	}
	if (fd >= 0)
		(void)close(fd);
	return result;
}
