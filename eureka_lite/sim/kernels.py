"""Warp kernels of a control step, in the order in which `sim.world` launches them.

They know columns and worlds, no task names. World w belongs to candidate w // N and is its world number w % N: all
random numbers are keyed by (seed, w % N, episode), so every candidate meets the same worlds.
"""

# pyright: reportInvalidTypeForm=false, reportAssignmentType=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportArgumentType=false, reportGeneralTypeIssues=false, reportIndexIssue=false, reportOptionalMemberAccess=false
from __future__ import annotations

import warp as wp

# Where a column of the row comes from; COMPUTED columns are written by compiled task functions.
COMPUTED, QPOS, QVEL, SENSOR, ACTION, LAST_ACTION, TIME, AUXILIARY = -1, 0, 1, 2, 3, 4, 5, 6

FOLD_MAX, FOLD_MIN, FOLD_SUM, FOLD_MEAN, FOLD_FIRST, FOLD_COUNT_RISING, FOLD_TIME_SINCE, FOLD_HELD_FOR = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
)

OVER_LAST, OVER_MEAN, OVER_MAX, OVER_SUM = 0, 1, 2, 3
OVER = ("last", "mean", "max", "sum")

# What was not finite.
FINE, BAD_SIGNAL, BAD_REWARD, BAD_FITNESS = 0, 1, 2, 3


@wp.func
def key(seed: int, world: int, episode: int, stream: int) -> wp.uint32:
    """A random state for one world, episode and purpose; each number is hashed in, so that no two meet."""
    state = wp.rand_init(seed, stream)
    state = wp.rand_init(int(state), world)
    return wp.rand_init(int(state), episode)


@wp.kernel
def draw(
    mask: wp.array(dtype=wp.int32),
    per_candidate: int,
    seed: wp.array(dtype=wp.int32),
    episode: wp.array(dtype=wp.int32),
    low: wp.array(dtype=float),
    high: wp.array(dtype=float),
    draws: wp.array2d(dtype=float),
):
    """Draw every randomized quantity of the masked worlds, uniformly between `low` and `high`."""
    w, d = wp.tid()
    if mask[w] == 1:
        state = key(seed[w / per_candidate], w % per_candidate, episode[w], d)
        draws[w, d] = low[d] + (high[d] - low[d]) * wp.randf(state)


@wp.kernel
def act(
    middle: wp.array(dtype=float),
    half: wp.array(dtype=float),
    policy: wp.array2d(dtype=float),
    action: wp.array2d(dtype=float),
    last_action: wp.array2d(dtype=float),
    ctrl: wp.array2d(dtype=float),
):
    """Clip the policy's output to [-1, 1] and scale it to the actuators' control range."""
    w, a = wp.tid()
    last_action[w, a] = action[w, a]
    action[w, a] = wp.clamp(policy[w, a], -1.0, 1.0)
    if not wp.isfinite(policy[w, a]):
        action[w, a] = policy[w, a]
    ctrl[w, a] = middle[a] + half[a] * action[w, a]


