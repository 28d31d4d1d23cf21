-- Shared by every script. KEYS[1] is the prefix "{crawl.shard}:" of all keys of the shard: one hash tag, one slot.
-- ARGV: 1 now (ms)  2 delay (ms)  3 concurrency  4 latency factor; the script's own arguments start at 5.
local call, num, byte, match = redis.call, tonumber, string.byte, string.match
local P = KEYS[1]
local now, DELAY, LIMIT, FACTOR = num(ARGV[1]), num(ARGV[2]), num(ARGV[3]), num(ARGV[4])
local READY, NEXT, BUSY, LEASES, LEASE = P .. 'ready', P .. 'next', P .. 'busy', P .. 'leases', P .. 'lease'
local LATER, HELD, WHY, DEAD, ST = P .. 'later', P .. 'held', P .. 'why', P .. 'dead', P .. 'st'
local WAIT, PURGED, OWN = P .. 'blocked', P .. 'purged', P .. 'delay'
local SLOW, BREAKER, SPILLED = P .. 'slow', P .. 'breaker', P .. 'spilled'
local EASY = 500  -- ms; the delay from which a scope without one slows down

local function integer(n) return string.format('%.0f', n) end
local QUEUE, OVERFLOW = P .. 'q:', P .. 'o:'
local function queue(scope) return QUEUE .. scope end
local function overflow(scope) return OVERFLOW .. scope end

-- counters ------------------------------------------------------------------------------------------------------------
local delta = {}
local function count(name, n) delta[name] = (delta[name] or 0) + n end
local function stat(name) return num(call('HGET', ST, name) or 0) end

-- A small hash or sorted set is a list that every look-up walks from its start. What is asked about by the thousand is
-- made a table when it is made: an entry too long for a list converts it, and it stays converted when that goes again.
local function wide(key, add, remove, ...)
  if call('EXISTS', key) == 1 then return call(add, key, ...) end
  local long = string.rep(' ', 1025)  -- zset-max-listpack-value and hash-max-listpack-value of our own server are 1,024
  call(add, key, 0, long)
  call(add, key, ...)
  call(remove, key, add == 'HSET' and 0 or long)
end
local function hset(key, ...) wide(key, 'HSET', 'HDEL', ...) end
local function zadd(key, ...) wide(key, 'ZADD', 'ZREM', ...) end

-- scopes. A call into the server costs more than the command itself, and most scopes have little to say: what is not
-- stored is usual. busy HASH scope -> next allowed time * SLOTS + requests under way, while there are some.
-- ready ZSET scope -> when, exactly while its queue is not empty, it is below its limit and no probe is out; a score that
-- lies in the future is its next allowed time. next ZSET scope -> next allowed time, where it is neither busy nor ready.
-- Where there is something to say: delay of its own, delay it asked for by 429/503 (slow), circuit breaker, URLs in its
-- overflow (spilled).
local SLOTS = 1024  -- more than any limit; milliseconds times this stay below 2^53 until the year 2248
local scopes, touched, extras = {}, {}, nil
local SPECIAL = {OWN, SLOW, BREAKER, SPILLED}
local function any_special()
  if not extras then
    extras = {any = call('EXISTS', unpack(SPECIAL)) > 0}
    for _, key in ipairs(extras.any and SPECIAL or {}) do extras[key] = call('EXISTS', key) == 1 end
  end
  return extras.any
end
local function special(key, names)
  return any_special() and extras[key] and call('HMGET', key, unpack(names)) or {}
end
local function breaker_of(s, record)
  local failures, openings, probe = match(record or '0:0:', '^(%d+):(%d+):(.*)$')
  s.failures, s.openings, s.probe = num(failures), num(openings), probe
end
local function load_special(names)
  local own, slow = special(OWN, names), special(SLOW, names)
  local breakers, spilled = special(BREAKER, names), special(SPILLED, names)
  for i, name in ipairs(names) do
    local s = scopes[name]
    if own[i] then s.base = math.max(num(own[i]), DELAY) end
    if slow[i] then
      local ms, since = match(slow[i], '^(%d+)@(%d+)$')
      s.slow, s.slow_since, s.was_slow = num(ms), num(since), slow[i]
    end
    s.delay = math.max(s.base, s.slow)
    if breakers[i] then
      breaker_of(s, breakers[i])
      s.was_record = breakers[i]
    end
    if spilled[i] then s.spilled, s.was_spilled = num(spilled[i]), num(spilled[i]) end
  end
