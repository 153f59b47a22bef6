/* The rows of ONNX's operators: built-in rows, rows added at run time, which readers
 * walk without a lock, and the rule words in rows. */
#include "graph/serializer/onnx/rows/row.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/refuse.h"
#include "graph/serializer/onnx/format.h"

const struct onnx_row *const onnx_rows[] = {
	onnx_rows_element,
	onnx_rows_flow,
	onnx_rows_index,
	onnx_rows_ml,
	onnx_rows_move,
	onnx_rows_reduce,
	onnx_rows_window,
	onnx_rows_layer,
	onnx_rows_recurrent,
	onnx_rows_signal,
	onnx_rows_quantized,
	onnx_rows_microsoft,
	onnx_rows_microsoft_q,
	onnx_rows_microsoft_fused,
	onnx_rows_microsoft_cache,
	NULL,
};

/* Lists of another domain than ONNX's own. */
static const struct {
	const struct onnx_row *rows;
	const char *name;
	int64_t written; /* version; 0: rows are read alone */
} domains[] = {
	{onnx_rows_ml, "ai.onnx.ml", ONNX_ML_OPSET},
	{onnx_rows_microsoft, "com.microsoft", 0},
	{onnx_rows_microsoft_q, "com.microsoft", 0},
	{onnx_rows_microsoft_fused, "com.microsoft", 0},
	{onnx_rows_microsoft_cache, "com.microsoft", 0},
};

/* Rows added at run time; the list only grows, at its head. */
struct onnx_added {
	struct onnx_row row;
	const char *domain;
	const struct onnx_added *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken by writers */
static _Atomic(const struct onnx_added *) added;

/* The built-in rows sorted by name, once, because readers search for one at each
 * node. Rows beyond the limit are not found; a test checks the limit. */
#define ROWS_MAX 512u
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
	const struct onnx_row *row[ROWS_MAX];
	size_t n;
} by_name;

static int compare_names(const void *a, const void *b)
{
	const struct onnx_row *const *x = a;
	const struct onnx_row *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* The first row of list @i or, if it is empty, of the next list. */
static const struct onnx_row *first_of(struct onnx_row_walk *w)
{
	while (onnx_rows[w->list] != NULL && onnx_rows[w->list]->name == NULL)
		w->list++;
	return onnx_rows[w->list];
}

const struct onnx_row *onnx_row_next(struct onnx_row_walk *w)
{
	if (w->added != NULL) {
		w->added = w->added->next;
		return w->added != NULL ? &w->added->row : NULL;
	}
	if (w->next == NULL) {
		w->next = first_of(w);
	} else if ((++w->next)->name == NULL) {
		w->list++;
		w->next = first_of(w);
	}
	if (w->next != NULL)
		return w->next;
	w->added = atomic_load(&added);
	return w->added != NULL ? &w->added->row : NULL;
}

bool onnx_domain_is_own(const char *domain)
{
	return domain == NULL || domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0;
}

const char *onnx_row_domain(const struct onnx_row *row)
{
	for (const struct onnx_added *a = atomic_load(&added); a != NULL; a = a->next) {
		if (&a->row == row)
			return a->domain;
	}
	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		for (const struct onnx_row *r = domains[i].rows; r->name != NULL; r++) {
			if (r == row)
				return domains[i].name;
		}
	}
	return "";
}

bool onnx_domain_is(const char *a, const char *b)
{
	if (onnx_domain_is_own(a) || onnx_domain_is_own(b))
		return onnx_domain_is_own(a) && onnx_domain_is_own(b);
	return strcmp(a, b) == 0;
}

static void sort_rows(void)
{
	for (size_t i = 0; onnx_rows[i] != NULL; i++) {
		for (const struct onnx_row *r = onnx_rows[i];
		     r->name != NULL && by_name.n < ROWS_MAX; r++)
			by_name.row[by_name.n++] = r;
	}
	qsort(by_name.row, by_name.n, sizeof(by_name.row[0]), compare_names);
}