@wp.kernel
def push(
    per_candidate: int,
    seed: wp.array(dtype=wp.int32),
    episode: wp.array(dtype=wp.int32),
    steps: wp.array(dtype=wp.int32),
    force_low: wp.array(dtype=float),
    force_high: wp.array(dtype=float),
    duration: wp.array(dtype=wp.int32),
    pause_low: wp.array(dtype=float),
    pause_high: wp.array(dtype=float),
    slot: wp.array(dtype=wp.int32),
    next_push: wp.array2d(dtype=wp.int32),
    ends: wp.array2d(dtype=wp.int32),
    force: wp.array2d(dtype=wp.vec3),
    auxiliary_slot: wp.array(dtype=wp.int32),
    auxiliary: wp.array3d(dtype=float),
    wrench: wp.array3d(dtype=float),
):
    """Put the wrench of the auxiliary physics and the pushes of the moment on the bodies.

    Push p is due at control step next_push of the episode; then its force is drawn, it acts until step `ends`, and the
    next one starts after a drawn pause.
    """
    w = wp.tid()
    for b in range(wrench.shape[1]):
        for k in range(6):
            wrench[w, b, k] = 0.0
    for b in range(auxiliary_slot.shape[0]):
        if auxiliary_slot[b] >= 0:
            for k in range(6):
                wrench[w, auxiliary_slot[b], k] = wrench[w, auxiliary_slot[b], k] + auxiliary[w, b, k]
    now = steps[w]
    for p in range(slot.shape[0]):
        if now == 0:  # the first push of an episode comes after a share of a pause
            state = key(seed[w / per_candidate], w % per_candidate, episode[w], 1000 + p)
            force[w, p] = wp.vec3(0.0)
            ends[w, p] = 0
            next_push[w, p] = 1 + int(pause_high[p] * wp.randf(state))
        elif now == next_push[w, p]:
            state = key(seed[w / per_candidate], w % per_candidate, episode[w], 1000 + p)
            state = wp.rand_init(int(state), now)
            size = force_low[p] + (force_high[p] - force_low[p]) * wp.randf(state)
            force[w, p] = wp.sample_unit_sphere_surface(state) * size
            ends[w, p] = now + duration[p]
            next_push[w, p] = now + int(pause_low[p] + (pause_high[p] - pause_low[p]) * wp.randf(state))
        elif now == ends[w, p]:
            force[w, p] = wp.vec3(0.0)
        for k in range(3):
            wrench[w, slot[p], k] = wrench[w, slot[p], k] + force[w, p][k]


@wp.kernel
def fill_row(
    source: wp.array(dtype=wp.int32),
    index: wp.array(dtype=wp.int32),
    dt: float,
    qpos: wp.array2d(dtype=float),
    qvel: wp.array2d(dtype=float),
    sensordata: wp.array2d(dtype=float),
    action: wp.array2d(dtype=float),
    last_action: wp.array2d(dtype=float),
    steps: wp.array(dtype=wp.int32),
    auxiliary: wp.array2d(dtype=float),
    keep: int,
    signals: wp.array2d(dtype=float),
    prev: wp.array2d(dtype=float),
):
    """Gather the row of every world; with `keep` = 1 the next control step's: the old row becomes `prev` first."""
    w = wp.tid()
    if keep == 1:
        steps[w] = steps[w] + 1
    for c in range(signals.shape[1]):
        if keep == 1:
            prev[w, c] = signals[w, c]
        kind = source[c]
        i = index[c]
        if kind == QPOS:
            signals[w, c] = qpos[w, i]
        elif kind == QVEL:
            signals[w, c] = qvel[w, i]
        elif kind == SENSOR:
            signals[w, c] = sensordata[w, i]
        elif kind == ACTION:
            signals[w, c] = action[w, i]
        elif kind == LAST_ACTION:
            signals[w, c] = last_action[w, i]
        elif kind == TIME:
            signals[w, c] = float(steps[w]) * dt
        elif kind == AUXILIARY:
            signals[w, c] = auxiliary[w, i]


@wp.kernel
def fold(
    mask: wp.array(dtype=wp.int32),
    fresh: int,
    operation: int,
    column: int,
    dt: float,
    steps: wp.array(dtype=wp.int32),
    value: wp.array2d(dtype=float),
    memory: wp.array2d(dtype=float),
    slot: int,
    signals: wp.array2d(dtype=float),
):
    """Bring one fold column up to date with this row's `value`; with `fresh` = 1 only in the masked (reset) worlds.

    memory[w, slot] is the value of the row before (of this row after a reset).
    """
    w = wp.tid()
    if fresh == 1 and mask[w] == 0:
        return
    now = value[w, slot]
    before = memory[w, slot]
    old = signals[w, column]
    memory[w, slot] = now
    new = now
    if operation == FOLD_COUNT_RISING or operation == FOLD_TIME_SINCE or operation == FOLD_HELD_FOR:
        new = 0.0
    if fresh == 0:
        n = float(steps[w])
        if operation == FOLD_MAX and not wp.isnan(now):
            new = wp.max(old, now)
        elif operation == FOLD_MIN and not wp.isnan(now):
            new = wp.min(old, now)
        elif operation == FOLD_SUM:
            new = old + now
        elif operation == FOLD_MEAN:
            new = old + (now - old) / (n + 1.0)
        elif operation == FOLD_FIRST:
            new = old
        elif operation == FOLD_COUNT_RISING:
            new = old
            if now > 0.0 and before <= 0.0:
                new = old + 1.0
        elif operation == FOLD_TIME_SINCE:
            new = old + dt
            if now > 0.0:
                new = 0.0
        elif operation == FOLD_HELD_FOR:
            new = 0.0
            if now > 0.0:
                new = old + dt
    signals[w, column] = new


