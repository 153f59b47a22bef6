#include "daemon/supervisor/edge/access/principal.h"

struct msd_principal msd_principal_of(enum msd_address_kind kind, bool load_tcp)
{
	struct msd_principal p = {.rights = 1u << MSD_RIGHT_LOOKUP |
					    1u << MSD_RIGHT_CALL | 1u << MSD_RIGHT_ANY,
				  .is_local = kind == MSD_ADDRESS_UNIX};

	/* Loading executes code, which can do everything, so over TCP the operator
	 * must allow it. Models are confidential, too. */
	if (p.is_local || load_tcp) {
		p.rights |= 1u << MSD_RIGHT_LOAD | 1u << MSD_RIGHT_READ |
			    1u << MSD_RIGHT_ADMIN;
	}
	return p;
}

bool msd_principal_has(const struct msd_principal *p, enum msd_right right)
{
	return (p->rights & 1u << right) != 0;
}

msd_err msd_principal_check(const struct msd_principal *p, enum msd_method method,
			    struct msd_diag *d)
{
	const struct msd_method_row *row = msd_method_row(method);

	if (row == NULL || msd_principal_has(p, row->right))
		return MSD_OK;
	if (row->right != MSD_RIGHT_NONE) {
		return msd_diag_set(d, MSD_REFUSED,
				    "%s is disabled over TCP: use the unix socket, or "
				    "start modserd with --allow-load-tcp",
				    row->right == MSD_RIGHT_LOAD ? "loading"
								 : row->name);
	}
	return msd_diag_set(d, MSD_REFUSED,
			    "%s: only the daemon and its workers may use it",
			    row->name);
}