end
-- What most scopes have nothing to say about is not stored in their tables: they are made by the thousand.
local USUAL = {__index = {base = DELAY, delay = DELAY, slow = 0, slow_since = 0, failures = 0, openings = 0, probe = '',
                          spilled = 0, was_spilled = 0}}
local function load_idle(names)
  for i, at in ipairs(call('ZMSCORE', NEXT, unpack(names))) do
    if at then
      local s = scopes[names[i]]
      s.next, s.was_next = num(at), num(at)
    end
  end
end
local function load_open(names)
  local idle, k = {}, 0
  for i, at in ipairs(call('ZMSCORE', READY, unpack(names))) do
    local s = scopes[names[i]]
    if at then
      s.ready, s.was_ready = num(at), num(at)
      if s.busy == 0 and s.ready > now then s.next = s.ready end
    elseif s.busy == 0 then
      k = k + 1
      idle[k] = names[i]
    end
  end
  if k > 0 then load_idle(idle) end
end
local function load(names)
  local missing = names
  if next(scopes) then
    missing = {}
    for _, name in ipairs(names) do
      if not scopes[name] then missing[#missing + 1] = name end
    end
  end
  if #missing == 0 then return end
  local open, k = {}, 0
  for i, record in ipairs(call('HMGET', BUSY, unpack(missing))) do
    local at = record and num(record) or 0
    local busy = at % SLOTS
    scopes[missing[i]] = setmetatable({busy = busy, next = (at - busy) / SLOTS, was_busy = at, ready = nil,
                                       was_ready = nil, was_next = nil, filled = nil}, USUAL)  -- room for all of them
    if busy < LIMIT then
      k = k + 1
      open[k] = missing[i]
    end
  end
  if k > 0 then load_open(open) end
  if any_special() then load_special(missing) end
end
-- Which of these scopes have something to say, by their places.
local function marks_of(names)
  local marks = {}
  for _, key in ipairs(any_special() and SPECIAL or {}) do
    for i, record in ipairs(special(key, names)) do
      if record then marks[i] = true end
    end
  end
  return marks
end
-- The state of a scope; whoever asks for it may have changed whether it is ready.
local function state(name)
  local s = scopes[name]
  if not s then
    load({name})
    s = scopes[name]
  end
  touched[name] = s
  return s
end
local function not_before(s, at)
  if at > s.next and at > now then s.next = at end
end

local function save_special(name, s)
  local slow = s.slow > 0 and integer(s.slow) .. '@' .. integer(s.slow_since) or nil
  if slow ~= s.was_slow then
    if slow then hset(SLOW, name, slow) else call('HDEL', SLOW, name) end
  end
  local record = (s.failures > 0 or s.openings > 0) and s.failures .. ':' .. s.openings .. ':' .. s.probe or nil
  if record ~= s.was_record then
    if record then hset(BREAKER, name, record) else call('HDEL', BREAKER, name) end
  end
  if s.spilled ~= s.was_spilled then
    if s.spilled > 0 then hset(SPILLED, name, s.spilled) else call('HDEL', SPILLED, name) end
  end
  s.was_slow, s.was_record, s.was_spilled, extras = slow, record, s.spilled, nil
end
-- When the scope may be asked; nil while it is not to be asked at all.
local function due_of(name, s)
  if s.busy >= LIMIT or s.probe ~= '' or not (s.filled or call('EXISTS', queue(name)) == 1) then return nil end
  local since = s.ready or now
  return s.next > since and s.next or since
end
local function save()
  local busy, idle, nexts, ready, unready, rested = {}, {}, {}, {}, {}, {}
  for name, s in pairs(touched) do
    local due = due_of(name, s)
    if due ~= s.was_ready then
      if due then ready[#ready + 1] = due; ready[#ready + 1] = name else unready[#unready + 1] = name end
    end
    local at = s.next > now and s.next or 0
    local record = s.busy > 0 and at * SLOTS + s.busy or 0
    if record ~= s.was_busy then
      if record > 0 then busy[#busy + 1] = name; busy[#busy + 1] = record else idle[#idle + 1] = name end
    end
    if record > 0 or due or at == 0 then at = nil end
    if at ~= s.was_next then
      if at then nexts[#nexts + 1] = at; nexts[#nexts + 1] = name else rested[#rested + 1] = name end
    end
    s.ready, s.was_ready, s.was_busy, s.was_next, s.filled = due, due, record, at, nil
    if s.slow > 0 or s.was_slow or s.failures > 0 or s.was_record or s.spilled ~= s.was_spilled then save_special(name, s) end
  end
  touched = {}
  if #busy > 0 then hset(BUSY, unpack(busy)) end
  if #idle > 0 then call('HDEL', BUSY, unpack(idle)) end
  if #nexts > 0 then call('ZADD', NEXT, unpack(nexts)) end
  if #rested > 0 then call('ZREM', NEXT, unpack(rested)) end
  if #ready > 0 then call('ZADD', READY, unpack(ready)) end
  if #unready > 0 then call('ZREM', READY, unpack(unready)) end
  for name, n in pairs(delta) do
    if n ~= 0 then call('HINCRBY', ST, name, n) end
  end
  delta = {}
end

-- queue members: Python packs them; the scripts put "attempts.holds~" in front ----------------------------------------
local function split(member)
  if byte(member) < 58 then
    local a, h, rest = match(member, '^(%d+)%.(%d+)~(.*)$')
    return num(a), num(h), rest
  end
  return 0, 0, member
end
local function join(attempts, holds, rest)
  if attempts == 0 and holds == 0 then return rest end
  return attempts .. '.' .. holds .. '~' .. rest
end
local function because(scope, rest, reason)
  if reason == '' then return end
  local key = scope .. '\t' .. rest
  local before = call('HGET', WHY, key)
  local all = before and (before .. '\n' .. reason) or reason
  call('HSET', WHY, key, string.sub(all, -1000))
end
local function push(scope, score, member)
  if call('SISMEMBER', PURGED, scope) == 1 then
    count('queued', -1)
    count('purged', 1)
    return
  end
  call('ZADD', queue(scope), score, member)
  state(scope).filled = true
end

-- leases: wire \t scope \t score \t slot \t member. wire: o = a request may be under way, c = over, d = no try left ----
local function encode(wire, scope, score, slot, member)
  return wire .. '\t' .. scope .. '\t' .. score .. '\t' .. slot .. '\t' .. member
end
local function read_leases(tokens)
  local found, names = {}, {}
  if #tokens == 0 then return found end
  for i, payload in ipairs(call('HMGET', LEASE, unpack(tokens))) do
    if payload then
      local wire, scope, score, slot, member = match(payload, '^(%a)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$')
      found[i] = {token = tokens[i], wire = wire, scope = scope, score = score, slot = slot, member = member}
      names[#names + 1] = scope
    end
  end
  load(names)
  return found
end
local function forget(tokens)
  if #tokens == 0 then return end
  call('HDEL', LEASE, unpack(tokens))
  call('ZREM', LEASES, unpack(tokens))
end
-- The request of a lease is over. sent = '' means it was never sent: the politeness slot is given back.
local function end_request(scope, slot, sent, latency)
  local s = state(scope)
  s.busy = s.busy > 0 and s.busy - 1 or 0
  if sent ~= '' then
    if s.delay > 0 then not_before(s, math.ceil(math.max(sent + s.delay, now + FACTOR * latency))) end
  elseif s.next == num(slot) and not call('ZSCORE', WAIT, scope) then
    s.next = 0
    if s.ready then s.ready = now end
  end
end
local function hang_up(lease, sent, latency)
  if lease.wire == 'o' then end_request(lease.scope, lease.slot, sent, latency) end
end
-- Scopes whose only request is over, when (sent + delay or later) each may be asked again.
local function rest(names, times)
  local keys, ready, rested, k, l = {}, {}, {}, 0, 0
  for i = 1, #names do keys[i] = QUEUE .. names[i] end
  local all = call('EXISTS', unpack(keys)) == #keys
  for i, scope in ipairs(names) do
    local at = times[i]
    if all or call('EXISTS', keys[i]) == 1 then
      ready[k + 1], ready[k + 2], k = at > now and at or now, scope, k + 2
    elseif at > now then
      rested[l + 1], rested[l + 2], l = at, scope, l + 2
    end
  end
  call('HDEL', BUSY, unpack(names))
  if k > 0 then call('ZADD', READY, unpack(ready)) end
  if l > 0 then call('ZADD', NEXT, unpack(rested)) end
end
-- `end_request` for many. One request at a time to a scope with nothing to say is the usual case: it goes without a
-- table for the scope, in a third of the time.
local function end_requests(wires, names, slots, sents, latencies)
  local marks, idle, times, k = marks_of(names), {}, {}, 0
  local records = LIMIT == 1 and call('HMGET', BUSY, unpack(names)) or {}
  for i, scope in ipairs(names) do
    if wires[i] == 'o' then
      local sent, record = sents[i], num(records[i] or 0)
      if record % SLOTS ~= 1 or marks[i] or sent == '' then
        end_request(scope, slots[i], sent, latencies[i])
      else
        local at = (record - 1) / SLOTS
        if DELAY > 0 then at = math.max(at, math.ceil(math.max(sent + DELAY, now + FACTOR * latencies[i]))) end
        k = k + 1
        idle[k], times[k] = scope, at
      end
    end
  end
  if k > 0 then rest(idle, times) end
  return marks
end

-- The lease is over without a word on its host: another URL may probe it.
local function no_verdict(scope, token)
  load({scope})
  if scopes[scope].probe == token then state(scope).probe = '' end
end
-- The host has answered: its breaker closes, and a delay that 429 or 503 brought shrinks: every answer adds a tenth of
-- the undisturbed rate (additive increase, multiplicative decrease: Chiu and Jain 1989).
local function answered(scope)
  load({scope})
  local s = scopes[scope]
  if s.failures + s.openings + s.slow == 0 then return end
  touched[scope] = s
  s.failures, s.openings, s.probe = 0, 0, ''
  if s.slow > 0 then
    local usual = s.base > 0 and s.base or EASY
    s.slow = math.floor(1 / (1 / s.slow + 0.1 / usual))
    if s.slow <= usual then s.slow = 0 end
    s.delay = math.max(s.base, s.slow)
  end
end

-- Leases whose worker is gone: the URLs return, at the cost of an attempt.
local function reclaim(tokens)
  for _, lease in pairs(read_leases(tokens)) do
    hang_up(lease, now, 0)
    no_verdict(lease.scope, lease.token)
    local attempts, holds, rest = split(lease.member)
    because(lease.scope, rest, 'lease expired')
    count('queued', 1)
    push(lease.scope, lease.score, join(attempts + 1, holds, rest))
  end
  forget(tokens)
end

-- URLs outside their queues, with a time: long pauses (later) and holds (held) ----------------------------------------
local function park(key, at, scope, score, member)
  call('ZADD', key, at, scope .. '\t' .. score .. '\t' .. member)
end
local function unpark(key, entries)
  for _, entry in ipairs(entries) do
    local scope, score, member = match(entry, '^([^\t]*)\t([^\t]*)\t(.*)$')
    call('ZREM', key, entry)
    if key == HELD then count('queued', 1) end
    push(scope, score, member)
  end
end

-- queued, leased, held, done, dead, seen, purged, waiting, next ready (ms or 0), mode ---------------------------------
local function first(key)
  local found = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return num(found[2] or 0)
end
local function totals(patience)
  local far, waiting = '(' .. integer(now + patience), call('ZCOUNT', LATER, '(' .. integer(now + patience), '+inf')
  for _, scope in ipairs(call('ZRANGEBYSCORE', WAIT, far, '+inf', 'LIMIT', 0, 1000)) do
    waiting = waiting + call('ZCARD', queue(scope)) + num(call('HGET', SPILLED, scope) or 0)
  end
  local soonest = 0
  for _, key in ipairs({READY, LATER, LEASES}) do
    local at = first(key)
    if at > 0 and (soonest == 0 or at < soonest) then soonest = at end
  end
  return {stat('queued'), call('ZCARD', LEASES), call('ZCARD', HELD), stat('done'), call('HLEN', DEAD), stat('seen'),
          stat('purged'), waiting, soonest, call('HGET', ST, 'mode') or 'run'}
end

-- what people ask about a scope: URLs finished (done) and without a try left (failed); and how many were finished lately,
-- in seven slots of ten seconds
local RING, RING_MS = 7, 10000
local tallies = {done = {}, failed = {}}
local function tally(name, scope, n) tallies[name][scope] = (tallies[name][scope] or 0) + n end
local function save_tallies()
  for name, by_scope in pairs(tallies) do
    local names, row, k = {}, {}, 0
    for scope in pairs(by_scope) do names[#names + 1] = scope end
    if #names > 0 then
      local had = call('HMGET', P .. name, unpack(names))
      for i, scope in ipairs(names) do
        local n = num(had[i] or 0) + by_scope[scope]
        if n > 0 then k = k + 2; row[k - 1], row[k] = scope, n else call('HDEL', P .. name, scope) end
      end
      if k > 0 then hset(P .. name, unpack(row)) end
    end
  end
  tallies = {done = {}, failed = {}}
end
-- So many were finished now, so many of them done.
local function finished(n, done)
  local slot = integer(math.floor(now / RING_MS))
  local field = 'lately' .. slot % RING
  local before = call('HMGET', ST, field, 'done')
  local at, had = match(before[1] or '', '^(%d+):(%d+)$')
  call('HSET', ST, field, slot .. ':' .. integer((at == slot and num(had) or 0) + n), 'done', num(before[2] or 0) + done)
end