@wp.kernel
def judge(
    per_candidate: int,
    episode_steps: int,
    skip_first: int,
    over: int,
    ended_early: float,
    has_ended_early: int,
    sparse: wp.array(dtype=wp.int32),
    components: wp.array(dtype=wp.int32),
    signals: wp.array2d(dtype=float),
    outputs: wp.array2d(dtype=float),
    task_values: wp.array2d(dtype=float),
    steps: wp.array(dtype=wp.int32),
    episode: wp.array(dtype=wp.int32),
    age: wp.array(dtype=wp.int32),
    fresh: wp.array(dtype=wp.int32),
    fit_sum: wp.array(dtype=float),
    fit_max: wp.array(dtype=float),
    fit_last: wp.array(dtype=float),
    reward: wp.array(dtype=float),
    terminated: wp.array(dtype=float),
    truncated: wp.array(dtype=float),
    done: wp.array(dtype=wp.int32),
    event: wp.array2d(dtype=wp.int32),
    episode_fitness: wp.array(dtype=float),
    episode_return: wp.array(dtype=float),
    return_sum: wp.array(dtype=float),
    statistics: wp.array3d(dtype=float),
    tally: wp.array2d(dtype=float),
):
    """Reward, fitness and the end of the episode of one world, and the counts that the reflection is made of.

    outputs[w] holds the program's total and components, task_values[w] fitness and termination. statistics[w, m] sums
    component m: sum, sum of |.|, min, max, count. tally[w] sums over finished episodes: episodes, fitness, length,
    terminations, return. event[w] keeps the first non-finite number: kind, quantity, step of the training.
    """
    w = wp.tid()
    k = w / per_candidate
    now = steps[w]
    age[w] = age[w] + 1
    bad = int(FINE)
    what = int(0)
    for c in range(signals.shape[1]):
        if bad == FINE and not wp.isfinite(signals[w, c]):
            bad = BAD_SIGNAL
            what = c
    value = task_values[w, 0]
    if bad == FINE and not wp.isfinite(value):
        bad = BAD_FITNESS
    best_before = fit_max[w]
    if fresh[w] == 1:
        fit_sum[w] = 0.0
        fit_max[w] = value
        return_sum[w] = 0.0
    fit_sum[w] = fit_sum[w] + value
    fit_max[w] = wp.max(fit_max[w], value)
    fit_last[w] = value
    ends = int(0)
    if task_values[w, 1] > 0.5:
        ends = 1
    expires = int(0)
    if now >= episode_steps:
        expires = 1
    early = int(0)
    if ends == 1 and expires == 0:
        early = 1
    fitness = value
    if over == OVER_MEAN:
        fitness = (fit_sum[w] + ended_early * float(episode_steps - now)) / float(episode_steps)
    elif over == OVER_MAX:
        fitness = fit_max[w]
    elif over == OVER_SUM:
        fitness = fit_sum[w]
    if early == 1 and has_ended_early == 1 and over != OVER_MEAN:
        fitness = ended_early
    m_count = components[k]
    if sparse[k] == 1:  # the fitness itself, paid as `over` says
        pay = float(0.0)
        if over == OVER_LAST:
            if ends == 1 or expires == 1:
                pay = fitness
        elif over == OVER_MEAN:
            pay = value / float(episode_steps)
        elif over == OVER_SUM:
            pay = value
        else:
            pay = fit_max[w]
            if fresh[w] == 0:
                pay = fit_max[w] - best_before
        outputs[w, 0] = pay
        outputs[w, 1] = pay
    for m in range(m_count + 1):  # components first, then the total
        place = (m + 1) % (m_count + 1)
        if bad == FINE and not wp.isfinite(outputs[w, place]):
            bad = BAD_REWARD
            what = place
    if bad == FINE:
        total = outputs[w, 0]
        reward[w] = total
        return_sum[w] = return_sum[w] + total
        for m in range(m_count):
            part = outputs[w, 1 + m]
            statistics[w, m, 0] = statistics[w, m, 0] + part
            statistics[w, m, 1] = statistics[w, m, 1] + wp.abs(part)
            if statistics[w, m, 4] == 0.0:
                statistics[w, m, 2] = part
                statistics[w, m, 3] = part
            statistics[w, m, 2] = wp.min(statistics[w, m, 2], part)
            statistics[w, m, 3] = wp.max(statistics[w, m, 3], part)
            statistics[w, m, 4] = statistics[w, m, 4] + 1.0
    else:
        reward[w] = 0.0
        ends = 1
        fitness = wp.nan
        if event[w, 0] == FINE:
            event[w, 0] = bad
            event[w, 1] = what
            event[w, 2] = age[w]
    fresh[w] = 0
    terminated[w] = 0.0
    truncated[w] = 0.0
    done[w] = 0
    if ends == 1:
        terminated[w] = 1.0
        done[w] = 1
    elif expires == 1:
        truncated[w] = 1.0
        done[w] = 1
    if done[w] == 1:
        episode_fitness[w] = fitness
        episode_return[w] = return_sum[w]
        if bad == FINE and (skip_first == 0 or episode[w] > 0):
            tally[w, 0] = tally[w, 0] + 1.0
            tally[w, 1] = tally[w, 1] + fitness
            tally[w, 2] = tally[w, 2] + float(now)
            tally[w, 3] = tally[w, 3] + terminated[w]
            tally[w, 4] = tally[w, 4] + return_sum[w]


