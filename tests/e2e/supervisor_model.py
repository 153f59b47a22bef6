"""What the supervisor may answer, whatever the order in which things happened where nobody saw it.

The workers' record says what was run, when, and in which process. What was run has the one answer
of its function, unless its deadline passed; what was not run has an error, and each error needs a
cause that was there between the request and its answer.
"""
import time

FOREVER = float("inf")
KILLERS = ("die", "hang")
CALLS = ("echo", "fail", *KILLERS)
MOST_OVERRUNS = 3  # of one peer, and all connections here are of one
FAILURES = {"bad": "BAD_ARTIFACT", "dies": "MODULE_FAILED"}


class Asked:
    """One request: when it was sent, when its answer was seen, and what that was."""

    def __init__(self, kind, number, wire, **more):
        self.kind, self.number, self.wire = kind, number, wire
        self.fate = self.version = self.data = None
        self.deadline_ms = self.cancelled = self.target = None
        self.replace = False
        self.__dict__.update(more)
        self.sent, self.answered, self.said, self.value = time.monotonic_ns(), FOREVER, None, None

    def hear(self, body):
        self.answered = time.monotonic_ns()
        self.said = "OK" if body[2] is None else body[2][1]
        self.value = body[3]

    def meets(self, other):
        return self.sent <= other.answered and other.sent <= self.answered

    def __repr__(self):
        facts = (self.fate, self.deadline_ms, self.replace and "replace", self.target)
        words = " ".join(str(f) for f in facts if f not in (None, False))
        return f"{self.number} {self.kind} {words} -> {self.said}"


class Run:
    """A call that a worker began."""

    def __init__(self, at, process, version, number):
        self.at, self.process, self.version, self.number = at, process, version, number
        self.gone = FOREVER  # its process was, at the latest, when the next one was there


