/* Prints the figures of `modser bench` as a map, and reasons to doubt them. */
#include <math.h>

#include "client/cli/measure/bench.h"
#include "client/cli/session.h"

#define MOST_ROWS 23u

/* Reasons to doubt the figures, or NULL. */
static const char *doubt(const struct msd_bench *b)
{
	const uint64_t a = b->ping_ns[0], z = b->ping_ns[1];
	const bool is_at_rate = b->cli->rate != 0;

	if (is_at_rate && b->at_rate.took.n == 0)
		return "no call was answered with a result";
	if (is_at_rate && b->at_rate.n_unsent > 0)
		return "not all calls could be sent: give a --deadline or more -c";
	if (!is_at_rate && b->calls_before >= 0 && b->calls_behind >= 0 &&
	    (uint64_t)(b->calls_behind - b->calls_before) > b->run.n_sent)
		return "other clients called the module meanwhile";
	if (a > z + z / 2 || z > a + a / 2)
		return "the plain round trip changed by half: the machine is busy";
	return NULL;
}

static modser_value int_of(uint64_t v)
{
	return modser_int((int64_t)v);
}

/* Low rates are printed with hundredths. */
static modser_value rate_of(uint64_t n, double seconds)
{
	const double rate = (double)n / seconds;

	return rate < 10 ? modser_float(floor(rate * 100) / 100)
			 : int_of((uint64_t)rate);
}

struct row {
	const char *key;
	modser_value v;
};

/* Print the rows, then the mean times of the stages, then the doubts. */
static void print(const struct msd_bench *b, const struct row *rows, size_t n)
{
	modser_value pairs[2 * MOST_ROWS];
	const char *why = doubt(b);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		pairs[k++] = modser_str(rows[i].key);
		pairs[k++] = rows[i].v;
	}
	for (unsigned i = 0; i < MSD_STAGES; i++) {
		pairs[k++] = modser_str(msd_stages_key(i));
		pairs[k++] = int_of(msd_stages_mean_ns(&b->stages, i));
	}
	pairs[k++] = modser_str("doubts");
	pairs[k++] = why != NULL ? modser_str(why) : modser_nil();
	const modser_value map = {.kind = MODSER_MAP,
				  .as.tuple = {.item = pairs, .n = k / 2}};
	msd_session_print_value(b->cli, &map);
}

static void show(struct msd_bench *b)
{
	struct msd_load_run *r = &b->run;
	const double took = (double)msd_samples_sum(&r->took);
	const double ran = (double)msd_samples_sum(&r->ran);
	const double seconds = (double)r->spent_ns / 1e9;

	msd_samples_sort(&r->took);
	msd_samples_sort(&r->ran);
	const struct row rows[] = {
		{"calls", int_of(r->took.n)},
		{"connections", int_of(r->n_clients)},
		{"depth", int_of(r->depth)},
		{"per_second", rate_of(r->took.n, seconds)},
		{"p50_ns", int_of(msd_samples_at(&r->took, 500))},
		{"p90_ns", int_of(msd_samples_at(&r->took, 900))},
		{"p99_ns", int_of(msd_samples_at(&r->took, 990))},
		{"p999_ns", int_of(msd_samples_at(&r->took, 999))},
		{"execution_p50_ns", int_of(msd_samples_at(&r->ran, 500))},
		{"execution_percent",
		 int_of((uint64_t)(took > 0 ? 100 * ran / took : 0))},
		{"ping_ns", int_of(b->ping_ns[0])},
	};
	print(b, rows, sizeof(rows) / sizeof(rows[0]));
}

static void show_at_rate(struct msd_bench *b)
{
	struct msd_rate_run *r = &b->at_rate;
	const double seconds = (double)r->time_ns / 1e9;
	const uint64_t n_good = r->took.n - r->n_late;

	msd_samples_sort(&r->took);
	const struct row rows[] = {
		{"due", int_of(r->n_due)},
		{"in_time", int_of(n_good)},
		{"late", int_of(r->n_late)},
		{"refused", int_of(r->n_refused)},
		{"expired", int_of(r->n_expired)},
		{"unsent", int_of(r->n_unsent)},
		{"connections", int_of(r->n_clients)},
		{"due_per_second", rate_of(r->n_due, seconds)},
		{"in_time_per_second", rate_of(n_good, seconds)},
		{"p50_ns", int_of(msd_samples_at(&r->took, 500))},
		{"p90_ns", int_of(msd_samples_at(&r->took, 900))},
		{"p99_ns", int_of(msd_samples_at(&r->took, 990))},
		{"p999_ns", int_of(msd_samples_at(&r->took, 999))},
		{"ping_ns", int_of(b->ping_ns[0])},
	};
	print(b, rows, sizeof(rows) / sizeof(rows[0]));
}

void msd_bench_tell(struct msd_bench *b)
{
	if (b->cli->rate != 0) {
		show_at_rate(b);
	} else {
		show(b);
	}
}
