/*
 * Load the files of a model, or a model in memory.
 *
 * Happy path: files are read whole and put into the order of the format, the
 * serializer makes a graph of their bytes, and the graph owns the files, because
 * constants point into them. Constants that have only a location get their bytes from
 * the last file; a lazy load drops them again. Failures are the graph's, with the
 * file's name in front.
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

int msd_serializer_open(modser_graph *g, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		(void)msd_sg_fail(g, errno == ENOENT ? MSD_NOT_FOUND : MSD_IO, "%s: %s",
				  path, strerror(errno));
	}
	return fd;
}

int msd_serializer_read(modser_graph *g, const char *path, struct msd_buf *ret)
{
	const int fd = msd_serializer_open(g, path);

	if (fd < 0)
		return -1;
	int result = msd_serializer_read_fd(g, fd, path, ret);
	(void)close(fd);
	return result;
}

/* Append the names of the files that @s takes. */
static void put_kinds(const modser_serializer *s, struct msd_buf *out)
{
	for (unsigned i = 0; s->ops->files != NULL && i < s->ops->n_files; i++) {
		msd_buf_printf(out, "%s%s",
			       i == 0                     ? ": "
			       : i + 1 == s->ops->n_files ? " and "
							  : ", ",
			       s->ops->files[i].name);
	}
}

static int check_count(const modser_serializer *s, modser_graph *graph, size_t n)
{
	if (n != s->ops->n_files) {
		struct msd_buf kinds = {0};

		put_kinds(s, &kinds);
		(void)msd_sg_fail(graph, MSD_BAD_ARGUMENT,
				  "%s needs %u file%s%.*s; %zu given", s->ops->name,
				  s->ops->n_files, s->ops->n_files == 1 ? "" : "s",
				  (int)kinds.n, kinds.n > 0 ? (char *)kinds.p : "", n);
		msd_buf_finish(&kinds);
		return -1;
	}
	if (graph->n_nodes > 0 || graph->n_tensors > 0)
		return msd_sg_fail(graph, MSD_BAD_ARGUMENT, "the graph is not empty");
	return 0;
}

/* Find the place of each kind of file in the @n parts. */
static int find_order(const modser_serializer *s, const modser_part *parts, size_t n,
		      modser_graph *graph, size_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		size_t found = n;

		ret[i] = i;
		for (size_t k = 0; s->ops->files != NULL && k < n; k++) {
			if (parts[k].data == NULL ||
			    !s->ops->files[i].probe(parts[k].data, parts[k].bytes))
				continue;
			if (found < n) {
				return msd_sg_fail(graph, MSD_BAD_ARTIFACT,
						   "files %zu and %zu are both %s",
						   found + 1, k + 1,
						   s->ops->files[i].name);
			}
			found = k;
		}
		if (s->ops->files != NULL && found == n) {
			return msd_sg_fail(graph, MSD_BAD_ARTIFACT, "%s: no file is %s",
					   s->ops->name, s->ops->files[i].name);
		}
		if (s->ops->files != NULL)
			ret[i] = found;
	}
	return 0;
}

/* A bad argument from a loader to the graph means a bad file. */
static int fail_file(modser_graph *graph)
{
	if (graph->diag.code == MSD_BAD_ARGUMENT)
		graph->diag.code = MSD_BAD_ARTIFACT;
	return -1;
}

/* Give a constant that has only a location its bytes in @file. */
static int use_location(modser_sg_tensor *t, const modser_part *file)
{
	const size_t align = t->dtype.bits >= 8 ? t->dtype.bits / 8u : 1;
	const uint64_t n = t->bytes;

	if (t->offset > file->bytes || n > file->bytes - t->offset) {
		return msd_sg_fail(t->graph, MSD_BAD_ARTIFACT,
				   "constant \"%s\": %" PRIu64 " bytes at %" PRIu64
				   " are not in the file of %zu bytes",
				   t->name, n, t->offset, file->bytes);
	}
	const uint8_t *at = (const uint8_t *)file->data + t->offset;
	if ((uintptr_t)at % align == 0)
		return modser_sg_tensor_set_buffer(t, at, NULL);
	void *copy = malloc(n > 0 ? (size_t)n : 1);
	if (copy == NULL)
		return msd_sg_no_memory(t->graph);
	memcpy(copy, at, (size_t)n);
	if (modser_sg_tensor_set_buffer(t, copy, free) == 0)
		return 0;
	free(copy);
	return -1;
}

