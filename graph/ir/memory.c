/* Helpers of all parts of a graph: errors kept in the graph, growing lists, and
 * copies of texts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/base/utf8.h"

int msd_sg_fail(modser_graph *g, msd_err code, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	(void)msd_diag_set(&g->diag, code, "%s", line);
	return -1;
}

int msd_sg_no_memory(modser_graph *g)
{
	(void)msd_diag_no_memory(&g->diag);
	return -1;
}

int msd_sg_null(modser_graph *g, const char *what)
{
	return g != NULL ? msd_sg_fail(g, MSD_BAD_ARGUMENT, "%s is NULL", what) : -1;
}

bool msd_sg_is_name(const char *text)
{
	return msd_utf8_valid((struct msd_span){(const uint8_t *)text, strlen(text)});
}

char *msd_sg_copy(const char *text, size_t n)
{
	char *copy = malloc(n + 1);

	if (copy == NULL)
		return NULL;
	if (n > 0)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}