/* Index of the first built-in row of @name, if any. */
static size_t first_named(const char *name)
{
	size_t low = 0;
	size_t high;

	(void)pthread_once(&once, sort_rows);
	high = by_name.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(by_name.row[middle]->name, name) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Use @r, a row of the wanted operator, if it is the latest up to @opset. */
static void weigh(const struct onnx_row *r, int64_t opset,
		  const struct onnx_row **found, int64_t *first)
{
	if (r->since <= opset && (*found == NULL || r->since > (*found)->since))
		*found = r;
	if (*first == 0 || r->since < *first)
		*first = r->since;
}

const struct onnx_row *onnx_row_find(const char *domain, const char *name,
				     int64_t opset, int64_t *ret_first)
{
	const struct onnx_row *found = NULL;

	*ret_first = 0;
	for (size_t i = first_named(name);
	     i < by_name.n && strcmp(by_name.row[i]->name, name) == 0; i++) {
		if (onnx_domain_is(onnx_row_domain(by_name.row[i]), domain))
			weigh(by_name.row[i], opset, &found, ret_first);
	}
	for (const struct onnx_added *a = atomic_load(&added); a != NULL; a = a->next) {
		if (strcmp(a->row.name, name) == 0 && onnx_domain_is(a->domain, domain))
			weigh(&a->row, opset, &found, ret_first);
	}
	return found;
}

int64_t onnx_row_opset(const struct onnx_row *row)
{
	const char *domain = onnx_row_domain(row);
	struct onnx_row_walk w = {0};
	int64_t latest = row->since;

	if (onnx_domain_is_own(domain))
		return ONNX_OPSET;
	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		if (strcmp(domains[i].name, domain) == 0)
			return domains[i].written;
	}
	for (const struct onnx_row *r = onnx_row_next(&w); r != NULL;
	     r = onnx_row_next(&w)) {
		if (onnx_domain_is(onnx_row_domain(r), domain) && r->since > latest)
			latest = r->since;
	}
	return latest;
}

/* True if the operator has all parameters in the row's words. */
static bool names_params(const modser_onnx_row *row)
{
	const char *at = row->params;
	struct onnx_word w;

	while (onnx_word_next(&at, &w)) {
		if (w.param[0] != '\0' &&
		    modser_sg_op_default(row->op, w.param) == NULL)
			return false;
	}
	return modser_sg_op_schema_find(row->op) != NULL;
}

static const struct msd_struct_field row_fields[] = {
	MSD_FIELD(modser_onnx_row, domain),
	MSD_FIELD(modser_onnx_row, name),
	MSD_FIELD(modser_onnx_row, op),
	MSD_FIELD(modser_onnx_row, params),
};
static const struct msd_struct row_struct = MSD_STRUCT(modser_onnx_row, row_fields);

int modser_onnx_add_row(const modser_onnx_row *row)
{
	if (!msd_struct_check(&row_struct, row))
		return -1;
	struct onnx_added *mine = malloc(sizeof(*mine));
	int64_t first;
	int result = -1;

	if (mine == NULL || !names_params(row)) {
		free(mine);
		return -1;
	}
	(void)pthread_mutex_lock(&lock);
	const struct onnx_row *there =
		onnx_row_find(row->domain, row->name, row->since, &first);
	if (there == NULL || there->since != row->since) {
		*mine = (struct onnx_added){
			{row->name, row->since, row->op, row->params, NULL},
			row->domain,
			atomic_load(&added)};
		atomic_store(&added, mine);
		mine = NULL;
		result = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	free(mine);
	return result;
}

/* Copy up to the next separator of a word. */
static size_t part(const char *at, char *ret)
{
	size_t n = strcspn(at, " =:!");

	n = n < ONNX_WORD_BYTES ? n : ONNX_WORD_BYTES - 1;
	memcpy(ret, at, n);
	ret[n] = '\0';
	return n;
}

bool onnx_word_next(const char **at, struct onnx_word *ret)
{
	const char *p = *at;
	struct onnx_word w = {.attr = ""};

	p += strspn(p, " ");
	if (*p == '\0')
		return false;
	const bool says_nothing = *p == '-';
	p += says_nothing ? 1 : 0;
	p += part(p, w.attr);
	if (!says_nothing)
		memcpy(w.param, w.attr, sizeof(w.param));
	w.is_fixed = p[0] == ':' && p[1] == '=';
	if (w.is_fixed) {
		w.attr[0] = '\0';
		p++;
	} else if (*p == '=') {
		p += 1 + part(p + 1, w.param);
	}
	w.is_required = *p == '!';
	p += w.is_required ? 1 : 0;
	w.has_value = *p == ':' || w.is_fixed;
	if (w.has_value)
		w.value = strtod(p + 1, NULL);
	*at = p + strcspn(p, " ");
	*ret = w;
	return true;
}