static int use_locations(modser_graph *g, const modser_part *file, bool is_lazy)
{
	for (size_t i = 0; i < g->n_tensors; i++) {
		modser_sg_tensor *t = g->tensors[i];

		if (t->type != MODSER_TENSOR_CONST || !t->has_location)
			continue;
		if (is_lazy && modser_sg_tensor_set_buffer(t, NULL, NULL) != 0)
			return -1;
		if (!is_lazy && t->data == NULL && use_location(t, file) != 0)
			return -1;
	}
	return 0;
}

static bool is_given(const char *option)
{
	return option != NULL && *option != '\0';
}

static int check_options(const modser_serializer *s,
			 const modser_model_options *options, modser_graph *graph)
{
	const bool has_outputs = is_given(options->outputs);

	if (!s->ops->has_fixed_outputs ||
	    (!has_outputs && !is_given(options->signature)))
		return 0;
	return msd_sg_fail(graph, MSD_UNSUPPORTED,
			   "a file of the format %s names its outputs itself: omit the "
			   "option %s",
			   s->ops->format, has_outputs ? "outputs" : "signature");
}

static int load_ordered(const modser_serializer *s, const modser_part *parts,
			const modser_model_options *options, modser_graph *graph)
{
	const modser_part *constants = &parts[s->ops->n_files - 1];

	if (check_options(s, options, graph) != 0)
		return -1;

	if (modser_graph_set_source_format(graph, s->ops->format) != 0)
		return -1;
	if (s->ops->load(s, parts, options, graph) != 0 ||
	    use_locations(graph, constants, options->is_lazy) != 0)
		return fail_file(graph);
	return modser_graph_check(graph);
}

int modser_serializer_load_memory(const modser_serializer *s, const modser_part *parts,
				  size_t n, const modser_model_options *options,
				  modser_graph *graph)
{
	if (s == NULL || parts == NULL || graph == NULL)
		return msd_sg_null(graph, "the serializer, or parts,");
	const modser_model_options defaults = {.fill = MODSER_FILL_REFUSE};

	for (size_t i = 0; i < n; i++) {
		if (parts[i].data == NULL && parts[i].bytes > 0)
			return msd_sg_null(graph, "the data of a part");
	}
	modser_part *ordered = calloc(n + 1, sizeof(*ordered));
	size_t *order = calloc(n + 1, sizeof(*order));
	int result = -1;
	if (ordered == NULL || order == NULL) {
		(void)msd_sg_no_memory(graph);
	} else if (check_count(s, graph, n) == 0 &&
		   find_order(s, parts, n, graph, order) == 0) {
		for (size_t i = 0; i < n; i++)
			ordered[i] = parts[order[i]];
		result = load_ordered(s, ordered, options != NULL ? options : &defaults,
				      graph);
	}
	free(order);
	free(ordered);
	return result;
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

/* Record where the model comes from; the last file of the format has the constants. */
static int set_sources(const modser_serializer *s, const char *const *paths,
		       const modser_part *parts, size_t n, modser_graph *graph)
{
	size_t *order = calloc(n, sizeof(*order));
	int result = -1;

	if (order == NULL) {
		(void)msd_sg_no_memory(graph);
	} else if (find_order(s, parts, n, graph, order) == 0 &&
		   modser_graph_set_source(graph, paths[order[0]]) == 0) {
		result = modser_graph_set_const_file(graph, paths[order[n - 1]]);
	}
	free(order);
	return result;
}

static bool is_within(const void *p, const struct msd_buf *file)
{
	return p != NULL && (uintptr_t)p >= (uintptr_t)file->p &&
	       (uintptr_t)p - (uintptr_t)file->p < file->n;
}

/* True if a constant of @g, or of any subgraph, may point into @file. */
static bool is_used(const modser_graph *g, const struct msd_buf *file)
{
	for (size_t i = 0; i < g->n_tensors; i++) {
		if (is_within(g->tensors[i]->data, file))
			return true;
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		for (size_t k = 0; k < g->ops[i]->attrs.n; k++) {
			const modser_sg_attr *a = &g->ops[i]->attrs.items[k].value;

			if (a->kind == MODSER_ATTR_GRAPH && is_used(a->as.graph, file))
				return true;
		}
	}
	return false;
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
	if (result == 0 &&
	    (set_sources(s, paths, parts, n, graph) != 0 ||
	     modser_serializer_load_memory(s, parts, n, options, graph) != 0)) {
		(void)msd_diag_wrap(&graph->diag, graph->diag.code, "%s", paths[0]);
		result = -1;
	}
	free(parts);
	for (size_t i = 0;
	     result == 0 && options != NULL && options->is_lazy && i < graph->n_files;
	     i++) {
		if (!is_used(graph, &graph->files[i]))
			msd_buf_finish(&graph->files[i]);
	}
	return result;
}
