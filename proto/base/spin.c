#include "proto/base/spin.h"

#define TWO_PROCESSORS 2000u

void msd_spin_init(struct msd_spin *s, uint64_t most_ns, uint64_t millis)
{
	*s = (struct msd_spin){.next_rest = MSD_SPIN_REST_LEAST};
	if (millis >= TWO_PROCESSORS)
		s->most_ns = most_ns < MSD_SPIN_MOST_NS ? most_ns : MSD_SPIN_MOST_NS;
}

uint64_t msd_spin_begin(struct msd_spin *s, uint64_t now_ns)
{
	const bool looks = msd_spin_is_on(s) && s->rest == 0 && s->run >= MSD_SPIN_RUN;

	s->since_ns = now_ns;
	s->waits = true;
	s->looks = looks ? MSD_SPIN_LOOKS : 0;
	return looks ? s->most_ns : 0;
}

static uint64_t waited_ns(const struct msd_spin *s, uint64_t now_ns)
{
	return now_ns > s->since_ns ? now_ns - s->since_ns : 0;
}

static void miss(struct msd_spin *s, uint64_t ns)
{
	s->looks = 0;
	s->good = 0;
	s->count.misses++;
	s->count.waste_ns += ns;
	s->rest = s->next_rest;
	if (s->next_rest < MSD_SPIN_REST_MOST)
		s->next_rest *= 2;
}

bool msd_spin_goes_on(struct msd_spin *s, uint64_t now_ns)
{
	const uint64_t ns = waited_ns(s, now_ns);

	if (s->looks == 0)
		return false;
	s->looks--;
	if (s->looks > 0 && ns < s->most_ns)
		return true;
	miss(s, ns);
	return false;
}

static void hit(struct msd_spin *s)
{
	s->count.hits++;
	s->good++;
	if (s->good % MSD_SPIN_GOOD == 0 && s->next_rest > MSD_SPIN_REST_LEAST)
		s->next_rest /= 2;
}

void msd_spin_end(struct msd_spin *s, uint64_t now_ns)
{
	if (!s->waits)
		return;
	s->waits = false;
	if (s->looks > 0) {
		hit(s);
	} else if (s->rest > 0) {
		s->rest--;
	}
	s->looks = 0;
	if (waited_ns(s, now_ns) > MSD_SPIN_SHORT * s->most_ns) {
		s->run = 0;
	} else if (s->run < MSD_SPIN_RUN) {
		s->run++;
	}
}
