"""The scenarios' assumptions A01-A21 once more, as one plain program over dictionaries.

Slow and obvious on purpose: it knows nothing of the package, looks at every request at every step,
and recounts blocks and queues from scratch. Where the assumptions leave something open it follows
the rules file: static and orca reserve the whole output (rule 7), chunked takes all blocks of a
prompt at admission (rule 35), a resumed prompt above the prefill-first limit is dropped.
"""

# ruff: noqa: D101, D102, D103, ARG002, C901 - one plain program, its names are its comments

from fractions import Fraction
from itertools import pairwise


def ceil_div(a, b):
    return -(-a // b)


class Oracle:
    def __init__(self, requests, policy, params, cost):
        self.policy, self.p, self.cost = policy, params, cost
        self.all = sorted((dict(r) for r in requests), key=lambda r: (r["arrival"], r["id"]))
        for r in self.all:
            r.update(status="to_come", tokens=[], computed=0, blocks=0, first=None, end=None)
            r.update(reason=None, preemptions=0, recomputed=0, cached=0)
            timeout = r.get("timeout")
            r["deadline"] = None if timeout is None else r["arrival"] + timeout
        self.waiting, self.running = [], []
        self.batch = 0
        self.known = {}
        self.schedule, self.steps = [], []
        self.horizon = params.get("horizon")

    # small questions
    def need(self, r):
        return r["prompt"] + len(r["tokens"]) - r["computed"]

    def is_decode(self, r):
        return len(r["tokens"]) >= 1 and self.need(r) == 1

    def blocks(self, tokens):
        return ceil_div(tokens, self.p.get("block_size", 1))

    def free(self):
        if self.p.get("num_blocks") is None:
            return float("inf")
        return self.p["num_blocks"] - sum(r["blocks"] for r in self.running)

    def fits(self, r, tokens, spare=0):
        more = self.blocks(tokens) - r["blocks"]
        return more <= 0 or more + spare <= self.free()

    def own(self, r, tokens):
        r["blocks"] = max(r["blocks"], self.blocks(tokens))

    def hit(self, r):
        if not self.p.get("prefix_cache") or r.get("prefix_group") is None:
            return 0
        size = self.p.get("block_size", 1)
        known = self.known.get(r["prefix_group"], 0)
        most = min(known, r.get("prefix_len", 0), r["prompt"] + len(r["tokens"]) - 1)
        return most // size * size

    def seat(self):
        limit = self.p.get("max_num_seqs")
        return limit is None or len(self.running) < limit

    # moves
    def admit(self, r, tokens, reserve, plan):
        hit = self.hit(r)
        self.waiting.remove(r)
        self.running.append(r)
        r["computed"] = hit
        r["cached"] += hit
        self.own(r, reserve)
        self.schedule_one(r, tokens, plan)

    def schedule_one(self, r, tokens, plan):
        if self.is_decode(r):
            plan["decode"].append(r)
        else:
            plan["prefill"].append((r, tokens))

    def preempt(self, r, plan):
        self.running.remove(r)
        r["blocks"] = 0
        r["recomputed"] += r["computed"]
        r["computed"] = 0
        r["preemptions"] += 1
        self.waiting.insert(0, r)
        plan["preempted"].append(r)

    # policies
    def form(self, now):
        plan = {"prefill": [], "decode": [], "preempted": [], "seats": None}
        getattr(self, self.policy)(plan, now)
        return plan

    def static(self, plan, now):
        if self.running:
            plan["decode"] = list(self.running)
            plan["seats"] = self.batch
        else:
            self.whole_prompts(plan)
            self.batch = len(self.running)

    def orca(self, plan, now):
        plan["decode"] = list(self.running)
        self.whole_prompts(plan)

    def whole_prompts(self, plan):
        while self.waiting and self.seat():
            r = self.waiting[0]
            reserve = r["prompt"] + r["output"] - 1
            if not self.fits(r, reserve, self.p.get("watermark_blocks", 0)):
                break
            self.admit(r, r["prompt"] - self.hit(r), reserve, plan)

    def prefill_first(self, plan, now):
        limit = self.p.get("max_num_batched_tokens")
        total = 0
        while self.waiting and self.seat():
            r = self.waiting[0]
            whole = r["prompt"] + len(r["tokens"])
            if limit is not None and whole > limit:
                self.waiting.pop(0)
                r.update(status="rejected", reason="recompute_too_long", end=now)
                continue
            tokens = whole - self.hit(r)
            if limit is not None and total + tokens > limit:
                break
            if not self.fits(r, whole, self.p.get("watermark_blocks", 0)):
                break
            self.admit(r, tokens, whole, plan)
            total += tokens
        if plan["prefill"] or plan["decode"]:
            return
        served = []
        for r in sorted(self.running, key=lambda r: (r["arrival"], r["id"])):
            if r not in self.running:
                continue
            while r in self.running and not self.fits(r, r["computed"] + 1):
                later = [x for x in self.running if x not in served]
                self.preempt(max(later, key=lambda x: (x["arrival"], x["id"])), plan)
            if r in self.running:
                self.own(r, r["computed"] + 1)
                plan["decode"].append(r)
                served.append(r)

    def chunked(self, plan, now):
        budget = self.p["token_budget"]
        seen = []
        for r in list(self.running):
            if r not in self.running or budget == 0:
                continue
            seen.append(r)
            if not self.is_decode(r):
                continue
            while r in self.running and not self.fits(r, r["computed"] + 1):
                later = [x for x in self.running if x not in seen]
                self.preempt(later[-1] if later else r, plan)
            if r in self.running:
                self.own(r, r["computed"] + 1)
                plan["decode"].append(r)
                budget -= 1
        for r in self.running:
            if not self.is_decode(r) and budget > 0:
                tokens = min(self.need(r), budget)
                plan["prefill"].append((r, tokens))
                budget -= tokens
        while self.waiting and self.seat() and budget > 0:
            r = self.waiting[0]
            whole = r["prompt"] + len(r["tokens"])
            if not self.fits(r, whole, self.p.get("watermark_blocks", 0)):
                break
            tokens = min(whole - self.hit(r), budget)
            self.admit(r, tokens, whole, plan)
            budget -= tokens

    def v1(self, plan, now):
        budget = self.p["token_budget"]
        cap = self.p.get("long_prefill_token_threshold", 0) or 10**9
        for r in list(self.running):
            tokens = min(self.need(r), cap, budget)
            if r not in self.running or tokens == 0:
                continue
            while r in self.running and not self.fits(r, r["computed"] + tokens):
                self.preempt(self.running[-1], plan)
            if r not in self.running:
                break
            self.own(r, r["computed"] + tokens)
            self.schedule_one(r, tokens, plan)
            budget -= tokens
        while not plan["preempted"] and self.waiting and self.seat() and budget > 0:
            r = self.waiting[0]
            hit = self.hit(r)
            tokens = min(r["prompt"] + len(r["tokens"]) - hit, cap, budget)
            if not self.fits(r, hit + tokens, self.p.get("watermark_blocks", 0)):
                break
            self.admit(r, tokens, hit + tokens, plan)
            budget -= tokens

    # time, one instant after the other
    def run(self):
        instants = {r["arrival"] for r in self.all}
        instants |= {r["deadline"] for r in self.all if r["deadline"] is not None}
        plan = start = end = None
        while instants:
            now = min(instants)
            instants.discard(now)
            if self.horizon is not None and now > self.horizon:
                break
            if plan is not None and end == now:
                self.effect(plan, start, end)
                plan = None
            if plan is None:
                self.abort(now)
            self.join(now)
            for r in list(self.waiting):
                if r["deadline"] is not None and r["deadline"] <= now:
                    self.waiting.remove(r)
                    r.update(status="timeout", end=r["deadline"])
            if plan is None:
                formed = self.form(now)
                if formed["prefill"] or formed["decode"]:
                    plan, start, end = formed, now, now + self.length(formed)
                    instants.add(end)
                    for r in [x for x, _ in plan["prefill"]] + plan["decode"]:
                        r["first"] = now if r["first"] is None else r["first"]
            self.note(now)
        self.finish(plan, start, end)

    def length(self, plan):
        seats = len(plan["decode"]) if plan["seats"] is None else plan["seats"]
        tokens = sum(tokens for _, tokens in plan["prefill"])
        context = sum(r["computed"] + 1 for r in plan["decode"])
        cost = self.cost
        return cost["a"] + cost["b"] * tokens + cost["c"] * seats + cost.get("d", 0) * context

    def effect(self, plan, start, end):
        for r, tokens in plan["prefill"]:
            r["computed"] += tokens
        for r in plan["decode"]:
            r["computed"] += 1
        emitted = []
        for r in self.running:
            in_plan = r in plan["decode"] or r in [x for x, _ in plan["prefill"]]
            if in_plan and self.need(r) == 0 and (r["deadline"] is None or end <= r["deadline"]):
                emitted.append(r)
        for r in emitted:
            r["tokens"].append(end)
        for r, _ in plan["prefill"]:
            group = r.get("prefix_group")
            if group is not None:
                ready = min(r["computed"], r.get("prefix_len", 0))
                self.known[group] = max(self.known.get(group, 0), ready)
        self.keep(plan, start, end, emitted, truncated=False)
        for r in list(self.running):
            if len(r["tokens"]) == r["output"]:
                self.running.remove(r)
                r.update(status="finished", end=r["tokens"][-1], blocks=0)

    def abort(self, now):
        for r in list(self.running):
            if r["deadline"] is not None and r["deadline"] <= now:
                self.running.remove(r)
                r.update(status="timeout", end=r["deadline"], blocks=0)

    def join(self, now):
        for r in self.all:
            if r["status"] == "to_come" and r["arrival"] <= now:
                reason = self.reject_reason(r)
                if reason is None:
                    r["status"] = "here"
                    self.waiting.append(r)
                else:
                    r.update(status="rejected", reason=reason, end=r["arrival"])

    def reject_reason(self, r):
        blocks = self.p.get("num_blocks")
        usable = None if blocks is None else blocks - self.p.get("watermark_blocks", 0)
        if usable is not None and self.blocks(r["prompt"] + r["output"] - 1) > usable:
            return "unservable"
        limit = self.p.get("max_num_batched_tokens")
        if self.policy == "prefill_first" and limit is not None and r["prompt"] > limit:
            return "prompt_too_long"
        if self.p.get("max_queue") is not None and len(self.waiting) >= self.p["max_queue"]:
            return "queue_full"
        return None

    def note(self, now):
        if not self.steps or self.steps[-1][1] != len(self.waiting):
            self.steps.append((now, len(self.waiting)))

    def keep(self, plan, start, end, emitted, truncated):
        self.schedule.append(
            {
                "start": start,
                "end": end,
                "prefill": {r["id"]: tokens for r, tokens in plan["prefill"]},
                "decode": [r["id"] for r in plan["decode"]],
                "emitted": [r["id"] for r in emitted],
                "preempted": [r["id"] for r in plan["preempted"]],
                "truncated": truncated,
            }
        )

    def finish(self, plan, start, end):
        if plan is not None:
            self.keep(plan, start, end, [], truncated=True)
        if self.horizon is not None:
            self.abort(self.horizon)
        for r in self.all:
            if r in self.running:
                r["status"] = "unfinished_running"
            elif r in self.waiting:
                r["status"] = "unfinished_waiting"
            elif r["status"] == "to_come":
                r["status"] = "not_arrived"


def simulate(requests, policy, params, cost):
    """Requests as dictionaries; returns them with what became of them, schedule and queue."""
    oracle = Oracle(requests, policy, params, cost)
    oracle.run()
    return oracle


def disaggregated(requests, params, cost):
    """A14 and A15: one prefill worker, a link, one decode worker; no limits, no deadlines."""
    shows = params.get("first_token", "prefill") == "prefill"
    todo = sorted((dict(r) for r in requests), key=lambda r: (r["arrival"], r["id"]))
    for r in todo:
        r.update(tokens=[], transfer=None)
    waiting, now, prefilled = list(todo), 0, []
    while waiting:
        now = max(now, waiting[0]["arrival"])
        here = [r for r in waiting if r["arrival"] <= now]
        batch = here[: params.get("max_prefill_batch") or len(here)]
        end = now + cost["a"] + cost["b"] * sum(r["prompt"] for r in batch)
        for r in batch:
            r["first"] = now
            waiting.remove(r)
            if shows:
                r["tokens"].append(end)
            if len(r["tokens"]) < r["output"]:
                prefilled.append((end, r))
        now = end
    link_free, ready = 0, []
    for end, r in prefilled:
        start = max(end, link_free) if params.get("link") == "serial" else end
        link_free = start + params["x0"] + params["x1"] * r["prompt"]
        r["transfer"] = (start, link_free)
        ready.append((link_free, r["arrival"], r["id"], r))
    ready.sort(key=lambda entry: entry[:3])
    running, now = [], 0
    while ready or running:
        if not running:
            now = max(now, ready[0][0])
        while (
            ready and ready[0][0] <= now and len(running) < (params.get("max_decode_seqs") or 10**9)
        ):
            running.append(ready.pop(0)[3])
        now += cost["a"] + cost["c"] * len(running)
        for r in running:
            r["tokens"].append(now)
        running = [r for r in running if len(r["tokens"]) < r["output"]]
    return todo


def little(requests):
    """(mean in system × window, Σ time in system): equal when all ended inside the window."""
    events = sorted({t for r in requests for t in (r["arrival"], r["end"])})
    area = Fraction(0)
    for before, after in pairwise(events):
        inside = sum(1 for r in requests if r["arrival"] <= before and r["end"] >= after)
        area += inside * (after - before)
    return area, sum(r["end"] - r["arrival"] for r in requests)
