/*
 * Load the files of a model, a model in memory, or one constant.
 *
 * Happy path: files are read whole, the serializer makes a graph of their bytes, and
 * the graph owns the files, because constants point into them. A stripped constant is
 * found by reading its model's file again. Failures are the graph's, with the file's
 * name in front.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/ir/graph.h"
#include "graph/serializer/serializer.h"

int msd_serializer_read_fd(modser_graph *g, int fd, const char *name,
			   struct msd_buf *ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return msd_sg_fail(g, MSD_IO, "%s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return msd_sg_fail(g, MSD_IO, "%s: not a regular file", name);
	const size_t size = (size_t)st.st_size;
	if (!msd_buf_reserve(ret, size))
		return msd_sg_no_memory(g);
	while (ret->n < size) {
		ssize_t n = pread(fd, ret->p + ret->n, size - ret->n, (off_t)ret->n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return msd_sg_fail(g, MSD_IO, "%s: %s", name, strerror(errno));
		if (n == 0)
			break; /* the file was truncated; the error names the missing
				  part */
		ret->n += (size_t)n;
	}
	return 0;
}

int msd_serializer_read(modser_graph *g, const char *path, struct msd_buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		return msd_sg_fail(g, errno == ENOENT ? MSD_NOT_FOUND : MSD_IO,
				   "%s: %s", path, strerror(errno));
	}
	int result = msd_serializer_read_fd(g, fd, path, ret);
	(void)close(fd);
	return result;
}

static int check_count(const modser_serializer *s, modser_graph *graph, size_t n)
{
	if (n != s->ops->n_files) {
		return msd_sg_fail(graph, MSD_BAD_ARGUMENT,
				   "%s needs %u file%s, %zu given", s->ops->name,
				   s->ops->n_files, s->ops->n_files == 1 ? "" : "s", n);
	}
	if (graph->n_nodes > 0 || graph->n_tensors > 0)
		return msd_sg_fail(graph, MSD_BAD_ARGUMENT, "the graph is not empty");
	return 0;
}

/* A bad argument from a loader to the graph means a bad file. */
static int fail_file(modser_graph *graph)
{
	if (graph->diag.code == MSD_BAD_ARGUMENT)
		graph->diag.code = MSD_BAD_ARTIFACT;
	return -1;
}

int modser_serializer_load_memory(const modser_serializer *s, const modser_part *parts,
				  size_t n, const modser_model_options *options,
				  modser_graph *graph)
{
	if (s == NULL || parts == NULL || graph == NULL)
		return msd_sg_null(graph, "the serializer, or parts,");
	const modser_model_options defaults = {MODSER_FILL_REFUSE};

	for (size_t i = 0; i < n; i++) {
		if (parts[i].data == NULL && parts[i].bytes > 0)
			return msd_sg_null(graph, "the data of a part");
	}
	if (check_count(s, graph, n) != 0 ||
	    modser_graph_set_source_format(graph, s->ops->format) != 0)
		return -1;
	if (s->ops->load(s, parts, options != NULL ? options : &defaults, graph) != 0)
		return fail_file(graph);
	return modser_graph_check(graph);
}

int modser_serializer_join(const modser_serializer *s, const modser_part *model,
			   modser_read_beside *read, void *ctx, modser_graph *graph,
			   modser_part *ret)
{
	if (s == NULL || model == NULL || read == NULL || graph == NULL || ret == NULL)
		return msd_sg_null(graph, "the serializer, model, read or ret");
	*ret = (modser_part){0};
	return s->ops->join != NULL ? s->ops->join(model, read, ctx, graph, ret) : 0;
}

/* The graph owns each part at once, so no memory leaks if a later file fails. */
static int read_parts(modser_graph *graph, const char *const *paths, size_t n,
		      modser_part *parts)
{
	for (size_t i = 0; i < n; i++) {
		struct msd_buf file = {0};

		if (paths[i] == NULL)
			return msd_sg_null(graph, "a path");
		if (msd_serializer_read(graph, paths[i], &file) != 0 ||
		    msd_sg_take_file(graph, &file) != 0) {
			msd_buf_finish(&file);
			return -1;
		}
		const struct msd_buf *kept = &graph->files[graph->n_files - 1];
		parts[i] = (modser_part){kept->p, kept->n};
	}
	return 0;
}

int modser_serializer_load_files(const modser_serializer *s, const char *const *paths,
				 size_t n, const modser_model_options *options,
				 modser_graph *graph)
{
	if (s == NULL || paths == NULL || graph == NULL)
		return msd_sg_null(graph, "the serializer, or paths,");
	modser_part *parts;
	int result = check_count(s, graph, n);

	if (result != 0)
		return result;
	parts = calloc(n + 1, sizeof(*parts));
	if (parts == NULL)
		return msd_sg_no_memory(graph);
	result = read_parts(graph, paths, n, parts);
	if (result == 0) { /* the last file holds the constants */
		result = modser_graph_set_source(graph, paths[0]) != 0 ||
					 modser_graph_set_const_file(graph,
								     paths[n - 1]) != 0
				 ? -1
				 : 0;
	}
	if (result == 0 &&
	    modser_serializer_load_memory(s, parts, n, options, graph) != 0) {
		(void)msd_diag_wrap(&graph->diag, graph->diag.code, "%s", paths[0]);
		result = -1;
	}
	free(parts);
	return result;
}

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
static int load_const(const modser_serializer *s, struct msd_buf *file,
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
	msd_buf_finish(file);
	return result;
}

int modser_serializer_load_const_fd(const modser_serializer *s, int fd,
				    modser_sg_tensor *tensor)
{
	if (s == NULL || tensor == NULL) {
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL,
				   "the serializer");
	}
	struct msd_buf file = {0};

	if (msd_serializer_read_fd(tensor->graph, fd, "the file of constants", &file) !=
	    0) {
		msd_buf_finish(&file);
		return -1;
	}
	return load_const(s, &file, tensor);
}

int modser_serializer_load_const_file(const modser_serializer *s, const char *path,
				      modser_sg_tensor *tensor)
{
	if (s == NULL || path == NULL || tensor == NULL) {
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL,
				   "the serializer, or path,");
	}
	struct msd_buf file = {0};

	if (msd_serializer_read(tensor->graph, path, &file) != 0) {
		msd_buf_finish(&file);
		return -1;
	}
	if (load_const(s, &file, tensor) != 0) {
		(void)msd_diag_wrap(&tensor->graph->diag, tensor->graph->diag.code,
				    "%s", path);
		return -1;
	}
	return 0;
}