class Model:
    def __init__(self, all, record, max_deaths):
        self.all, self.max_deaths = all, max_deaths
        self.by_number = {a.number: a for a in all}
        self.loads = [a for a in all if a.kind == "load"]
        self.unloads = [a for a in all if a.kind == "unload"]
        self.runs = [Run(*line) for line in record if line[3] is not None]
        for run in self.runs:
            later = [at for at, process, version, what in record if what is None
                     and at > run.at and version == run.version and process != run.process]
            run.gone = min(later, default=FOREVER)
        self.run_of = {run.number: run for run in self.runs}
        self.killings = [r for r in self.runs if self.may_kill(r)]

    def may_kill(self, run):
        """It dies of it, or a slow machine has let an honest call overrun its deadline."""
        asked = self.by_number[run.number]
        is_late = asked.deadline_ms is not None and asked.said in (None, "DEADLINE_EXCEEDED")
        return asked.kind in KILLERS or is_late

    def complaints(self):
        found = [
            f"{a}: allowed is {sorted(self.allowed(a))}"
            for a in self.all
            if a.said is not None and a.said not in self.allowed(a)
        ]
        found += [f"{a}: the value is {a.value}" for a in self.all if not self.has_its_value(a)]
        return found + list(self.wrong_runs())

    def has_its_value(self, a):
        if a.said != "OK" or a.kind not in ("echo", "cancel"):
            return True
        if a.kind == "cancel":
            return not a.value or self.by_number[a.target].said in (None, "CANCELLED")
        data = [] if a.data is None else [a.data.tobytes()]
        return a.value == [[], [a.number, self.run_of[a.number].version, *data]]

    def wrong_runs(self):
        """Twice, out of order, or in a module that has been replaced."""
        last = {}
        for run in self.runs:
            asked = self.by_number[run.number]
            if last.get((asked.wire, run.version), 0) >= run.number:
                yield f"{asked}: run again, or after its successor"
            last[asked.wire, run.version] = run.number
            (load,) = (a for a in self.loads if a.version == run.version)
            if run.at < asked.sent or self.is_replaced(load, asked):
                yield f"{asked}: run by version {run.version}"

    def is_replaced(self, load, asked):
        """Another load had its name before the request was sent."""
        return any(
            a.said == "OK" and load.answered < a.sent and a.answered < asked.sent
            for a in self.loads
        )

    def allowed(self, a):
        if a.kind in ("ask", "cancel", "ping"):
            return {"OK"}
        if a.kind == "load":
            return self.of_load(a)
        if self.must_lack_name(a):
            return {"NOT_FOUND"}
        if a.kind == "unload":
            return {"OK"} | self.may_lack_name(a)
        run = self.run_of.get(a.number)
        return self.of_run(a, run) if run else self.of_waiting(a)

    def of_load(self, a):
        others = [x for x in self.loads + self.unloads if x is not a and x.meets(a)]
        names = {FAILURES.get(a.fate, "OK")}
        if others or (not a.replace and any(x.sent < a.sent for x in self.loads if x is not a)):
            names.add("EXISTS")
        return names | ({"DRAINING"} if others else set())

    def of_run(self, a, run):
        names = {"echo": {"OK"}, "fail": {"CALL_FAILED"}, "die": {"WORKER_LOST"}, "hang": set()}
        allowed = names[a.kind] | ({"DEADLINE_EXCEEDED"} if a.deadline_ms is not None else set())
        if a.kind == "hang" and a.cancelled:  # others waited behind it: its worker was ended
            allowed.add("CANCELLED")
        # Its worker was ended for the one before, whose answer nobody had read yet.
        ended = any(k.process == run.process and k.at < run.at for k in self.killings)
        return allowed | ({"WORKER_LOST"} if ended or self.overran_unseen(a) else set())

    def of_waiting(self, a):
        """It never ran, or is a module.wait."""
        killed = [k for k in self.killings if k.at <= a.answered]
        names = self.may_lack_name(a)
        if a.kind == "wait":
            names.add("OK")
        elif a.cancelled:
            names.add("CANCELLED")
        if a.deadline_ms is not None:
            names |= {"DEADLINE_EXCEEDED", "NOT_READY"}
        if a.kind != "wait" and (any(self.may_lose(k, a) for k in killed) or self.overran_unseen(a)):
            names.add("WORKER_LOST")
        deaths = [k for k in killed if self.may_be_deadly(self.by_number[k.number])]
        of_connection = sum(self.by_number[k.number].wire is a.wire for k in deaths)
        if any(sum(k.version == x.version for k in deaths) >= self.max_deaths for x in self.loads):
            names |= {"QUARANTINED", "BUSY"}  # all connections are of one peer
        elif a.kind != "wait" and of_connection >= MOST_OVERRUNS:
            names.add("BUSY")
        hung = [k for k in killed if self.by_number[k.number].kind != "die"]
        is_barred = any(sum(k.version == x.version for k in hung) >= MOST_OVERRUNS
                        for x in self.loads)
        if is_barred and a.deadline_ms is not None:
            names.add("BUSY")
        replaced = [x for x in self.loads if x.replace and x.sent <= a.answered]
        if any(x.meets(a) for x in self.unloads) or (replaced and (killed or a.kind == "wait")):
            names.add("DRAINING")
        failed = {FAILURES.get(x.fate) for x in self.loads if x.sent <= a.answered} - {None}
        if failed:
            names |= {"MODULE_FAILED"} | (failed if a.kind == "wait" else set())
        return names

    @staticmethod
    def may_be_deadly(asked):
        """It counts as a death, also one that was abandoned while others waited behind it."""
        is_abandoned = asked.cancelled or asked.said is None
        return asked.kind == "die" or (asked.kind in KILLERS and is_abandoned)

    def overran_unseen(self, a):
        """A worker was sent a call and had not begun it by the end of its deadline and of the
        grace: it was killed before it could write that down."""
        return any(
            x is not a and x.deadline_ms and x.number not in self.run_of
            and x.said in (None, "DEADLINE_EXCEEDED") and x.sent <= a.answered
            for x in self.all if x.kind in CALLS
        )

    def may_lose(self, killing, a):
        """It was there while the process died, and not before the killer in the same queue."""
        killer = self.by_number[killing.number]
        is_behind = killer.wire is not a.wire or killer.number < a.number
        return a.sent <= killing.gone and is_behind

    def may_lack_name(self, a):
        gone = self.unloads + [x for x in self.loads if x.fate == "bad"]
        return {"NOT_FOUND"} if any(
            x.sent <= a.answered and not self.is_loaded_between(x, a) for x in gone
        ) else set()

    def is_loaded_between(self, gone, a):
        return any(x.said == "OK" and gone.answered < x.sent and x.answered < a.sent
                   for x in self.loads)

    def must_lack_name(self, a):
        """An unload was over, and no load has begun since."""
        return any(
            u.said == "OK" and u.answered < a.sent
            and all(x.answered < u.sent or x.sent > a.answered for x in self.loads)
            for u in self.unloads
        )