@wp.kernel
def begin(
    mask: wp.array(dtype=wp.int32),
    episode: wp.array(dtype=wp.int32),
    steps: wp.array(dtype=wp.int32),
    fresh: wp.array(dtype=wp.int32),
    action: wp.array2d(dtype=float),
    last_action: wp.array2d(dtype=float),
):
    """Count a new episode of the masked worlds and forget the last one's actions."""
    w = wp.tid()
    if mask[w] == 1:
        episode[w] = episode[w] + 1
        steps[w] = 0
        fresh[w] = 1
        for a in range(action.shape[1]):
            action[w, a] = 0.0
            last_action[w, a] = 0.0


@wp.kernel
def copy_rows(mask: wp.array(dtype=wp.int32), signals: wp.array2d(dtype=float), prev: wp.array2d(dtype=float)):
    """prev = row in the masked worlds."""
    w = wp.tid()
    if mask[w] == 1:
        for c in range(signals.shape[1]):
            prev[w, c] = signals[w, c]


@wp.kernel
def observe(
    mask: wp.array(dtype=wp.int32),
    masked: int,
    per_candidate: int,
    seed: wp.array(dtype=wp.int32),
    columns: wp.array(dtype=wp.int32),
    noise: wp.array(dtype=float),
    episode: wp.array(dtype=wp.int32),
    steps: wp.array(dtype=wp.int32),
    signals: wp.array2d(dtype=float),
    observation: wp.array2d(dtype=float),
):
    """The sensed observation: a noisy copy of some columns, of all worlds or of the masked ones."""
    w = wp.tid()
    if masked == 1 and mask[w] == 0:
        return
    state = key(seed[w / per_candidate], w % per_candidate, episode[w] * 4096 + steps[w], 2000)
    for o in range(observation.shape[1]):
        value = signals[w, columns[o]]
        if noise[o] > 0.0:
            value = value + noise[o] * wp.randn(state)
        observation[w, o] = value
